"""Packings: pods placed on empty nodes with several strategies and the allocator's answers."""
