"""Headroom: additional pods like a workload's, planned as a separate workload."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from dra_planner.errors import Diagnostic
from dra_planner.fleet import Fleet, Headroom
from dra_planner.model import Demand, Figures, Member, Shape, WorkloadRef

KIND: Final = "Headroom"
"""Kind of such a workload in results. For example, the Deployment web gets Headroom
default/web-headroom.
"""


def with_headroom(demand: Demand, fleet: Fleet) -> tuple[Demand, tuple[Diagnostic, ...]]:
    """Add pods for headroom to the demand, and yield warnings for headroom without effect."""
    return _add(demand, fleet), tuple(_idle(demand, fleet))


def _add(demand: Demand, fleet: Fleet) -> Demand:
    kept = {_ref(each): each.pods for each in fleet.headroom}
    shapes = tuple(
        replace(shape, members=(*shape.members, *_more(shape, kept))) for shape in demand.shapes
    )
    blocked = tuple(
        replace(each, member=_room(each.member, kept[each.member.workload]))
        for each in demand.blocked
        if each.member.workload in kept
    )
    return replace(demand, shapes=shapes, blocked=(*demand.blocked, *blocked))


def _idle(demand: Demand, fleet: Fleet) -> Iterator[Diagnostic]:
    """Yield a warning for each headroom whose workload doesn't exist or runs on every node."""
    known = {member.workload: shape.per_node for shape in demand.shapes for member in shape.members}
    known.update((each.member.workload, False) for each in demand.blocked)
    for each in fleet.headroom:
        ref = _ref(each)
        if known.get(ref) is False:
            continue
        reason = "runs one pod on every node" if ref in known else "isn't in the manifests"
        near = sorted(str(other) for other in known if other.name == ref.name)
        yield Diagnostic(
            severity="warning",
            code="headroom-not-kept",
            message=f"the plan doesn't keep capacity free for {ref}, because this workload {reason}",
            fix=f"use {near[0]} instead"
            if near and ref not in known
            else "remove this workload from the fleet's headroom",
        )


def _more(shape: Shape, kept: dict[WorkloadRef, int]) -> Sequence[Member]:
    if shape.per_node:
        return ()
    return [
        _room(member, kept[member.workload]) for member in shape.members if member.workload in kept
    ]


def _room(member: Member, pods: int) -> Member:
    ref = WorkloadRef(KIND, member.workload.namespace, f"{member.workload.name}-headroom")
    return Member(
        workload=ref,
        pod_set=member.pod_set,
        figures=Figures.fixed(pods),
        spreads=member.spreads,
        place=member.place,
    )


def _ref(each: Headroom) -> WorkloadRef:
    return WorkloadRef(each.kind, each.namespace, each.name)
