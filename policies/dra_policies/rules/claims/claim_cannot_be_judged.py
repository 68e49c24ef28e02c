"""Claims for which the result is unknown until the nodes exist."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dra_planner.allocation import Undecided, reasons_of
from dra_planner.claims.resolution import NODE_NAME_SET
from dra_planner.drivers.protocol.misspelled_names import intended_name
from dra_planner.plan.blockers import find_blockers
from dra_planner.plan.demand.device_demand import OTHER_DRIVER
from dra_planner.wording import counted
from dra_policies.rules.blockers import situation_of
from dra_policies.rules.claims.class_misspelt import known_classes
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.stack_view import StackView
from dra_policies.view.waiting_pods import Waiting, subject, waiting, waiting_for_one_cause

_OF_OTHER_RULES: Final = frozenset({OTHER_DRIVER, NODE_NAME_SET})


def check(view: StackView) -> Iterator[Finding]:
    judgement = view.judgement
    if judgement is None:
        return
    situation = situation_of(view)
    found = find_blockers(situation) if situation is not None else ()
    explained = {ref for each in found if each.is_certain for ref in each.workloads}
    cause = waiting_for_one_cause(judgement)
    grouped = () if cause is None else cause.workloads
    cases = [each for each in waiting(judgement) if each.size.workload in grouped]
    if cause is not None and not explained.issuperset(grouped):
        yield Finding(
            message=f"{counted(len(grouped), 'workload')} can't be evaluated: {cause.message}",
            fix=cause.fix,
            urn=view.judged_urn,
            place=cases[0].member.place,
            about=str(cases[0].size.workload),
            certain=False,
        )
    for case in waiting(judgement):
        if case.size.workload in grouped:
            continue
        reasons = () if case.size.workload in explained else _unknown(case)
        if reasons:
            text = "; ".join(message for message, _ in reasons)
            yield Finding(
                message=f"{subject([case], view.manifests)} can't be evaluated: {text}",
                fix="; or ".join(dict.fromkeys(fix for _, fix in reasons if fix)),
                urn=view.judged_urn,
                place=case.member.place,
                about=str(case.size.workload),
                certain=False,
            )
    known = known_classes(view)
    unfit = {size.workload for size in judgement.sizing.workloads if size.verdict != "fits"}
    for blocked in judgement.demand.blocked:
        if any(intended_name(name, known) for name in blocked.classes):
            continue  # the claim's finding already reports this
        if blocked.member.workload not in unfit:
            # only a rollout or a scaler adds these pods, or this workload isn't being checked
            continue
        if blocked.verdict == "cannot-tell" and blocked.reason.code not in _OF_OTHER_RULES:
            yield Finding(
                message=f"{blocked.member.workload} can't be evaluated: {blocked.reason.message}",
                fix=blocked.reason.fix,
                urn=view.judged_urn,
                place=blocked.reason.place if blocked.reason.place.file else blocked.member.place,
                about=str(blocked.member.workload),
                certain=False,
            )


def _unknown(case: Waiting) -> tuple[tuple[str, str], ...]:
    """Return the unknown facts, each with its fix: a value that depends on a node, or a result that
    the simulation can't determine.
    """
    if case.is_undecided:
        return tuple(
            (f'in pool "{pool.offer.name}", {reason.text}', reason.fix or RULE.fix)
            for pool in case.pools
            if isinstance(pool.answer, Undecided)
            for reason in reasons_of(pool.answer)[:1]
        )
    if case.size.verdict == "cannot-tell":
        return tuple((reason.text, reason.fix) for reason in case.size.reasons)
    return ()


RULE = Rule(
    id="claim-cannot-be-judged",
    description="A claim can't be evaluated until a node exists.",
    why="The result depends on a value that exists only at run time or on a fact that "
    "pulumi-dra doesn't know, or the search ended without finding a packing.",
    fix="Use a selector on an attribute that is known in advance, or accept that the result is "
    "known only after the first node exists.",
    level="advisory",
    needs="pools",
    check=check,
)
