"""Plans on a running cluster's snapshot: the nodes as they are, what must grow, and what running
pods block.
"""
