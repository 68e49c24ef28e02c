"""Rollouts on the nodes of a snapshot: whether a node has room for a first pod, after all pods are
placed.

The old pods run on these nodes and hold their devices, so each pod is counted once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dra_planner.allocation import Placement, Refusal, reasons_of
from dra_planner.model import Reason, Shape
from dra_planner.plan.judgement.judgement import Judgement
from dra_planner.plan.judgement.rollouts.updates import Update
from dra_planner.simulation import SimulationOutcome
from dra_planner.sizing import DoubtfulPlace

NO_ROOM: Final = "no-node-has-room"
"""The code of the reason that no node of a snapshot accepts the first pods of a rollout."""
_NEVER: Final = "Never"


def room_on_nodes(update: Update, judgement: Judgement) -> Reason | str | None:
    """Return None if the nodes of a snapshot accept the first pods of an update, the reason why
    they don't, or the reason why this is unknown, as a clause.

    The first pods are placed one after another. If a later one doesn't fit, other nodes for the
    earlier ones might help. Pods with a higher priority can preempt other pods.
    """
    if any(claim.shared is not None for shape, _, _ in update.pods for claim in shape.claims):
        return "its pods share a claim"
    outcomes = [each for each in judgement.outcomes if each.complete]
    answers = [_room(update, outcome) for outcome in outcomes]
    if not answers or all(each is None for each in answers):
        return None if answers else "the simulation reached its limit of steps"
    if any(preempts(shape, outcome) for shape, _, _ in update.pods for outcome in outcomes):
        return "its new pods can preempt pods with a lower priority"
    if any(each is None for each in answers):
        return "this depends on the nodes that the scheduler chooses for the pods"
    return next((each for each in answers if isinstance(each, str)), answers[0])


def _room(update: Update, outcome: SimulationOutcome) -> Reason | str | None:
    place, states = DoubtfulPlace(), list(outcome.states)
    placed = 0
    for shape, _, pods in update.pods:
        for _ in range(pods):
            refusals: list[tuple[str, Refusal]] = []
            for number, state in enumerate(states):
                answer = place(shape, state)
                if isinstance(answer, Placement):
                    states[number] = answer.node
                    break
                if not isinstance(answer, Refusal):
                    return f"node {outcome.nodes[number].name} can't be evaluated"
                refusals.append((outcome.nodes[number].name, answer))
            else:
                return _no_room(refusals) if not placed else "only some of its new pods fit"
            placed += 1
    return None


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
