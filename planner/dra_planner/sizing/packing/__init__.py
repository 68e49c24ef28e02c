"""Packings: several strategies place pods on empty nodes, based on the allocator's answers."""
