"""Explanations of one claim, one pod, or one pool."""
