"""The result of simulating a demand on given nodes in one pod arrival order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.allocation import NodeState, Undecided, reasons_of
from dra_planner.model import Node, ObjectKey, Reason, WorkloadRef
from dra_planner.records import equality
from dra_planner.simulation.arrival_orders import ArrivalOrder
from dra_planner.simulation.cluster.cluster import Cluster
from dra_planner.simulation.cluster.pod_kinds import PodKind
from dra_planner.simulation.scheduler.scheduling import SchedulingFailure


@equality(unhashed=("nodes", "groups", "old", "old_groups"))
class WorkloadOutcome(Struct, frozen=True):
    """Pods of one workload: `nodes` contains the number of pods by node name, and `groups` by pool.

    `pending` pods exist without a node. `not_created` pods were never created, because an earlier
    one is pending. `lost` pods were preempted and aren't re-created. `old` contains the number of
    pods that still have the template before a rollout, by node name, and `old_groups` by pool.
    `old_pending` is the number of pending pods with that template.
    """

    workload: WorkloadRef
    nodes: Mapping[str, int]
    groups: Mapping[str, int]
    pending: int
    not_created: int
    lost: int = 0
    failures: tuple[SchedulingFailure, ...] = ()
    old: Mapping[str, int] = {}
    old_groups: Mapping[str, int] = {}
    old_pending: int = 0

    @property
    def placed(self) -> int:
        return sum(self.nodes.values())


@equality(unhashed=("workloads", "placed", "pending", "pending_kinds"))
class SimulationOutcome(Struct, frozen=True, kw_only=True):
    """The cluster at the end, and the result of every workload.

    If `complete` is False, the steps ran out, and some pods weren't tried.
    """

    order: ArrivalOrder
    complete: bool
    workloads: Mapping[WorkloadRef, WorkloadOutcome]
    placed: Mapping[ObjectKey, int]  # placed pods, each with the number of its node
    pending: Mapping[ObjectKey, SchedulingFailure]
    pending_kinds: Mapping[PodKind, int]
    preempted: tuple[ObjectKey, ...]
    steps: int
    cluster: Cluster

    @property
    def places_everything(self) -> bool:
        """True if every pod was created and has a node."""
        workloads = self.workloads.values()
        return self.complete and not any(
            each.pending or each.not_created or each.lost for each in workloads
        )

    @property
    def nodes(self) -> tuple[Node, ...]:
        return self.cluster.start.nodes

    @property
    def states(self) -> tuple[NodeState, ...]:
        """The states of the nodes at the end."""
        return tuple(stage.state for stage in self.cluster.stage_of)


def failure_reasons(failure: SchedulingFailure, names: tuple[str, ...]) -> Iterator[Reason]:
    """Yield the error that ended an attempt, or each different reason with its first node,
    undecided reasons first.

    `names` are the names of the nodes.
    """
    if failure.error is not None:
        yield from reasons_of(failure.error)
        return
    seen: set[tuple[str, str]] = set()
    for each in sorted(
        failure.rejections, key=lambda each: (not isinstance(each.verdict, Undecided), each.node)
    ):
        for reason in reasons_of(each.verdict):
            if (reason.code, reason.message) not in seen:
                seen.add((reason.code, reason.message))
                yield replace(reason, pool=names[each.node])
