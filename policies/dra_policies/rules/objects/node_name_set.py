"""Pods whose manifests name a node that the plan doesn't contain."""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.claims.resolution import NODE_NAME_SET
from dra_planner.plan.blockers.unread_objects import find_pods_on_unknown_nodes
from dra_policies.rules.blockers import cluster_check
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.stack_view import StackView

_check_pods = cluster_check(NODE_NAME_SET, find_pods_on_unknown_nodes)


def check(view: StackView) -> Iterator[Finding]:
    yield from _check_pods(view)
    for blocked in view.judgement.demand.blocked if view.judgement is not None else ():
        if blocked.verdict == "cannot-tell" and blocked.reason.code == NODE_NAME_SET:
            yield Finding(
                message=f"{blocked.member.workload}: {blocked.reason.message}",
                fix=blocked.reason.fix,
                urn=view.judged_urn,
                place=blocked.member.place,
                about=str(blocked.member.workload),
                certain=False,
            )


RULE = Rule(
    id=NODE_NAME_SET,
    description="A pod's manifest names a node that isn't in the plan.",
    why="A pod with spec.nodeName bypasses the scheduler, so the plan can't determine whether the "
    "pod runs.",
    fix="Remove spec.nodeName, so that the scheduler chooses a node.",
    level="advisory",
    needs="pools",
    url="https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/#nodename",
    check=check,
)
