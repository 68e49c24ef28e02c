"""Volumes that keep pods from running."""
