"""The cluster autoscaler on EKS."""
