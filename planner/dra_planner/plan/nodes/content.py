"""What is on one node: pods by workload, and who uses which device."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from dra_planner.allocation import NodeState
from dra_planner.allocation.search.holdings import Pick
from dra_planner.model import WorkloadRef


@dataclass(frozen=True, slots=True)
class NodeContent:
    """What is on one node: its state, pods by workload, and who uses which candidate."""

    state: NodeState
    pods: Counter[WorkloadRef] = field(default_factory=Counter)
    holders: dict[int, list[tuple[WorkloadRef, str]]] = field(default_factory=dict)
    claims: Counter[tuple[WorkloadRef, str]] = field(default_factory=Counter)

    def add(self, ref: WorkloadRef, pods: int = 1) -> None:
        self.pods[ref] += pods

    def hold(self, picks: Iterable[Pick], ref: WorkloadRef, claim: str) -> None:
        self.claims[ref, claim] += 1
        for pick in picks:
            if not pick.admin:
                self.holders.setdefault(pick.index, []).append((ref, claim))

    @property
    def key(self) -> tuple[object, ...]:
        held = tuple((index, tuple(sorted(refs))) for index, refs in sorted(self.holders.items()))
        return (tuple(sorted(self.pods.items())), held, self.state.taken, self.state.shares)
