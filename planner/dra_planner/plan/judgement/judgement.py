"""The result of an evaluation: the sizes, and the answer of each pool to each shape of pods."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Final

from msgspec import Struct, field

from dra_planner.allocation import (
    Edit,
    NodeState,
    Placement,
    Refusal,
    Undecided,
    reasons_of,
    suggest_edits,
)
from dra_planner.fleet import Fleet
from dra_planner.model import Demand, DemandLevel, DeviceClass, Reason, Shape, Verdict
from dra_planner.offers import Offer
from dra_planner.releases import Features
from dra_planner.sizing import DeviceCount, DoubtfulPlace, Sizing
from dra_planner.sizing.reasons import on_every_node

# only observed nodes need claims, and only simulations and guards need their modules
if TYPE_CHECKING:
    from dra_planner.placement import GuardedCounts
    from dra_planner.plan.judgement.claim_devices import GivenClaim
    from dra_planner.plan.judgement.lost_nodes import Survival
    from dra_planner.plan.judgement.sized_demand import SizedDemand
    from dra_planner.simulation import Fix, SimulatedCounts, SimulationOutcome

MOST_PODS: Final = 1_000  # maximum number of pods of one shape to try on one node


class PoolAnswer(Struct, frozen=True, eq=False, dict=True):
    """The answer of one pool's empty node, or of one snapshot node, to a pod of a shape."""

    offer: Offer
    shape: Shape
    node: NodeState
    answer: Placement | Refusal | Undecided
    doubtful_place: DoubtfulPlace

    @property
    def verdict(self) -> Verdict:
        if isinstance(self.answer, Placement):
            return "fits"
        return "cannot-tell" if isinstance(self.answer, Undecided) else "does-not-fit"

    @cached_property
    def reasons(self) -> tuple[Reason, ...]:
        """The reasons why the node doesn't accept the pod, nearest miss first. Empty if it fits."""
        if isinstance(self.answer, Placement):
            return ()
        found = reasons_of(self.answer)
        return found if self.offer.origin == "observed" else tuple(map(on_every_node, found))

    @cached_property
    def edits(self) -> tuple[Edit, ...]:
        """The smallest set of edits found with which the pod fits the node. Empty if it already
        fits, or if no edits help.
        """
        return suggest_edits(self.answer) if isinstance(self.answer, Refusal) else ()

    @cached_property
    def pods_per_node(self) -> int:
        """The number of such pods that fit a node. At most `MOST_PODS` are tried."""
        answer, pods = self.answer, 0
        while isinstance(answer, Placement) and pods < MOST_PODS:
            pods += 1
            answer = self.doubtful_place(self.shape, answer.node)
        return pods


class Judgement(Struct, frozen=True, kw_only=True, eq=False):
    """A demand, its offers, and the result with every pool at its maximum.

    `sizings` has every level, but only declared demand on observed nodes. `on_system` are the IDs
    of the shapes that run on the system pool. They are evaluated on `system_offer` if the fleet
    describes it. `fleet` is the fleet of predicted offers. Only observed nodes have `claims` (the
    devices of claims), `devices` (the used devices of each node), and `outcome`, from which they
    are derived. `other_outcomes` are the results with other choices among nodes with equal scores,
    or with other pod arrival orders.
    `simulations` are the simulation results at the evaluated level, ceiling, and peak,
    if the simulation ran and the packing places every pod that fits some pool. `fixes` are changes
    with which the simulation places all pods at a lower cost, cheapest first. `tried_all_fixes` is
    false if the steps ran out before all fixes were tried. `survival` is the result for lost nodes,
    if the fleet requests it. If pools grow in addition to observed nodes, `predicted` are their
    offers, and `groups` is the pool of each node by name. `sized` are the sizes of predicted offers
    before the simulation, for further evaluations. `guarded_counts` contains the guards of a fix
    that adds guards, with their proof.
    """

    demand: Demand
    offers: tuple[Offer, ...]
    classes: Mapping[str, DeviceClass]
    features: Features
    level: DemandLevel
    sizings: Mapping[DemandLevel, Sizing]
    on_system: frozenset[str] = frozenset()
    system_offer: Offer | None = None
    assumptions: tuple[str, ...] = ()
    simulations: Mapping[DemandLevel, SimulatedCounts] = {}
    fixes: tuple[Fix, ...] = ()
    tried_all_fixes: bool = True
    survival: Survival | None = None
    predicted: tuple[Offer, ...] = ()
    groups: Mapping[str, str] = {}
    fleet: Fleet | None = None
    claims: tuple[GivenClaim, ...] = ()
    devices: Mapping[str, DeviceCount] = {}
    outcome: SimulationOutcome | None = None
    other_outcomes: tuple[SimulationOutcome, ...] = ()
    sized: SizedDemand | None = None
    guarded_counts: GuardedCounts | None = None
    _doubtful_place: DoubtfulPlace = field(default_factory=DoubtfulPlace)
    _nodes: dict[str, NodeState] = {}
    _answers: dict[str, tuple[PoolAnswer, ...]] = {}

    @property
    def sizing(self) -> Sizing:
        """The answer at the evaluated level."""
        return self.sizings[self.level]

    @property
    def outcomes(self) -> tuple[SimulationOutcome, ...]:
        """The simulated results on observed nodes."""
        return () if self.outcome is None else (self.outcome, *self.other_outcomes)

    @property
    def simulated(self) -> SimulatedCounts | None:
        """The simulation result at the evaluated level."""
        return self.simulations.get(self.level)

    def simulated_nodes(self, pool: str, level: DemandLevel) -> int | None:
        """Return the number of nodes in a pool with which the scheduler places a whole level.

        Returns None if it's unknown.
        """
        found = self.simulations.get(level)
        return found.counts[pool] if found is not None and found.counts is not None else None

    @property
    def is_observed(self) -> bool:
        """Whether the offers are nodes of a snapshot. Each node is its own pool."""
        return any(offer.origin == "observed" for offer in self.offers)

    def answers(self, shape: Shape) -> tuple[PoolAnswer, ...]:
        """Return each pool's answer to a pod of a shape, in the order of the fleet. System pods
        have one pool.
        """
        if shape.id not in self._answers:
            system = (self.system_offer,) if self.system_offer is not None else ()
            offers = system if shape.id in self.on_system else self.offers
            self._answers[shape.id] = tuple(self._answer(shape, offer) for offer in offers)
        return self._answers[shape.id]

    def _answer(self, shape: Shape, offer: Offer) -> PoolAnswer:
        if offer.name not in self._nodes:
            self._nodes[offer.name], _ = self._doubtful_place.open(
                offer, self.classes, self.features, self.demand
            )
        node = self._nodes[offer.name]
        return PoolAnswer(
            offer, shape, node, self._doubtful_place(shape, node), self._doubtful_place
        )
