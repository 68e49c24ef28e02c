"""Plans on a running cluster's snapshot: existing nodes, required additional nodes, and budgets
that block drains.
"""
