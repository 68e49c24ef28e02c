"""Reasons why a pod isn't placed on a node, and edits that would place it."""
