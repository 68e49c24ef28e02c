"""The order in which pods arrive. It's unknown in advance, so several orders are simulated."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from math import inf
from typing import Final, Literal

from msgspec import Struct

from dra_planner.model import Demand, DemandLevel, Shape, WorkloadRef
from dra_planner.simulation.cluster.cluster import SimulatedPod
from dra_planner.simulation.workloads.controllers import BARE_POD, Controller

_APART: Final = (0.2, 0.5, 1.0, 2.0)
_BETWEEN_BATCHES: Final = (0.2, 1.2)
_CLAIMS: Final = 3.0

_LAST_SEEDS: Final = range(21, 29)
# divided by the number of pods in an order, this gives the number of orders in which some workload
# comes last
_LAST_PODS: Final = 3_000
_FEWEST_LAST: Final = 4

_CHECK_SEEDS: Final = range(11, 14)
_TIE_SEEDS: Final = range(101, 141)
# divided by the number of pods in an order, this gives the number of orders with random ties
_TIE_PODS: Final = 4_000

OrderName = Literal["settled", "at-once", "reversed", "random", "shuffled", "last", "by-size"]
_TIE_ORDERS: Final[tuple[OrderName, ...]] = (
    "settled",
    "shuffled",
    "reversed",
    "at-once",
    "random",
)
_IN_TURN: Final = frozenset(("settled", "reversed", "shuffled", "last", "by-size"))


class ArrivalOrder(Struct, frozen=True):
    """A pod arrival order.

    `seed` is the seed of a random order. If it's set, it also determines how ties between nodes are
    broken. settled: each document after all pods of earlier ones have a result. reversed: the same,
    starting with the last document. at-once: all documents together, with bare pods before pods of
    controllers, or with a seed in the order of racing controllers (see `_race`). random: the same,
    with simultaneously created pods shuffled. shuffled: as settled, with the documents shuffled.
    last: as shuffled, but the workload of `arrivals` comes last. by-size: as settled, with the
    workloads in the order of `arrivals`, which sorts them by need.
    """

    name: OrderName
    seed: int | None = None
    arrivals: tuple[WorkloadRef, ...] = ()

    def __str__(self) -> str:
        name = f"{self.arrivals[0]} last" if self.name == "last" else self.name
        return name if self.seed is None else f"{name} (seed {self.seed})"

    def phases(self, documents: Sequence[Sequence[Controller]]) -> Iterator[list[Controller]]:
        """Yield the controllers that start together, phase by phase."""
        if self.name in _IN_TURN:
            arranged = list(documents)
            if self.name == "reversed":
                arranged.reverse()
            elif self.name in ("shuffled", "last"):
                random.Random(f"{self.seed}/documents").shuffle(arranged)
                if self.name == "last":
                    arranged.sort(key=lambda each: each[0].workload in self.arrivals)
            yield from map(list, arranged)
            return
        together = [controller for document in documents for controller in document]
        yield sorted(together, key=lambda each: each.workload.kind != BARE_POD)

    def shuffled(self, controllers: Sequence[Controller], turn: int) -> Sequence[Controller]:
        """Return controllers in a random order that the seed determines. Without a seed, return
        them unchanged.
        """
        if self.seed is None:
            return controllers
        return random.Random(f"{self.seed}/{turn}/turns").sample(controllers, len(controllers))

    def mix(self, made: Sequence[Sequence[SimulatedPod]], turn: int) -> list[SimulatedPod]:
        """Return the pods that controllers created at the same time, by controller, in arrival
        order.
        """
        pods = [pod for each in made for pod in each]
        if self.name == "random":
            return random.Random(f"{self.seed}/{turn}").sample(pods, len(pods))
        if self.name == "at-once" and self.seed is not None:
            return _race(made, random.Random(f"{self.seed}/{turn}"))
        return pods


def _race(made: Sequence[Sequence[SimulatedPod]], chance: random.Random) -> list[SimulatedPod]:
    """Return pods in an order in which they can arrive when all documents are applied together.

    Controllers start one after the other, at random distances. Each creates one pod, then two, then
    four at a time. Several workers create the claims of these pods, and a pod arrives with its
    claims. Source of the behavior: kubernetes/kubernetes:pkg/controller/controller_utils.go
    (SlowStartInitialBatchSize), pkg/controller/{replicaset,job}/*.go,
    pkg/controller/resourceclaim/controller.go @v1.36.3. The durations aren't documented, so the
    ranges are chosen to reproduce recorded runs.
    """
    apart, arrivals = chance.choice(_APART), list[tuple[float, int, SimulatedPod]]()
    for number, pods in enumerate(made):
        at, batch, left = number * apart + chance.uniform(0.5, 2.5), 1, list(pods)
        while left:
            arrivals += [
                (at + chance.uniform(0, _CLAIMS), len(arrivals), pod) for pod in left[:batch]
            ]
            at, batch, left = at + chance.uniform(*_BETWEEN_BATCHES), 2 * batch, left[batch:]
    return [pod for _, _, pod in sorted(arrivals, key=lambda each: each[:2])]


SETTLED = ArrivalOrder("settled")
AT_ONCE = ArrivalOrder("at-once")
REVERSED = ArrivalOrder("reversed")


def standard_orders(random_orders: int) -> tuple[ArrivalOrder, ...]:
    """Return the orders to try: the three orders without a seed, and this number of random orders,
    with the seeds 1, 2, and so on.
    """
    return (
        SETTLED,
        AT_ONCE,
        REVERSED,
        *(ArrivalOrder("random", seed) for seed in range(1, random_orders + 1)),
    )


def check_orders(seeds: Sequence[int]) -> tuple[ArrivalOrder, ...]:
    """Return every order with each of these seeds. With a seed, ties between nodes are broken at
    random, as in the scheduler.
    """
    names: tuple[OrderName, ...] = ("settled", "reversed", "at-once", "random")
    return tuple(ArrivalOrder(name, seed) for seed in seeds for name in names)


def count_checks(demand: Demand, level: DemandLevel) -> tuple[ArrivalOrder, ...]:
    """Return the orders that check counts after the standard orders found them."""
    return (
        *last_orders(demand, level),
        *check_orders(_CHECK_SEEDS),
        *_tie_orders(demand, level),
    )


def _tie_orders(demand: Demand, level: DemandLevel) -> tuple[ArrivalOrder, ...]:
    """Return more orders with random ties between nodes if pods have rules about other pods.

    Such a rule can make a pod need the zone or the node that another pod got in a tie, so a rare
    tie can leave it pending. The number of orders depends on the number of pods.
    """
    if not any(_needs_other_pods(shape) for shape in demand.shapes):
        return ()
    pods = sum(shape.figures.at(level) or 0 for shape in demand.shapes)
    orders = [ArrivalOrder(name, seed) for seed in _TIE_SEEDS for name in _TIE_ORDERS]
    return tuple(orders[: _TIE_PODS // max(1, pods)])


def _needs_other_pods(shape: Shape) -> bool:
    pod = shape.pod
    return bool(pod.pod_affinity or pod.pod_anti_affinity) or any(
        each.when_unsatisfiable == "DoNotSchedule" for each in pod.topology_spread
    )


def last_orders(demand: Demand, level: DemandLevel) -> tuple[ArrivalOrder, ...]:
    """Return orders in which the pods of one workload come last, for each kind of pod.

    Only earlier pods keep a pod pending, so for these pods, the hardest order is one in which they
    come last. The number of orders depends on the number of pods. Kinds of pods with the most
    devices come first.
    """
    figures = {shape.id: shape.figures.at(level) or 0 for shape in demand.shapes}
    shapes = [each for each in demand.shapes if figures[each.id] and not each.per_node]
    most = max(_FEWEST_LAST, _LAST_PODS // max(1, sum(figures.values())))
    shapes.sort(key=_devices, reverse=True)
    refs = dict.fromkeys(shape.members[-1].workload for shape in shapes)
    orders = [ArrivalOrder("last", seed, (ref,)) for seed in _LAST_SEEDS for ref in refs]
    return tuple(orders[:most]) if len(refs) > 1 else ()


def _devices(shape: Shape) -> float:
    requests = [
        each
        for claim in shape.claims
        for request in claim.spec.requests
        for each in request.alternatives[:1]
    ]
    return sum(inf if each.allocation_mode == "All" else each.count for each in requests)
