"""How many nodes a pool is created with, given who changes its count afterwards."""

from __future__ import annotations

from dra_planner.fleet.schema import Autoscaler
from dra_planner.plan.values import NodeRange

_WAKES_EMPTY_POOLS: dict[Autoscaler, bool] = {
    "none": False,
    # Neither predicts the devices of a node that does not exist yet, so an empty pool is never scaled up
    # for a claim: kubernetes/autoscaler:cluster-autoscaler/cloudprovider/aws (TemplateNodeInfo without slices),
    # aws/karpenter-provider-aws (no slice templates).
    "cluster-autoscaler": False,
    "karpenter": False,
    # GKE's own does, for pools that carry cloud.google.com/gke-nvidia-gpu-dra-driver=true, as ours do.
    "gke": True,
}


def node_range(minimum: int, plan: int, maximum: int, autoscaler: Autoscaler) -> NodeRange:
    """Return minimum, desired and maximum of a pool whose plan needs `plan` nodes.

    Only an autoscaler that can wake an empty pool is left room below what the plan needs.
    """
    least = minimum if _WAKES_EMPTY_POOLS[autoscaler] else plan
    return NodeRange(minimum=min(least, plan), desired=plan, maximum=maximum)
