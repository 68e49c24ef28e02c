"""Azure Kubernetes Service with agent pools of scale sets."""

from dra_planner.clouds.aks.cloud import CLOUD

__all__ = ["CLOUD"]
