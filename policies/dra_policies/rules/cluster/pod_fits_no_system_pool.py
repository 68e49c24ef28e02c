"""Pods without devices that don't fit the system pool."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dra_planner.model import Reason, WorkloadRef
from dra_planner.offers import SYSTEM_POOL
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.stack_view import StackView
from dra_policies.view.waiting_pods import Waiting, waiting_on_system


def check(view: StackView) -> Iterator[Finding]:
    judgement = None if view.whole_judgement is None else view.whole_judgement()
    if judgement is None:
        return
    alike: dict[tuple[WorkloadRef, str, str], list[Waiting]] = {}
    for case in waiting_on_system(judgement):
        reasons = case.own_reasons or _on_system(case.size.reasons)
        message = "; ".join(dict.fromkeys(reason.message for reason in reasons))
        fix = "; ".join(dict.fromkeys(reason.fix for reason in reasons if reason.fix))
        alike.setdefault((case.size.workload, message, fix), []).append(case)
    for (_, message, fix), cases in alike.items():
        certain = cases[0].size.verdict == "does-not-fit" and not cases[0].is_undecided
        fits = "doesn't fit" if certain else "might not fit"
        yield Finding(
            message=f"{_subject(cases)} {fits} on the system pool: {message}",
            fix=fix,
            urn=view.judged_urn,
            place=cases[0].member.place,
            certain=certain,
        )


def _subject(cases: Sequence[Waiting]) -> str:
    """Return the workload. If it has several pod sets, add the names of the pod sets that don't fit
    any node, or otherwise of all pod sets that need more nodes.
    """
    own = [case for case in cases if case.own_reasons] or cases
    names = ", ".join(dict.fromkeys(case.pod_set for case in own if case.pod_set))
    return f"{cases[0].size.workload} ({names})" if names else str(cases[0].size.workload)


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
