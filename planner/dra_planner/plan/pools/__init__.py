"""The pools that a plan creates: node counts that are built, quotas, racks, and purchases."""
