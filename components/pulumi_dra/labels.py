"""Labels and taint of the nodes that DRA hands out GPUs on, and who is kept off them."""

from collections.abc import Iterable, Mapping
from typing import Any

GPU_PRESENT = "nvidia.com/gpu.present"
DRA = "nvidia.com/gpu.dra"
POOL = "pulumi-dra/pool"
GPU_TAINT_KEY = "nvidia.com/gpu"
GPU_TAINT_VALUE = "present"

GKE_NO_DEVICE_PLUGIN = "gke-no-default-nvidia-gpu-device-plugin"
GKE_DRA_DRIVER = "cloud.google.com/gke-nvidia-gpu-dra-driver"
"""Tells GKE's autoscaler that claims can wake the pool from zero."""

GKE_NETWORK_DRIVER = "cloud.google.com/gke-networking-dra-driver"
"""Has GKE's own DRANET publish the network interfaces of a node."""

_OURS = frozenset({GPU_PRESENT, DRA, POOL, GKE_NO_DEVICE_PLUGIN, GKE_DRA_DRIVER, GKE_NETWORK_DRIVER})

GPU_TOLERATION: dict[str, str] = {"key": GPU_TAINT_KEY, "operator": "Exists", "effect": "NoSchedule"}

_LABEL_NAME = r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
LABEL_KEY = rf"([a-z0-9]([-a-z0-9.]{{0,251}}[a-z0-9])?/)?{_LABEL_NAME}"
LABEL_VALUE = rf"({_LABEL_NAME})?"


def eks_pool_labels(pool: str) -> dict[str, str]:
    """Return the labels of every node of an EKS pool for DRA."""
    return {GPU_PRESENT: "true", DRA: "true", POOL: pool}


def gke_pool_labels(pool: str) -> dict[str, str]:
    """Return the labels of every node of a GKE pool for DRA."""
    return {**eks_pool_labels(pool), GKE_NO_DEVICE_PLUGIN: "true", GKE_DRA_DRIVER: "true"}


def reserved_labels(labels: Iterable[str]) -> list[str]:
    """Return those of `labels` that belong to this package and cannot be set by a user."""
    return sorted(_OURS.intersection(labels))


def dra_node_terms() -> list[dict[str, Any]]:
    """Return the node-selector terms of what must run on DRA nodes alone."""
    return [{"matchExpressions": [{"key": DRA, "operator": "In", "values": ["true"]}]}]


def without_dra_nodes(terms: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return these node-selector terms with DRA nodes excluded in each.

    Terms are ORed: one that lacks the exclusion would let its pods back onto DRA nodes. No term at all means
    every node, so it becomes one term with nothing but the exclusion.
    """
    exclusion = {"key": DRA, "operator": "NotIn", "values": ["true"]}
    return [
        {**term, "matchExpressions": [*(term.get("matchExpressions") or []), exclusion]} for term in list(terms) or [{}]
    ]
