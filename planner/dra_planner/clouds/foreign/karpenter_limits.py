"""The number of nodes that the limits of a Karpenter NodePool allow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from dra_planner.catalog import machines
from dra_planner.documents.plain_values import block, number
from dra_planner.quantity import Quantity, QuantityError
from dra_planner.wording import either

_UNITS: Final = {"nvidia.com/gpu": "gpus", "cpu": "vcpus"}
"""The unit of a fleet's quotas for each resource. Quotas don't count memory."""


def limits_in_units(spec: Mapping[str, Any]) -> dict[str, int]:
    """Return the limits for all nodes together that quotas can express, by unit."""
    limits = block(spec, "limits")
    amounts = {unit: whole_amount(limits.get(key)) for key, unit in _UNITS.items()}
    return {unit: amount for unit, amount in amounts.items() if amount is not None}


def nodes_by_limits(
    spec: Mapping[str, Any], names: Sequence[str], notes: list[str], name: str
) -> dict[str, int]:
    """Return how many nodes of each machine type the limits of GPUs, CPU, and memory allow, because
    Karpenter launches a node only if it fits within the remaining limit. The result is empty if
    there are no such limits.

    Source: kubernetes-sigs/karpenter:pkg/controllers/provisioning/scheduling/scheduler.go@22664681
    (filterByRemainingResources).
    """
    gpus, cpus, memory = (
        whole_amount(block(spec, "limits").get(key)) for key in ("nvidia.com/gpu", "cpu", "memory")
    )
    counts: dict[str, int] = {}
    for each in machines("eks"):
        parts = (
            (gpus, each.gpu_count),
            (cpus, each.vcpus),
            (memory, (each.memory_mib or 0) * 2**20),
        )
        allowed = [amount // part for amount, part in parts if amount is not None and part]
        if each.name in names and allowed:
            counts[each.name] = min(allowed)
    nodes = number(block(spec, "limits").get("nodes"))
    if names and not counts and nodes is None:
        notes.append(f"NodePool {name} doesn't limit nodes, GPUs, CPU, or memory")
    too_large = [machine for machine, count in counts.items() if not count]
    if len(too_large) < len(counts) and too_large:
        notes.append(f"NodePool {name}: its limits are too low for a {either(too_large)} node")
    if nodes is not None:
        counts = {machine: min(count, nodes) for machine, count in counts.items()}
    if len(counts) > 1 and memory is not None:
        notes.append(
            f"NodePool {name}: its memory limit applies to all machine types together, but the "
            "fleet limits each machine type separately"
        )
    return counts


def whole_amount(value: object) -> int | None:
    """Return a limit rounded down to an integer, or None if it isn't a quantity."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return Quantity.parse(str(value)).milli_value // 1000
    except QuantityError:
        return None
