"""Karpenter on EKS: its controller, its rights, and the pools that it starts."""
