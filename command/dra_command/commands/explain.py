"""`pulumi-dra explain`: why one claim fits or not, pool by pool and term by term."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches

from dra_command.arguments import UsageError
from dra_command.inputs import read_inputs
from dra_command.status import status_of
from dra_planner.allocation import NodeState, Placement, Refusal, Undecided, open_node, place, sight_of
from dra_planner.allocation.explanation import ClaimReport, report_claims
from dra_planner.allocation.place import plan_for, searched_claims
from dra_planner.model import Reason, Shape, ShapeClaim, Verdict, best
from dra_planner.plan import Plan, PlanRequest, make_plan
from dra_planner.releases import features_of, parse_version


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolExplanation:
    """What an empty node of one pool says: to the pod, and step by step to the claim.

    `report` is None where the node is turned down before devices are looked at.
    """

    pool: str
    machine: str
    verdict: Verdict
    reasons: tuple[Reason, ...]
    report: ClaimReport | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """One claim, who brings it, and what each pool says to it."""

    claim: str
    workload: str
    verdict: Verdict
    pools: tuple[PoolExplanation, ...]


def run(values: argparse.Namespace) -> int:
    """Explain the claim, and return the exit status of its verdict."""
    inputs = read_inputs(values, needs_capacity=True)
    plan = make_plan(
        PlanRequest(
            sources=inputs.sources, fleet=inputs.fleet, observed=inputs.observed, kubernetes=inputs.kubernetes
        )
    )
    explanation = explain(plan, values.claim, values.pool)
    if values.format == "json":
        from dra_command.formats.explain_json import explain_json

        print(explain_json(explanation))
    else:
        from dra_command.formats.explain_text import print_explanation

        print_explanation(explanation)
    return status_of(explanation.verdict, has_errors=False, allow_unknown=values.allow_unknown)


def explain(plan: Plan, name: str, pool: str = "") -> Explanation:
    """Return why the claim of that name fits or not; raises UsageError naming the claims, or pools, there are."""
    claims = dict(_claims(plan))
    wanted = name if "/" in name else f"default/{name}"
    if wanted not in claims:
        nearest = get_close_matches(wanted, claims, 1)
        known = f'did you mean "{nearest[0]}"?' if nearest else f"claims here: {', '.join(sorted(claims)) or 'none'}"
        raise UsageError(f'no workload brings a claim "{wanted}"', fix=known)
    offers = [offer for offer in plan.offers if pool in ("", offer.name)]
    if not offers:
        raise UsageError(f'there is no pool "{pool}"', fix=f"pools: {', '.join(each.name for each in plan.offers)}")
    shape, claim = claims[wanted]
    features, sight = features_of(parse_version(plan.kubernetes)), sight_of(plan.demand.shapes)
    pools = []
    for offer in offers:
        node = open_node(
            offer.node, offer.slices, plan.classes, features, deductions=offer.used, sight=sight
        )
        pools.append(_explain_pool(offer.name, offer.machine, shape, claim, node))
    return Explanation(
        claim=wanted,
        workload=", ".join(sorted({str(member.workload) for member in shape.members})),
        verdict=best(each.verdict for each in pools),
        pools=tuple(pools),
    )


def _explain_pool(name: str, machine: str, shape: Shape, claim: ShapeClaim, node: NodeState) -> PoolExplanation:
    answer = place(shape, node)
    verdict: Verdict = "fits"
    if not isinstance(answer, Placement):
        verdict = "cannot-tell" if isinstance(answer, Undecided) else "does-not-fit"
    turned_down = isinstance(answer, Refusal) and answer.kind in ("filter", "claim")
    return PoolExplanation(
        pool=name,
        machine=machine,
        verdict=verdict,
        reasons=() if isinstance(answer, Placement) else answer.reasons,
        report=None if turned_down else _report(shape, claim, node),
    )


def _report(shape: Shape, claim: ShapeClaim, node: NodeState) -> ClaimReport | None:
    searched = searched_claims(shape, node)
    reports = report_claims(plan_for(shape, searched, node.template), node)
    return next((report for each, report in zip(searched, reports, strict=True) if each.name == claim.name), None)


def _claims(plan: Plan) -> Iterator[tuple[str, tuple[Shape, ShapeClaim]]]:
    """Yield every name a claim goes by: its own, or those that pods give to theirs."""
    for shape in plan.demand.shapes:
        for claim in shape.claims:
            if claim.shared is not None:
                yield str(claim.shared), (shape, claim)
                continue
            for member in shape.members:
                ref = member.workload
                yield f"{ref.namespace}/{ref.name}-{claim.name}", (shape, claim)
                if ref.kind != "Pod" and member.figures.steady:
                    yield f"{ref.namespace}/{ref.name}-0-{claim.name}", (shape, claim)
