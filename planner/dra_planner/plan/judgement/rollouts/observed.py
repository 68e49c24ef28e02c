"""Rollouts on the nodes of a snapshot: whether a node has room for a first pod, after all pods are
placed.

The old pods run on these nodes and hold their devices, so each pod is counted once. The pools of a
fleet can add nodes within their maximums.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from dra_planner.allocation import NodeState, Placement, Refusal, reasons_of
from dra_planner.model import Reason, Shape, nodes_left
from dra_planner.offers import Offer
from dra_planner.plan.judgement.judgement import Judgement
from dra_planner.plan.judgement.rollouts.updates import Update, find_updates
from dra_planner.plan.judgement.simulated_fixes import raise_sentence
from dra_planner.simulation import SimulationOutcome
from dra_planner.sizing import DoubtfulPlace

NO_ROOM: Final = "no-node-has-room"
"""The code of the reason that no node of a snapshot accepts the first pods of a rollout."""
_NEVER: Final = "Never"


def room_on_nodes(update: Update, judgement: Judgement) -> Reason | str | None:
    """Return None if nodes accept the first pods of an update, the reason why they don't, or the
    reason why this is unknown, as a clause.

    The first pods are placed one after another. If a later one doesn't fit, other nodes for the
    earlier ones might help. Pods with a higher priority can preempt other pods.
    """
    if any(claim.shared is not None for shape, _, _ in update.pods for claim in shape.claims):
        return "its pods share a claim"
    outcomes = [each for each in judgement.outcomes if each.complete]
    answers = [_Nodes(judgement, outcome).place_all(update) for outcome in outcomes]
    if not answers or all(each is None for each in answers):
        return None if answers else "the simulation reached its limit of steps"
    if any(preempts(shape, outcome) for shape, _, _ in update.pods for outcome in outcomes):
        return "its new pods can preempt pods with a lower priority"
    if any(each is None for each in answers):
        return "this depends on the nodes that the scheduler chooses for the pods"
    reason = next((each for each in answers if isinstance(each, str)), answers[0])
    raises = "" if isinstance(reason, str) else raise_sentence(_raises(update, judgement))
    return replace(reason, fix=raises) if raises and isinstance(reason, Reason) else reason


def observed_rollout_maximums(judgement: Judgement) -> dict[str, int]:
    """Return the higher maximums that the first pods of rollouts need, by pool."""
    needed: dict[str, int] = {}
    for update in find_updates(judgement):
        for pool, nodes in _raises(update, judgement).items():
            needed[pool] = max(nodes, needed.get(pool, 0))
    return needed


def _raises(update: Update, judgement: Judgement) -> dict[str, int]:
    """Return the higher maximums with which pools add enough nodes for the first pods of an update
    on every simulated result, or an empty dictionary if none do.
    """
    needed: dict[str, int] = {}
    for outcome in judgement.outcomes:
        nodes = _Nodes(judgement, outcome, with_raises=True)
        if not outcome.complete or nodes.place_all(update) is not None:
            return {}
        for offer in judgement.predicted:
            count = nodes.counts[offer.name]
            if count > max(offer.count_max, needed.get(offer.name, 0)):
                needed[offer.name] = offer.buildable(count)
    return needed


class _Nodes:
    """The nodes of a snapshot after all pods are placed, to which pools add nodes.

    `counts` are the nodes of each pool. With `with_raises`, maximums don't limit pools that can
    grow.
    """

    def __init__(
        self, judgement: Judgement, outcome: SimulationOutcome, *, with_raises: bool = False
    ) -> None:
        self._judgement, self._with_raises = judgement, with_raises
        self._place = DoubtfulPlace()
        self._nodes = list(zip((each.name for each in outcome.nodes), outcome.states, strict=True))
        self.counts = Counter(judgement.groups.values())

    def place_all(self, update: Update) -> Reason | str | None:
        """Return None if the first pods of an update are placed, or the reason why they aren't."""
        placed = 0
        for shape, _, pods in update.pods:
            for _ in range(pods):
                refusals = self._place_one(shape)
                if isinstance(refusals, str):
                    return refusals
                if refusals:
                    return "only some of its new pods fit" if placed else _no_room(refusals)
                placed += 1
        return None

    def _place_one(self, shape: Shape) -> list[tuple[str, Refusal]] | str:
        """Place a pod on the first node that accepts it, or on a new node.

        Returns the answers of the nodes if none does, or the reason why this is unknown.
        """
        refusals: list[tuple[str, Refusal]] = []
        for number, (name, state) in enumerate(self._nodes):
            answer = self._place(shape, state)
            if isinstance(answer, Placement):
                self._nodes[number] = (name, answer.node)
                return []
            if not isinstance(answer, Refusal):
                return f"node {name} can't be evaluated"
            refusals.append((name, answer))
        doubtful = ""
        for offer in self._growing():
            answer = self._place(shape, self._opened(offer))
            if isinstance(answer, Placement):
                self._nodes.append((f"new node of pool {offer.name}", answer.node))
                self.counts[offer.name] += 1
                return []
            if not isinstance(answer, Refusal):
                doubtful = f'a new node of pool "{offer.name}" can\'t be evaluated'
        return doubtful or refusals

    def _growing(self) -> Iterator[Offer]:
        """Yield the pools that can add a node."""
        fleet = self._judgement.fleet
        left = {} if fleet is None else nodes_left(fleet.limits, self.counts)
        for offer in self._judgement.predicted:
            nodes = offer.buildable(self.counts[offer.name] + 1)
            is_raised = self._with_raises and offer.count_min < offer.count_max
            if (is_raised or nodes <= offer.count_max) and left.get(offer.name, 1):
                yield offer

    def _opened(self, offer: Offer) -> NodeState:
        """Return a new node of a pool, with the pods of the cluster's DaemonSets."""
        given = self._judgement
        state, _ = self._place.open(offer, given.classes, given.features, given.demand)
        for shape in given.demand.shapes:
            if shape.per_node and isinstance(answer := self._place(shape, state), Placement):
                state = answer.node
        return state


def _no_room(refusals: list[tuple[str, Refusal]]) -> Reason:
    name, nearest = min(refusals, key=lambda each: _distance(each[1]))
    reason = reasons_of(nearest)[0].message
    return Reason(
        code=NO_ROOM,
        message=f"node {name} doesn't have room for one more pod ({reason})"
        if len(refusals) == 1
        else f"none of the {len(refusals)} nodes has room for one more pod (node {name}: {reason})",
        fix="add a node",
        pool=name,
    )


def _distance(refusal: Refusal) -> tuple[int, str]:
    """Return a key that is lowest for the node that is nearest to accepting a pod: a node that only
    lacks devices or resources.
    """
    reasons = reasons_of(refusal)
    return len([each for each in reasons if not each.is_node_full]), reasons[0].message


def preempts(shape: Shape, outcome: SimulationOutcome) -> bool:
    """Return whether a pod has a higher priority than some pod on the nodes."""
    return shape.pod.preemption_policy != _NEVER and any(
        shape.pod.priority > priority for priority in _priorities(outcome)
    )


def _priorities(outcome: SimulationOutcome) -> Iterator[int]:
    return (each.pod.kind.spec.priority for each in outcome.cluster.pods.values())
