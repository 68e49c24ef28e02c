"""Contents of planned nodes: pods, devices and their users, and cost shares."""
