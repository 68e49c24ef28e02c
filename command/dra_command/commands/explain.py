"""`pulumi-dra explain`: why one claim fits or not, pool by pool and term by term."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches

from dra_command.arguments import UsageError
from dra_command.inputs import read_inputs
from dra_command.progress import doing
from dra_command.status import status_of
from dra_planner import cel
from dra_planner.allocation import (
    Edit,
    NodeState,
    Placement,
    Refusal,
    Undecided,
    open_node,
    sight_of,
    suggest_edits,
)
from dra_planner.allocation import explain as explain_search
from dra_planner.allocation.explanation import ClaimReport
from dra_planner.cel import Explanation as SelectorReport
from dra_planner.model import Reason, Shape, ShapeClaim, Verdict, best, generated_claim_name
from dra_planner.offers import Offer
from dra_planner.plan import Plan, PlanRequest, make_plan
from dra_planner.releases import Features, features_of, parse_version
from dra_planner.sizing import DoubtfulPlace


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolExplanation:
    """What a node of one pool, before any pod of the demand, says: to the pod, and step by step to the claim.

    `report` is None where no device is looked at (a class is missing, or the claim is allocated already). `selectors`
    takes the selectors that exclude devices apart, `devices` are those the claim would get by request, and `edits` a
    minimal set of changes that would make the pod fit: all of them together do, and no part of them does.
    """

    pool: str
    machine: str
    verdict: Verdict
    reasons: tuple[Reason, ...]
    report: ClaimReport | None
    selectors: tuple[SelectorReport, ...] = ()
    devices: tuple[tuple[str, str], ...] = ()
    edits: tuple[Edit, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """One claim, who brings it, and what each pool says to it.

    `left_over` says of workloads whose pods would fit, but for which the pools are too small, what the plan says.
    With an observed cluster each pool is one node of it.
    """

    claim: str
    workload: str
    verdict: Verdict
    pools: tuple[PoolExplanation, ...]
    left_over: tuple[Reason, ...] = ()
    is_observed: bool = False


def run(values: argparse.Namespace) -> int:
    """Explain the claim, or the message of somebody else, and return the exit status of its verdict."""
    if values.message is not None:
        from dra_command import field_messages

        return field_messages.run(values)
    inputs = read_inputs(values, needs_capacity=True)
    with doing("explaining", quiet=values.quiet):
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

        print_explanation(explanation, quiet=values.quiet, verbose=values.verbose)
    return status_of(explanation.verdict, allow_unknown=values.allow_unknown)


def explain(plan: Plan, name: str, pool: str = "") -> Explanation:
    """Return why the claim of that name fits or not; raises UsageError naming the claims, or pools, there are."""
    claims = dict(_claims(plan))
    wanted = name if "/" in name else f"default/{name}"
    entries = [each for each in _by_entry(plan) if each[0] == wanted]
    if wanted not in claims and len(entries) == 1:
        claims[wanted] = entries[0][1]
    if wanted not in claims:
        nearest = get_close_matches(wanted, claims, 1)
        known = f'did you mean "{nearest[0]}"?' if nearest else f"claims here: {', '.join(sorted(claims)) or 'none'}"
        raise UsageError(f'no workload brings a claim "{wanted}"', fix=known)
    offers = [offer for offer in plan.offers if pool in ("", offer.name)]
    if not offers:
        raise UsageError(f'there is no pool "{pool}"', fix=f"pools: {', '.join(each.name for each in plan.offers)}")
    shape, claim = claims[wanted]
    features = features_of(parse_version(plan.kubernetes))
    pools = tuple(_explain_pool(offer, shape, claim, plan, features) for offer in offers)
    verdict = best(each.verdict for each in pools)
    workloads = {member.workload for member in shape.members}
    return Explanation(
        claim=wanted,
        workload=", ".join(sorted(map(str, workloads))),
        verdict=verdict,
        pools=pools,
        is_observed=plan.fleet is None,
        left_over=tuple(
            reason
            for each in plan.workloads
            if verdict == "fits" and each.workload in workloads and each.pending
            for reason in each.reasons
        ),
    )


def _explain_pool(offer: Offer, shape: Shape, claim: ShapeClaim, plan: Plan, features: Features) -> PoolExplanation:
    ask = DoubtfulPlace()
    node, _ = ask.open(offer, plan.classes, features, plan.demand.shapes)
    answer = ask(shape, node)
    verdict: Verdict = "fits"
    if not isinstance(answer, Placement):
        verdict = "cannot-tell" if isinstance(answer, Undecided) else "does-not-fit"
    search = explain_search(shape, node)
    name = str(claim.shared or f"{shape.namespace}/{claim.name}")
    report = next((each for each in search.claims if each.claim == name), None)
    return PoolExplanation(
        pool=offer.name,
        machine=offer.machine,
        verdict=verdict,
        reasons=() if isinstance(answer, Placement) else answer.reasons,
        report=report,
        selectors=tuple(_take_apart(report, node)) if report is not None else (),
        devices=tuple((request, device.device) for owner, request, device in search.picks if owner == claim.name),
        edits=suggest_edits(answer, _fresh(offer, plan, features)) if isinstance(answer, Refusal) else (),
    )


def _fresh(offer: Offer, plan: Plan, features: Features) -> NodeState | None:
    """Return another node like an observed one, with no claim on its devices; a predicted one is fresh as it is."""
    if offer.origin == "predicted":
        return None
    sight = sight_of(plan.demand.shapes)
    return open_node(offer.node, offer.slices, plan.classes, features, deductions=offer.used, sight=sight)


def _take_apart(report: ClaimReport, node: NodeState) -> Iterator[SelectorReport]:
    """Yield each selector that keeps devices from a request, condition by condition, over the node's devices."""
    template = node.template
    devices = [each for each in template.candidates if each.bit & template.searched]
    for expression in dict.fromkeys(_excluding(report)):
        selector = cel.compile(expression, cel.Dialect.of(template.features, "stored"))
        if isinstance(selector, cel.Selector):
            yield cel.explain(selector, devices)


def _excluding(report: ClaimReport) -> Iterable[str]:
    for request in report.requests:
        for way in request:
            yield from (each.term.expression for each in way.exclusions if each.term is not None)


def _by_entry(plan: Plan) -> Iterator[tuple[str, tuple[Shape, ShapeClaim]]]:
    """Yield the claims of pods by their entry in the pod, as reasons call them."""
    for shape in plan.demand.shapes:
        for claim in shape.claims:
            if claim.shared is None:
                yield f"{shape.namespace}/{claim.name}", (shape, claim)


def _claims(plan: Plan) -> Iterator[tuple[str, tuple[Shape, ShapeClaim]]]:
    """Yield every name a claim goes by: its own, or those that pods give to theirs."""
    for shape in plan.demand.shapes:
        for claim in shape.claims:
            if claim.shared is not None:
                yield str(claim.shared), (shape, claim)
                continue
            for member in shape.members:
                ref = member.workload
                pods = (ref.name, ref.pod_name(0)) if member.figures.steady else (ref.name,)
                for pod in dict.fromkeys(pods):
                    yield f"{ref.namespace}/{generated_claim_name(pod, claim.name)}", (shape, claim)
