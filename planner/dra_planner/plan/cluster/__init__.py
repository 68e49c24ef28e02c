"""Plans on a running cluster's snapshot: existing nodes, required growth, and pods that block
drains.
"""
