"""Inputs that several components share, and their validation."""
