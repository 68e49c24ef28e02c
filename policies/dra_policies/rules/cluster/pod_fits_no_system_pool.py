"""Pods without devices that don't fit the system pool."""

from __future__ import annotations

from collections.abc import Iterator

from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.stack_view import StackView
from dra_policies.view.waiting_pods import waiting_on_system


def check(view: StackView) -> Iterator[Finding]:
    judgement = None if view.whole_judgement is None else view.whole_judgement()
    if judgement is None:
        return
    for case in waiting_on_system(judgement):
        reasons = "; ".join(dict.fromkeys(reason.message for reason in case.size.reasons))
        yield Finding(
            message=f"{case.size.workload} doesn't fit on the system pool: {reasons}",
            fix="; ".join(dict.fromkeys(reason.fix for reason in case.size.reasons if reason.fix)),
            urn=view.judged_urn,
            place=case.member.place,
            certain=case.size.verdict == "does-not-fit",
        )


RULE = Rule(
    id="pod-fits-no-system-pool",
    description="A pod without devices doesn't fit on the system pool.",
    why="The pod stays pending unless the cluster has suitable nodes outside the fleet.",
    fix="Use more or larger nodes for the system pool, or lower the pod's requests.",
    level="mandatory",
    needs="pools",
    check=check,
)
