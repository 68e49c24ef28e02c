"""The contents of planned nodes: pods, devices and their users, and how the cost is shared."""
