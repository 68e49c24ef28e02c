"""Google Kubernetes Engine with Standard node pools."""

from dra_planner.clouds.gke.cloud import CLOUD

__all__ = ["CLOUD"]
