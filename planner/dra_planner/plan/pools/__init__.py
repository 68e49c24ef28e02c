"""The pools of a plan: node counts, quotas, racks, and purchases."""
