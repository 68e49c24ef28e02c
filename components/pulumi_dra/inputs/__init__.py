"""Inputs that several components share, and the reader that checks them."""
