"""Packings: pods put on empty nodes by several strategies, with the allocator's answers."""
