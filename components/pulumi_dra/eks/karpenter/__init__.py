"""Karpenter on EKS: its controller, its permissions, and its pools."""
