"""Rollouts of DaemonSets that need a second pod on each node, although a node can hold only one.

On a snapshot's nodes, the pods of other workloads also need capacity.
"""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.allocation import Placement, Refusal
from dra_planner.errors import Diagnostic
from dra_planner.model import Member, Shape
from dra_planner.plan.judgement.judgement import Judgement
from dra_planner.plan.judgement.rollouts.observed import preempts
from dra_planner.simulation import SimulationOutcome, created_shape
from dra_planner.sizing import DoubtfulPlace
from dra_planner.wording import named, verb


def find_stalled_daemons(judgement: Judgement) -> Iterator[Diagnostic]:
    """Yield an error for each DaemonSet whose rollout creates the new pod of a node before it
    deletes the old one, if an empty node of a used pool, or a node of a snapshot, doesn't hold
    both.

    Source: kubernetes/kubernetes:pkg/controller/daemon/update.go@v1.36.3 (rollingUpdate).
    """
    if judgement.sizing.verdict != "fits":
        return
    for shape in judgement.demand.shapes:
        for member in shape.members:
            surges = member.rollout is not None and member.rollout.surge and not member.ahead
            nodes = _nodes_for_one(judgement, shape, member) if shape.per_node and surges else ""
            if nodes:
                yield Diagnostic(
                    severity="error",
                    code="daemon-rollout-stalls",
                    message=f"a rollout of {member.workload} never completes, because maxSurge "
                    f"starts a second pod on each node, but {nodes} capacity for only one",
                    place=member.place,
                    fix="set maxSurge to 0 and maxUnavailable to 1 in the DaemonSet's "
                    "updateStrategy",
                    subject=str(member.workload),
                )


def _nodes_for_one(judgement: Judgement, shape: Shape, member: Member) -> str:
    """Return the nodes that hold one pod of a DaemonSet, but not two, with their verb. "" if there
    are none.
    """
    if judgement.outcome is None:
        pools = _pools_for_one(judgement, shape)
        return f"nodes in {named('pool', pools)} have" if pools else ""
    outcomes = [each for each in judgement.outcomes if each.complete]
    full = [_full_nodes(outcome, shape, member) for outcome in outcomes]
    nodes = sorted(set.intersection(*full)) if full else []
    return f"{named('node', nodes)} {verb(len(nodes), 'have')}" if nodes else ""


def _pools_for_one(judgement: Judgement, shape: Shape) -> list[str]:
    used = {pool.name for pool in judgement.sizing.pools if pool.plan}
    return [
        each.offer.name
        for each in judgement.answers(shape)
        if each.offer.name in used
        and isinstance(each.answer, Placement)
        and isinstance(each.doubtful_place(shape, each.answer.node), Refusal)
    ]


def _full_nodes(outcome: SimulationOutcome, shape: Shape, member: Member) -> set[str]:
    """Return the nodes with a pod of a DaemonSet that certainly have no room for another one."""
    if preempts(shape, outcome):
        return set()
    place, created = DoubtfulPlace(), created_shape(shape)
    numbers = {
        placed.node
        for key, placed in outcome.cluster.pods.items()
        if key in member.running or placed.pod.kind.shape == created
    }
    return {
        outcome.nodes[number].name
        for number in numbers
        if isinstance(place(created, outcome.states[number]), Refusal)
    }
