"""GPU pools of GKE: node configuration, capacity, disks, and placement."""
