"""Pods without devices that the system pool does not hold."""

from __future__ import annotations

from collections.abc import Iterator

from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.stack_view import StackView
from dra_policies.view.waiting_pods import waiting


def check(view: StackView) -> Iterator[Finding]:
    judgement = None if view.whole_judgement is None else view.whole_judgement()
    if judgement is None:
        return
    for case in waiting(judgement):
        if case.shape.id not in judgement.on_system:
            continue
        reasons = "; ".join(dict.fromkeys(reason.message for reason in case.size.reasons))
        yield Finding(
            message=f"{case.size.workload} does not fit the system pool: {reasons}",
            fix="; ".join(dict.fromkeys(reason.fix for reason in case.size.reasons if reason.fix)),
            urn=view.judged_urn,
            place=case.member.place,
            certain=case.size.verdict == "does-not-fit",
        )


RULE = Rule(
    id="pod-fits-no-system-pool",
    says="Pods that request no device fit the system pool.",
    why="They wait for nodes; but a cluster may have other nodes for them, which no fleet names, so this is not asked "
    "unless somebody wants to know.",
    fix="Use more or larger nodes for the system pool, or request less.",
    level="advisory",
    needs="pools",
    check=check,
    is_on=False,
)
