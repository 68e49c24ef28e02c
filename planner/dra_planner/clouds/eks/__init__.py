"""Amazon EKS with managed node groups."""

from dra_planner.clouds.eks.cloud import CLOUD

__all__ = ["CLOUD"]
