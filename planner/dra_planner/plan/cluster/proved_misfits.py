"""Proof that pods don't fit a cluster, even if every pool grows to its maximum and running pods
could move.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from msgspec.structs import replace

from dra_planner.model import Demand, DeviceClass, SharedLimit, WorkloadRef
from dra_planner.offers import Offer
from dra_planner.releases import Features
from dra_planner.sizing import POOL_TOO_SMALL, Sizer

_PROVED: Final = frozenset({POOL_TOO_SMALL, "limit-too-small"})


def find_proved_misfits(
    demand: Demand,
    nodes: Iterable[Offer],
    pools: Iterable[Offer],
    limits: Iterable[SharedLimit],
    classes: Mapping[str, DeviceClass],
    features: Features,
) -> frozenset[WorkloadRef]:
    """Return workloads of which pods certainly stay pending, in the best case for all others.

    `nodes` are the existing nodes, which count as empty, and `pools` have their remaining maximum.
    Pods that an update replaces aren't counted, so the proof also holds after the update.
    """
    empty = (replace(each, pods=(), claims=()) for each in nodes)
    shapes = []
    for shape in demand.shapes:
        members = tuple(each for each in shape.members if not each.leaving)
        if members:
            shapes.append(replace(shape, members=members))
    sizer = Sizer.of(
        replace(demand, shapes=tuple(shapes)),
        (*empty, *pools),
        classes,
        features,
        limits=limits,
    )
    sizing = replace(sizer, with_raises=False).size("steady")
    return frozenset(
        size.workload
        for size in sizing.workloads
        if any(reason.code in _PROVED for reason in size.reasons)
    )
