"""Causes of stranded devices: the resources that pods lack on nodes with free devices that no pod
can use.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from dra_planner.allocation import Placement, place, reasons_of
from dra_planner.model import WorkloadRef
from dra_planner.plan.model import Plan
from dra_planner.plan.nodes.devices import count_kinds, describe_devices
from dra_planner.plan.nodes.groups import FilledState, node_states

MOST_SHAPES: Final = 3
"""Maximum number of pods to explain for each kind of node."""


class Stranded(Struct, frozen=True, kw_only=True):
    """Free devices of a pool that no pod of the demand can use: their number by kind, and the
    resource that a workload's pod lacks on these nodes. `workload` is None if no workload
    requests devices of the pool.
    """

    pool: str
    nodes: int
    devices: tuple[tuple[str, int], ...]
    workload: WorkloadRef | None
    lacks: str


def stranded_reasons(plan: Plan) -> tuple[Stranded, ...]:
    """Return the stranded devices and the causes, by pool in the order of the fleet.

    Equal results of several nodes are combined.
    """
    nodes: Counter[tuple[str, WorkloadRef | None, str]] = Counter()
    devices: dict[tuple[str, WorkloadRef | None, str], Counter[str]] = {}
    for each in node_states(plan):
        kinds = count_kinds(describe_devices(each.state, each.full, {}), each.nodes)
        stranded = {kind.kind: kind.stranded for kind in kinds if kind.stranded}
        for who, lacks in _lacking(each, plan) if stranded else ():
            nodes[each.pool, who, lacks] += each.nodes
            devices.setdefault((each.pool, who, lacks), Counter()).update(stranded)
    return tuple(
        Stranded(
            pool=key[0],
            nodes=nodes[key],
            devices=tuple(sorted(devices[key].items())),
            workload=key[1],
            lacks=key[2],
        )
        for key in nodes
    )


def _lacking(node: FilledState, plan: Plan) -> Iterator[tuple[WorkloadRef | None, str]]:
    count = 0
    for shape in node.takes:
        answer = place(shape, node.full)
        if isinstance(answer, Placement) or count == MOST_SHAPES:
            continue
        reasons = reasons_of(answer)
        if reasons:
            count += 1
            yield min(member.workload for member in shape.members), reasons[0].message
    if not node.takes:
        if any(rule.pool != node.pool for rule in plan.guards.rules):
            yield None, "the plan's guards keep workloads in other pools"
        else:
            yield None, "none of the workloads request devices in this pool"
