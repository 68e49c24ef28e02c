"""Pulumi providers other than a cloud's own: their resource types and property names."""
