"""Contents of one node: pods by workload, and the users of each device."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from msgspec import Struct, field

from dra_planner.allocation import NodeState
from dra_planner.allocation.search.holdings import Pick
from dra_planner.model import WorkloadRef


class NodeContent(Struct, frozen=True):
    """The state of one node, its pods by workload, and the users of each device."""

    state: NodeState
    pods: Counter[WorkloadRef] = field(default_factory=Counter)
    holders: dict[int, list[tuple[WorkloadRef, str]]] = {}
    claims: Counter[tuple[WorkloadRef, str]] = field(default_factory=Counter)

    def add(self, ref: WorkloadRef, pods: int = 1) -> None:
        """Add pods of a workload."""
        self.pods[ref] += pods

    def hold(self, picks: Iterable[Pick], ref: WorkloadRef, claim: str) -> None:
        """Add the devices that a claim of a workload holds."""
        self.claims[ref, claim] += 1
        for pick in picks:
            if not pick.admin:
                self.holders.setdefault(pick.index, []).append((ref, claim))

    @property
    def key(self) -> tuple[object, ...]:
        """A value that is equal for nodes with equal contents."""
        held = tuple((index, tuple(sorted(refs))) for index, refs in sorted(self.holders.items()))
        return (tuple(sorted(self.pods.items())), held, self.state.taken, self.state.shares)
