"""Rollouts of DaemonSets that need a second pod on each node, although a node can hold only one."""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.allocation import Placement, Refusal
from dra_planner.errors import Diagnostic
from dra_planner.model import Shape
from dra_planner.plan.judgement.judgement import Judgement
from dra_planner.wording import named


def find_stalled_daemons(judgement: Judgement) -> Iterator[Diagnostic]:
    """Yield an error for each DaemonSet whose rollout creates the new pod of a node before it
    deletes the old one, if an empty node of a used pool doesn't hold both.

    Source: kubernetes/kubernetes:pkg/controller/daemon/update.go@v1.36.3 (rollingUpdate).
    """
    for shape in judgement.demand.shapes:
        surging = [
            member
            for member in shape.members
            if shape.per_node and member.rollout is not None and member.rollout.surge
        ]
        pools = _pools_for_one(judgement, shape) if surging else []
        for member in surging if pools else ():
            yield Diagnostic(
                severity="error",
                code="daemon-rollout-stalls",
                message=f"a rollout of {member.workload} never completes, because maxSurge starts "
                f"a second pod on each node, but nodes in {named('pool', pools)} have capacity "
                "for only one",
                place=member.place,
                fix="set maxSurge to 0 and maxUnavailable to 1 in the DaemonSet's updateStrategy",
                subject=str(member.workload),
            )


def _pools_for_one(judgement: Judgement, shape: Shape) -> list[str]:
    """Return the pools with nodes that hold one pod of a shape, but not two."""
    used = {pool.name for pool in judgement.sizing.pools if pool.plan}
    return [
        each.offer.name
        for each in judgement.answers(shape)
        if each.offer.name in used
        and isinstance(each.answer, Placement)
        and isinstance(each.doubtful_place(shape, each.answer.node), Refusal)
    ]
