"""Pods without devices that don't fit the system pool."""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.model import Reason
from dra_planner.offers import SYSTEM_POOL
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.stack_view import StackView
from dra_policies.view.waiting_pods import Waiting, waiting_on_system


def check(view: StackView) -> Iterator[Finding]:
    judgement = None if view.whole_judgement is None else view.whole_judgement()
    if judgement is None:
        return
    for case in waiting_on_system(judgement):
        reasons = case.own_reasons or _on_system(case.size.reasons)
        messages = "; ".join(dict.fromkeys(reason.message for reason in reasons))
        yield Finding(
            message=f"{_subject(case)} doesn't fit on the system pool: {messages}",
            fix="; ".join(dict.fromkeys(reason.fix for reason in reasons if reason.fix)),
            urn=view.judged_urn,
            place=case.member.place,
            certain=case.size.verdict == "does-not-fit",
        )


def _subject(case: Waiting) -> str:
    """Return the workload, with the name of its pods if other pods of the workload need devices."""
    pods = f" ({case.pod_set})" if case.pod_set and case.own_reasons else ""
    return f"{case.size.workload}{pods}"


def _on_system(reasons: tuple[Reason, ...]) -> tuple[Reason, ...]:
    """Return the reasons that concern the system pool, or all reasons if none does."""
    return tuple(reason for reason in reasons if reason.pool == SYSTEM_POOL) or reasons


RULE = Rule(
    id="pod-fits-no-system-pool",
    description="A pod without devices doesn't fit on the system pool.",
    why="The pod stays pending unless the cluster has suitable nodes outside the fleet.",
    fix="Use more or larger nodes for the system pool, or lower the pod's requests.",
    level="mandatory",
    needs="pools",
    check=check,
)
