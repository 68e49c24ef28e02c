"""Find the number of nodes of each pool with which all pods are placed in every simulated arrival
order.

Starting with a packing's counts, nodes are added for pending pods, cheapest first. Then unneeded
nodes are removed, and cheaper counts are searched. Counts are returned only after they were
simulated in every order.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from dra_planner.model import (
    Demand,
    DemandLevel,
    DeviceClass,
    Figures,
    SharedLimit,
    WorkloadRef,
    fill_up,
    nodes_left,
)
from dra_planner.offers import Offer
from dra_planner.records import equality
from dra_planner.releases import Features
from dra_planner.simulation.arrival_orders import ArrivalOrder
from dra_planner.simulation.cluster.nodes import PoolNodes, SimulatedNode
from dra_planner.simulation.cluster.pod_kinds import PodKind
from dra_planner.simulation.cluster.stages import NodeStage
from dra_planner.simulation.known_answers import KnownAnswers
from dra_planner.simulation.outcome import SimulationOutcome
from dra_planner.simulation.preparation import Setting
from dra_planner.simulation.scheduler.profile import DEFAULT, Profile
from dra_planner.simulation.simulator import Simulator
from dra_planner.simulation.sizing.cheaper_counts import CountSpace, find_cheaper

_MOST_PODS: Final = 1_000  # number of pods of one kind that are tried on one node
# steps per pod in one order, multiplied by several searches (a conservative round number)
_STEPS_PER_POD: Final = 40
_STEPS_PER_NODE: Final = 10  # steps to prepare a pod for the simulation
_STEPS_FOR_CHEAPER: Final = 4  # steps for each pod that was placed before


class SimulatedPool(Struct, frozen=True, kw_only=True):
    """A pool to size: its offer, its nodes in the packing, its maximum, and the cost of a node.

    `stem` is the prefix of its node names, or "" for the name of the pool.
    """

    offer: Offer
    packing: int
    maximum: int
    cost: tuple[int, ...]
    stem: str = ""


@equality(unhashed=("pending",))
class Stranding(Struct, frozen=True):
    """Pods without a node in one arrival order, by workload, including pods that were never
    created.
    """

    order: ArrivalOrder
    pending: Mapping[WorkloadRef, int]

    @property
    def pods(self) -> int:
        return sum(self.pending.values())


@equality(ignored=("spent", "outcomes", "cheapest"), unhashed=("counts", "reached"))
class SimulatedCounts(Struct, frozen=True, kw_only=True):
    """The simulation's result for a packing.

    `counts` are the nodes per pool with which all pods were placed in every order, or None if no
    such counts were found within the maximums. In that case, `reached` are the counts at which no
    pool below its maximum accepts further pending pods. `at_packing` and `at_maximum` are the
    orders that leave pods pending with these counts. `at_maximum` is computed only if no counts
    were found. `scale` is the factor by which pods and nodes were divided. `complete` is True if
    the steps were sufficient, and `spent` is the number of used steps. `outcomes` contains each
    order with `counts`, or with the maximums if they leave pods pending. It's empty if neither was
    completed. `orders` includes the checks that some counts didn't pass. `left_out` are workloads
    that are omitted because their pods don't fit any node. `cheapest` is True if all counts with a
    cost between the packing's cost and the cost of `counts` were tried, and leave pods pending in
    some order.
    """

    orders: tuple[ArrivalOrder, ...]
    counts: Mapping[str, int] | None
    at_packing: tuple[Stranding, ...]
    at_maximum: tuple[Stranding, ...] = ()
    scale: int = 1
    complete: bool = True
    spent: int = 0
    reached: Mapping[str, int] | None = None
    outcomes: tuple[SimulationOutcome, ...] = ()
    left_out: tuple[WorkloadRef, ...] = ()
    cheapest: bool = False


class CountQuestion(Struct, frozen=True, kw_only=True):
    """A query for the number of nodes of each pool that the scheduler needs, for one level of a
    demand that a packing places.

    `beside` are existing nodes that aren't sized. `limits` are the shared limits of pools. `checks`
    are additional orders: counts are returned only if they also pass these orders. As many checks
    run as half of the remaining steps allow.
    """

    demand: Demand
    pools: tuple[SimulatedPool, ...]
    classes: Mapping[str, DeviceClass]
    features: Features
    orders: tuple[ArrivalOrder, ...]
    checks: tuple[ArrivalOrder, ...] = ()
    beside: tuple[SimulatedNode, ...] = ()
    level: DemandLevel = "steady"
    profile: Profile = DEFAULT
    limits: tuple[SharedLimit, ...] = ()

    def scale(self, steps: int) -> int:
        """Return the factor by which pods and nodes are divided, so that this number of steps
        suffices.
        """
        pods = sum(
            shape.figures.at(self.level) or 0 for shape in self.demand.shapes if not shape.per_node
        )
        return max(1, -(-pods * len(self.orders) * _STEPS_PER_POD // max(1, steps)))


class Opened(Struct):
    """Nodes of the pools and their cached answers, for questions about one demand on the same
    offers.
    """

    pools: dict[str, PoolNodes] = {}
    known: KnownAnswers = field(default_factory=KnownAnswers)

    def nodes_of(self, pool: SimulatedPool) -> PoolNodes:
        """Return the possible nodes of a pool."""
        name = pool.offer.name
        if name not in self.pools:
            self.pools[name] = PoolNodes.of(pool.offer, pool.stem)
        return self.pools[name]


def simulate_counts(
    question: CountQuestion, steps: int, *, scale: int | None = None, opened: Opened | None = None
) -> SimulatedCounts:
    """Return the number of nodes of each pool that the scheduler needs.

    `steps` limits the whole search. A larger demand is simulated at a smaller scale, by default the
    scale of the question. `opened` are the nodes of an earlier question that differs only in its
    level and its counts. Pending pods at a smaller scale don't prove anything, so they are
    confirmed at full scale. Otherwise, the answer isn't complete.
    """
    scale = question.scale(steps) if scale is None else scale
    found = _Search(question, steps, scale, opened or Opened()).run()
    if scale == 1 or found.counts is not None or not found.complete:
        return found
    orders = tuple(each.order for each in found.at_maximum)
    stranding, spent = _Search(replace(question, orders=orders), steps, 1, Opened()).confirm()
    spent += found.spent
    if stranding is None:
        return replace(found, at_maximum=(), outcomes=(), complete=False, spent=spent)
    return replace(found, at_maximum=(stranding,), outcomes=(), spent=spent)


def _scaled(demand: Demand, scale: int) -> Demand:
    if scale == 1:
        return demand
    shapes = tuple(
        replace(
            shape,
            members=tuple(
                replace(member, figures=_divide(member.figures, scale)) for member in shape.members
            ),
        )
        for shape in demand.shapes
    )
    return replace(demand, shapes=shapes)


def _divide(figures: Figures, scale: int) -> Figures:
    floor, steady, ceiling, peak = (None if each is None else -(-each // scale) for each in figures)
    return Figures(floor or 0, steady or 0, ceiling, peak)


Counts = dict[str, int]


class _Search:
    def __init__(self, question: CountQuestion, steps: int, scale: int, opened: Opened) -> None:
        self.question = question
        self.pools = question.pools
        self.orders = question.orders
        self.steps = steps
        self.scale = scale
        self._demand = _scaled(question.demand, scale)
        self._nodes = {each.offer.name: opened.nodes_of(each) for each in self.pools}
        self._reached: Counts = {}
        self._known = opened.known
        # results for the last node counts that were tried
        self._failed: list[SimulationOutcome] = []
        # every order, for the counts in the result
        self._outcomes: tuple[SimulationOutcome, ...] = ()
        self._probe: Setting | None = None  # one node of each pool
        # the cached answers of its nodes, which are valid in every order
        self._last: tuple[Counts, Simulator] | None = None
        self._spent = 0
        self._limits = question.limits
        # the orders, starting with the order that failed last for other counts
        self._hardest: list[ArrivalOrder] = []
        self._refuted: set[tuple[int, ...]] = set()  # counts that leave pods pending
        self._all_tried = False

    def run(self) -> SimulatedCounts:
        least = {each.offer.name: -(-each.packing // self.scale) for each in self.pools}
        most = {
            each.offer.name: max(least[each.offer.name], each.maximum // self.scale)
            for each in self.pools
        }
        self._limits = tuple(
            replace(each, most=each.most // self.scale) for each in self.question.limits
        )
        highest = fill_up(self._limits, least, most)
        at_packing = self._strandings(least)
        if not at_packing and not self._is_exhausted:
            at_packing = self._check(least)
        counts: Counts | None = least
        at_maximum: tuple[Stranding, ...] = ()
        while counts is not None and self._failed and not self._is_exhausted:
            counts = self._grow(counts, most)
            if counts is None and not self._is_exhausted:
                at_maximum = self._strandings(highest)
                counts = None if at_maximum else highest
            if counts is not None and not self._is_exhausted:
                counts = self._find_cheaper(self._shrink(counts, least), least, most)
                self._check(counts)
        if counts is None or self._is_exhausted:
            return SimulatedCounts(
                orders=self.orders,
                counts=None,
                at_packing=at_packing,
                at_maximum=at_maximum,
                scale=self.scale,
                complete=not self._is_exhausted,
                outcomes=self._outcomes if at_maximum else (),
                spent=self._spent,
                reached=self._full(self._reached, least) if self._reached else None,
            )
        return SimulatedCounts(
            orders=self.orders,
            counts=self._full(counts, least),
            at_packing=at_packing,
            scale=self.scale,
            spent=self._spent,
            outcomes=self._outcomes,
            cheapest=self._all_tried,
        )

    def confirm(self) -> tuple[Stranding | None, int]:
        """Return the first order that leaves pods pending with the maximums (None if the steps
        don't suffice), and the number of used steps.
        """
        least = {each.offer.name: each.packing for each in self.pools}
        most = {each.offer.name: max(each.packing, each.maximum) for each in self.pools}
        strandings = self._strandings(fill_up(self._limits, least, most), all_orders=False)
        return next(iter(strandings), None), self._spent

    def _full(self, counts: Counts, least: Counts) -> Counts:
        """Return counts at full scale, with the nodes added at the small scale multiplied by the
        scale.
        """
        full: Counts = {}
        for each in self.pools:
            nodes, packed = counts[each.offer.name], least[each.offer.name]
            more = each.packing + (nodes - packed) * self.scale
            full[each.offer.name] = (
                min(more, max(each.packing, each.maximum))
                if nodes >= packed
                else min(each.packing, nodes * self.scale)
            )
        return full

    @property
    def _is_exhausted(self) -> bool:
        return self._spent > self.steps

    # -- simulating

    def _simulator(self, counts: Counts) -> Simulator:
        if self._last is not None and self._last[0] == counts:
            return self._last[1]
        nodes = [node for name, count in counts.items() for node in self._nodes[name].take(count)]
        made = Simulator.of(
            self._demand,
            [*self.question.beside, *nodes],
            self.question.classes,
            self.question.features,
            profile=self.question.profile,
            level=self.question.level,
            known=self._known,
        )
        self._last = dict(counts), made
        return made

    def _strandings(self, counts: Counts, *, all_orders: bool = True) -> tuple[Stranding, ...]:
        """Return the orders that leave pods pending, or only the first one unless all are
        requested.
        """
        simulator = self._simulator(counts)
        self._failed, run = [], list[SimulationOutcome]()
        for order in self.orders:
            if self._is_exhausted:
                break
            outcome = simulator.run(order, steps=self.steps - self._spent)
            self._spent += outcome.steps
            if not outcome.complete:
                break
            run.append(outcome)
            if not outcome.places_everything:
                self._failed.append(outcome)
                if not all_orders:
                    break
        if not self._is_exhausted and (all_orders or not self._failed):
            self._outcomes = tuple(run)
        return tuple(_stranding(outcome) for outcome in self._failed)

    def _passes(self, counts: Counts, limit: int) -> bool:
        """Return True if counts don't leave pods pending in any order. Also return False if the
        steps don't suffice.
        """
        key = tuple(counts.values())
        if key in self._refuted or self._spent > limit:
            return False
        self._spent += _STEPS_PER_NODE * sum(key)
        simulator, run = self._simulator(counts), dict[ArrivalOrder, SimulationOutcome]()
        for order in self._hardest:
            outcome = run[order] = simulator.run(order, steps=max(0, limit - self._spent))
            self._spent += outcome.steps
            if not outcome.complete:
                return False
            if not outcome.places_everything:
                self._refuted.add(key)
                self._hardest.sort(key=lambda each: each != order)
                return False
        self._outcomes = tuple(run[order] for order in self.orders)
        return True

    def _check(self, counts: Counts) -> tuple[Stranding, ...]:
        """Return the checks that counts don't pass. They become part of the orders."""
        simulator, limit = self._simulator(counts), self._spent + (self.steps - self._spent) // 2
        self._failed = []
        for order in self.question.checks:
            if self._spent > limit:
                break
            if order not in self.orders:
                outcome = simulator.run(order, steps=limit - self._spent)
                self._spent += outcome.steps
                if outcome.complete and not outcome.places_everything:
                    self._failed.append(outcome)
        self.orders = (*self.orders, *(outcome.order for outcome in self._failed))
        return tuple(_stranding(outcome) for outcome in self._failed)

    # -- searching

    def _grow(self, least: Counts, most: Counts) -> Counts | None:
        """Add nodes until no pods are pending in any order, or return None if no pool can grow."""
        counts = dict(least)
        while self._failed and not self._is_exhausted:
            worst = max(self._failed, key=lambda outcome: _stranding(outcome).pods)
            choice = self._cheapest(worst, counts, most)
            if choice is None:
                self._reached = counts
                return None
            name, nodes = choice
            counts[name] += nodes
            self._strandings(counts)
        return counts

    def _cheapest(
        self, outcome: SimulationOutcome, counts: Counts, most: Counts
    ) -> tuple[str, int] | None:
        """Return the pool that can grow and accepts pending pods at the lowest cost, and the number
        of nodes to add.
        """
        choices: list[tuple[list[float], str, int]] = []
        shared = nodes_left(self._limits, counts)
        for each in self.pools:
            name = each.offer.name
            room = min(most[name] - counts[name], shared.get(name, most[name]))
            if room <= 0:
                continue
            for kind, pods in outcome.pending_kinds.items():
                held = self._fill(name, kind)
                if held:
                    choices.append(
                        ([part / held for part in each.cost], name, min(room, -(-pods // held)))
                    )
        return min(choices)[1:] if choices else None

    def _fill(self, pool: str, kind: PodKind) -> int:
        """Return the number of pods of a kind that fit on an empty node of a pool."""
        if self._probe is None:
            self._probe = self._simulator(dict.fromkeys(self._nodes, 1)).setting
        setting, held = self._probe, 0
        names = [node.node.name for node in setting.nodes]
        (first,) = self._nodes[pool].take(1)
        after: NodeStage | None = setting.start.stages[names.index(first.node.name)]
        while after is not None and held < _MOST_PODS:
            after = setting.stages.after(after, setting.kinds[kind.number])
            held += after is not None
        return held

    def _find_cheaper(self, counts: Counts, packing: Counts, most: Counts) -> Counts:
        """Return counts that pass and cost at most as much, within a number of steps.

        They can be below the packing's counts.
        """
        limit = self._spent + min((self.steps - self._spent) // 2, _STEPS_FOR_CHEAPER * self._spent)
        self._hardest = list(self.orders)
        least = {
            each.offer.name: min(packing[each.offer.name], -(-each.offer.count_min // self.scale))
            for each in self.pools
        }
        costs = {each.offer.name: each.cost for each in self.pools}
        space = CountSpace.of(costs, least, most, packing, self._limits)
        found, tried = find_cheaper(space, counts, lambda each: self._passes(each, limit))
        self._all_tried = tried and self._spent <= limit
        return found

    def _shrink(self, counts: Counts, least: Counts) -> Counts:
        """Remove unnecessary nodes, most expensive first."""
        for each in sorted(self.pools, key=lambda each: each.cost, reverse=True):
            name = each.offer.name
            low, high = least[name], counts[name]
            while low < high and not self._is_exhausted:
                middle = (low + high) // 2
                if self._strandings({**counts, name: middle}, all_orders=False):
                    low = middle + 1
                elif not self._is_exhausted:
                    high = middle
            counts = {**counts, name: high}
        return counts


def _stranding(outcome: SimulationOutcome) -> Stranding:
    workloads = outcome.workloads.values()
    pending = {each.workload: each.pending + each.not_created + each.lost for each in workloads}
    return Stranding(outcome.order, {ref: pods for ref, pods in pending.items() if pods})
