"""Affinity and spread rules that keep pods from running."""
