"""GPU pools of EKS: managed node groups, their capacity, disks, and schedules."""
