"""Nodes in API form."""

from __future__ import annotations

from dra_planner.errors import NOWHERE, Place
from dra_planner.manifests.parsing.fields import Data, parse_amounts, parse_meta, text_of
from dra_planner.model import Node, Taint


def parse_node(data: Data, place: Place = NOWHERE) -> Node:
    """Return a Node. Without allocatable amounts, its capacity is used."""
    spec = data.get("spec") or {}
    status = data.get("status") or {}
    return Node(
        meta=parse_meta(data.get("metadata"), place, namespaced=False),
        allocatable=parse_amounts(status.get("allocatable") or status.get("capacity")),
        taints=tuple(
            Taint(
                text_of(item.get("key")),
                text_of(item.get("value")),
                item.get("effect") or "NoSchedule",
            )
            for item in spec.get("taints") or ()
        ),
        unschedulable=bool(spec.get("unschedulable")),
    )
