"""Simulate the rehearsed cluster and its workloads with the planner, in the same arrival order."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import Any, Final

from msgspec import Struct

from dra_planner.model import NO_GUARDS, Guards, WorkloadRef
from dra_planner.placement import guard_demand
from dra_planner.plan import PlanRequest, read_cluster
from dra_planner.records import equality
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

_FEWEST, _MOST = 64, 512
"""Numbers of additional runs, in which ties between nodes are broken at random, as in the
scheduler. Several ties in a row can have an outcome that only one in 200 runs has.
"""
_PODS: Final = 10_000
"""Number of pods in all additional runs, which limits the runs of large clusters."""
_TOGETHER: Final[tuple[OrderName, ...]] = ("at-once", "random", "settled")
"""Orders in which workloads that are applied together can arrive: with competing controllers, pod
by pod, or one workload after another.
"""


@equality(unhashed=("pools",))
class SimulatedWorkload(Struct, frozen=True):
    """The simulated placement of one workload: its number of pods in each pool, and whether the
    simulation could determine it. If `lags` is True, pods became ready and ended at different
    moments.
    """

    pools: Mapping[str, int] = {}
    is_decided: bool = True
    lags: bool = False

    @property
    def placed(self) -> int:
        """Number of pods with a node."""
        return sum(self.pools.values())


Simulated = Mapping[WorkloadRef, SimulatedWorkload]


class Simulation(Struct, frozen=True):
    """A simulator of one cluster.

    `pool_of` maps a node to its pool. `made_by` maps pods that the rehearsal itself created to
    their workload (see Arrival). `refs` are the workloads in arrival order, and `seeds` are the
    seeds of the additional runs.
    """

    simulator: Simulator
    refs: tuple[WorkloadRef, ...]
    made_by: Mapping[WorkloadRef, WorkloadRef]
    pool_of: Callable[[str], str]
    one_by_one: bool
    seeds: range

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
        """Return the simulation of documents that arrive in a cluster of these objects with the
        plan's guards. Raises PlannerError if the input is invalid.
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
        pods = sum(shape.figures.steady for shape in demand.shapes)
        runs = max(_FEWEST, min(_MOST, _PODS // max(1, pods)))
        return cls(simulator, tuple(refs), made_by, pool_of, one_by_one, range(1, runs + 1))

    def run(
        self, seed: int | None = None, name: OrderName | None = None, *, lags: bool = False
    ) -> Simulated:
        """Return the pools of every workload's pods.

        `seed` breaks ties between nodes at random. `name` is the name of the order, by default the
        rehearsal's order. Workloads that arrive together can be applied in any order, so with a
        seed, `settled` uses a random order. With `lags`, pods become ready and end at different
        moments.
        """
        refs = list(self.refs)
        if name == "settled" and seed is not None and not self.one_by_one:
            Random(seed).shuffle(refs)
        order = ArrivalOrder(name or (SETTLED if self.one_by_one else AT_ONCE).name, seed)
        parts: dict[WorkloadRef, list[WorkloadRef]] = {}
        for part, owner in self.made_by.items():
            parts.setdefault(owner, []).append(part)
        arrivals = [part for ref in refs for part in parts.get(ref, [ref])]
        outcome = self.simulator.run(order, arrivals=arrivals, lags=lags)
        return self._by_workload(outcome, lags=lags)

    def further(self) -> Iterator[Simulated]:
        """Yield the results of other ways to break ties, and of other moments at which pods become
        ready and end. If workloads arrive together, also yield the results of other orders.
        """
        if self.one_by_one:
            return (self.run(seed, lags=lags) for lags in (False, True) for seed in self.seeds)
        return (
            self.run(seed, name, lags=lags)
            for lags in (False, True)
            for seed in self.seeds
            for name in _TOGETHER
        )

    def runs(self) -> Iterator[Simulated]:
        """Yield the results without random choices, then the results of the additional runs."""
        yield self.run()
        yield from self.further()

    def _by_workload(self, outcome: SimulationOutcome, *, lags: bool) -> Simulated:
        pools: dict[WorkloadRef, Counter[str]] = {ref: Counter() for ref in self.refs}
        undecided: set[WorkloadRef] = set()
        for part, found in outcome.workloads.items():
            ref = self.made_by.get(part, part)
            for node, pods in (*found.nodes.items(), *found.old.items()):
                pools.setdefault(ref, Counter())[self.pool_of(node)] += pods
            if not outcome.complete or any(failure.is_undecided for failure in found.failures):
                undecided.add(ref)
        return {
            ref: SimulatedWorkload(dict(sorted(count.items())), ref not in undecided, lags)
            for ref, count in pools.items()
        }


def written(documents: Iterable[Json]) -> str:
    """Return documents as one YAML stream with one line for each document, so that their line
    numbers keep their order.
    """
    return "\n---\n".join(json.dumps(document) for document in documents)
