"""The rehearsed cluster and its workloads given to the planner's simulation: what it says of the
same arrival.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final

from dra_planner.model import NO_GUARDS, Guards, WorkloadRef
from dra_planner.placement import guard_demand
from dra_planner.plan import PlanRequest, read_cluster
from dra_planner.simulation import (
    AT_ONCE,
    SETTLED,
    ArrivalOrder,
    OrderName,
    SimulationOutcome,
    Simulator,
    observed_nodes,
)
from dra_planner.sources import Source

Json = dict[str, Any]

SEEDS: Final = tuple(range(1, 65))
"""Of the further runs, in which ties between nodes are broken by chance as the scheduler breaks
them.
"""
_TOGETHER: Final[tuple[OrderName, ...]] = ("at-once", "random", "settled")
"""How workloads that arrive together may arrive: as controllers race, pod by pod, or one after the
other.
"""


@dataclass(frozen=True, slots=True)
class SimulatedWorkload:
    """Where the simulation puts the pods of one workload: how many in which pool, and whether it
    could tell.
    """

    pools: Mapping[str, int] = field(default_factory=dict[str, int], hash=False)
    is_decided: bool = True

    @property
    def placed(self) -> int:
        """Pods that have a node."""
        return sum(self.pools.values())


Simulated = Mapping[WorkloadRef, SimulatedWorkload]


@dataclass(frozen=True, slots=True)
class Simulation:
    """A simulator of one cluster; `pool_of` names the pool of a node, `made_by` whose pods are made
    here (see Arrival).

    `refs` are the workloads in order of arrival.
    """

    simulator: Simulator
    refs: tuple[WorkloadRef, ...]
    made_by: Mapping[WorkloadRef, WorkloadRef]
    pool_of: Callable[[str], str]
    one_by_one: bool

    @classmethod
    def of(
        cls,
        cluster: Iterable[Json],
        documents: Iterable[Json],
        *,
        kubernetes: str,
        refs: Sequence[WorkloadRef],
        made_by: Mapping[WorkloadRef, WorkloadRef],
        pool_of: Callable[[str], str],
        one_by_one: bool,
        guards: Guards = NO_GUARDS,
    ) -> Simulation:
        """Return the simulation of documents that arrive in a cluster of these objects, under
        guards.

        Raises PlannerError.
        """
        found = read_cluster(
            PlanRequest(
                sources=(Source("the rehearsed workloads", written(documents)),),
                observed=(Source("the rehearsed cluster", written(cluster)),),
                kubernetes=kubernetes,
            )
        )
        nodes = observed_nodes(found.offers)
        demand, classes = guard_demand(found.demand, guards), found.manifests.classes
        simulator = Simulator.of(demand, nodes, classes, found.features, quotas=demand.quotas)
        return cls(simulator, tuple(refs), made_by, pool_of, one_by_one)

    def run(
        self, seed: int | None = None, name: OrderName | None = None, *, lags: bool = False
    ) -> Simulated:
        """Return where every workload's pods are; `seed` breaks ties between nodes by chance.

        `name` is that of the order, by default that of the rehearsal. Workloads that arrive
        together may be applied in any order: with a seed, `settled` takes one by chance. With
        `lags`, pods become ready and end some at a time.
        """
        refs = list(self.refs)
        if name == "settled" and seed is not None and not self.one_by_one:
            Random(seed).shuffle(refs)
        order = ArrivalOrder(name or (SETTLED if self.one_by_one else AT_ONCE).name, seed)
        parts: dict[WorkloadRef, list[WorkloadRef]] = {}
        for part, owner in self.made_by.items():
            parts.setdefault(owner, []).append(part)
        arrivals = [part for ref in refs for part in parts.get(ref, [ref])]
        return self._by_workload(self.simulator.run(order, arrivals=arrivals, lags=lags))

    def further(self) -> Iterator[Simulated]:
        """Yield what other ways to break ties lead to, and where workloads arrive together, other
        orders, then other moments at which their pods become ready and end.
        """
        if self.one_by_one:
            return (self.run(seed) for seed in SEEDS)
        return (
            self.run(seed, name, lags=lags)
            for lags in (False, True)
            for seed in SEEDS
            for name in _TOGETHER
        )

    def runs(self) -> Iterator[Simulated]:
        """Yield what is simulated without chance, then the further runs."""
        yield self.run()
        yield from self.further()

    def _by_workload(self, outcome: SimulationOutcome) -> Simulated:
        pools: dict[WorkloadRef, Counter[str]] = {ref: Counter() for ref in self.refs}
        undecided: set[WorkloadRef] = set()
        for part, found in outcome.workloads.items():
            ref = self.made_by.get(part, part)
            for node, pods in (*found.nodes.items(), *found.old.items()):
                pools.setdefault(ref, Counter())[self.pool_of(node)] += pods
            if not outcome.complete or any(failure.is_undecided for failure in found.failures):
                undecided.add(ref)
        return {
            ref: SimulatedWorkload(dict(sorted(count.items())), ref not in undecided)
            for ref, count in pools.items()
        }


def written(documents: Iterable[Json]) -> str:
    """Return documents as one YAML stream, a line for each, so that their places keep their
    order.
    """
    return "\n---\n".join(json.dumps(document) for document in documents)
