"""Contents of planned nodes: pods, devices and their users, and shares of the cost."""
