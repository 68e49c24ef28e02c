"""Which nodes the pods of drivers and of the device plugin run on, by the labels and the taint of DRA pools."""

from collections.abc import Iterable, Mapping
from typing import Any

from dra_planner.clouds import DRA, GPU_TAINT

GPU_TOLERATION: dict[str, str] = {"key": GPU_TAINT.key, "operator": "Exists", "effect": GPU_TAINT.effect}


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
