"""Explain why a claim fits or doesn't fit, by pool and by condition."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from dra_planner import cel
from dra_planner.allocation import (
    Edit,
    NodeState,
    Placement,
    Refusal,
    open_node,
    reasons_of,
    sight_of,
    suggest_edits,
)
from dra_planner.allocation import explain as explain_search
from dra_planner.allocation.reasons.explanation import ClaimReport
from dra_planner.allocation.reasons.shares import Share, shares_of_pick
from dra_planner.cel import SelectorExplanation as SelectorReport
from dra_planner.errors import PlannerError
from dra_planner.model import (
    Reason,
    ShapeClaim,
    Verdict,
    best,
    worst,
)
from dra_planner.plan.explanation.later_runs import reasons_to_run_later
from dra_planner.plan.explanation.names import find_claim, workloads_of
from dra_planner.plan.explanation.obstacles import Obstacles
from dra_planner.plan.explanation.rejected import find_rejected_claim
from dra_planner.plan.judgement.judgement import Judgement, PoolAnswer
from dra_planner.plan.model import JointFix, Plan
from dra_planner.plan.suggestion.missing.missing_pools import missing_pool
from dra_planner.wording import use_one_of


class PoolExplanation(Struct, frozen=True, kw_only=True):
    """Whether one pool's empty node accepts the pod, with the steps for the claim.

    `report` is None if no device is checked (a class is missing, or the claim is already
    allocated). `selectors` lists the conditions of selectors that exclude devices. `devices` are
    the devices that the claim would get, by request. `shares` are the amounts that it would consume
    of these devices if claims share them. `edits` is a minimal set of changes that make the pod
    fit. All of these changes are needed.
    """

    pool: str
    machine: str
    verdict: Verdict
    reasons: tuple[Reason, ...]
    report: ClaimReport | None
    selectors: tuple[SelectorReport, ...] = ()
    devices: tuple[tuple[str, str], ...] = ()
    shares: tuple[Share, ...] = ()
    edits: tuple[Edit, ...] = ()


class Holder(Struct, frozen=True):
    """A workload with pods on a pool that the claim could use, and their number."""

    pool: str
    workload: str
    pods: int


class WhatIf(Struct, frozen=True, kw_only=True):
    """The changed values of the fleet (PATH=VALUE), and the verdict without the changes."""

    changes: tuple[str, ...]
    verdict_before: Verdict


class ClaimExplanation(Struct, frozen=True, kw_only=True):
    """One claim, its workload, and the answer of each pool.

    `verdict` is the claim's verdict among all other workloads. A claim that fits an empty node
    doesn't fit if others hold the devices that it requests. `pending_reasons` explains this, and
    `holders` are these workloads. `missing` is the pool or setting that the fleet lacks if no pool
    fits the pod. With an observed cluster, each pool is one of its nodes. `what_if` is set if fleet
    values were changed for the question.
    """

    claim: str
    workload: str
    verdict: Verdict
    pools: tuple[PoolExplanation, ...]
    pending_reasons: tuple[Reason, ...] = ()
    holders: tuple[Holder, ...] = ()
    missing: Reason | None = None
    is_observed: bool = False
    stalls: bool = False  # the pods run, but a rollout of their workload never finishes
    what_if: WhatIf | None = None
    # causes that prevent pods from running although their devices fit
    blockers: tuple[Reason, ...] = ()
    joint_fix: JointFix | None = None  # the fix for all workloads, if this workload doesn't run

    @property
    def workloads(self) -> tuple[str, ...]:
        """The names in `workload`."""
        return tuple(self.workload.split(", "))


def explain_claim(judgement: Judgement, name: str, pool: str = "") -> ClaimExplanation:
    """Return why the claim with that name fits or doesn't fit, on one pool or on all pools.

    Raises PlannerError with the existing claims or pools if the claim or the pool isn't found.
    """
    name, (shape, claim, workloads) = find_claim(judgement, name)
    answers = [answer for answer in judgement.answers(shape) if pool in ("", answer.offer.name)]
    if not answers:
        known = [offer.name for offer in judgement.offers]
        raise PlannerError(f'pool "{pool}" isn\'t in the plan', fix=use_one_of("pool", known))
    pools = tuple(_explain_pool(answer, claim, judgement) for answer in answers)
    verdict = best(each.verdict for each in pools)
    pending = tuple(
        size
        for size in judgement.sizing.workloads
        if verdict == "fits" and size.workload in workloads and size.pending
    )
    room = [each.pool for each in pools if each.verdict == "fits"]
    sizes = [size for size in judgement.sizing.workloads if size.workload in workloads]
    shown = (reason for each in pools for reason in each.reasons)
    later = () if pool else reasons_to_run_later(shape, verdict, shown, sizes)
    if later:
        verdict = worst(size.verdict for size in sizes)
    return ClaimExplanation(
        claim=name,
        workload=", ".join(sorted(map(str, workloads))),
        verdict=worst(size.verdict for size in pending) if pending else verdict,
        blockers=later,
        pools=pools,
        is_observed=judgement.is_observed,
        missing=missing_pool(judgement, shape),
        pending_reasons=tuple(reason for size in pending for reason in size.reasons),
        holders=tuple(_holders(judgement, room)) if pending else (),
    )


def explain_claim_of_plan(plan: Plan, name: str, pool: str = "") -> ClaimExplanation:
    """Return the explanation with the obstacles that the plan's verdict includes.

    These obstacles prevent the pods from running although their devices fit. The name can be that
    of a claim whose object is rejected or missing. Raises PlannerError like `explain_claim`.
    """
    try:
        found = explain_claim(plan.judgement, name, pool)
    except PlannerError:
        never = find_rejected_claim(plan, name)
        if never is None:
            raise
        return ClaimExplanation(
            claim=never.name,
            workload=never.workload,
            verdict=never.verdict,
            pools=(),
            pending_reasons=never.reasons,
            is_observed=plan.judgement.is_observed,
        )
    own = Obstacles.of(plan, found.workloads, found.verdict)
    return replace(
        found,
        verdict=own.verdict,
        blockers=(*found.blockers, *own.reasons),
        stalls=own.stalls,
        joint_fix=None if own.verdict == "fits" else plan.joint_fix,
    )


def explain_failing(judgement: Judgement) -> Iterator[ClaimExplanation]:
    """Yield each claim that no pool can satisfy, by shape, with the answer of every pool and
    without changes.

    Claims that fit an empty node but are pending because pools are too small aren't included. Pools
    whose nodes reject the pod before checking devices aren't included either.
    """
    for shape in sorted(
        judgement.demand.shapes, key=lambda each: min(member.workload for member in each.members)
    ):
        answers = judgement.answers(shape)
        if any(answer.verdict == "fits" for answer in answers):
            continue
        answers = tuple(each for each in answers if not _is_turned_down(each))
        for claim in shape.claims:
            pools = tuple(
                _explain_pool(answer, claim, judgement, with_edits=False) for answer in answers
            )
            if any(pool.report is not None for pool in pools):
                yield ClaimExplanation(
                    claim=claim.title(min(workloads_of(shape))),
                    workload=", ".join(sorted(str(ref) for ref in workloads_of(shape))),
                    verdict=best(each.verdict for each in pools),
                    pools=pools,
                    is_observed=judgement.is_observed,
                )


def _is_turned_down(pool_answer: PoolAnswer) -> bool:
    return isinstance(pool_answer.answer, Refusal) and pool_answer.answer.kind == "filter"


def _holders(judgement: Judgement, pools: Iterable[str]) -> Iterator[Holder]:
    """Yield the workloads with claims on these pools after the demand is placed, by pool."""
    with_claims = {
        member.workload
        for shape in judgement.demand.shapes
        if shape.claims
        for member in shape.members
    }
    for pool in pools:
        for size in judgement.sizing.workloads:
            pods = dict(size.placements).get(pool, 0)
            if pods and size.workload in with_claims:
                yield Holder(pool, str(size.workload), pods)


def _explain_pool(
    pool_answer: PoolAnswer, claim: ShapeClaim, judgement: Judgement, *, with_edits: bool = True
) -> PoolExplanation:
    shape, answer = pool_answer.shape, pool_answer.answer
    search = explain_search(shape, pool_answer.node)
    name = str(claim.shared or f"{shape.namespace}/{claim.name}")
    report = next((each for each in search.claims if each.claim == name), None)
    return PoolExplanation(
        pool=pool_answer.offer.name,
        machine=pool_answer.offer.machine,
        verdict=pool_answer.verdict,
        reasons=() if isinstance(answer, Placement) else reasons_of(answer),
        report=report,
        selectors=tuple(_take_apart(report, pool_answer.node)) if report is not None else (),
        devices=tuple(
            (request, device.device)
            for owner, request, device in search.picks
            if owner == claim.name
        ),
        shares=tuple(_shares(answer, claim)) if isinstance(answer, Placement) else (),
        edits=smallest_edits(pool_answer, judgement) if with_edits else (),
    )


def _shares(answer: Placement, claim: ShapeClaim) -> Iterator[Share]:
    for got in answer.picks:
        for pick in got.picks if got.name == claim.name else ():
            yield from shares_of_pick(pick, claim, answer.node)


def smallest_edits(pool_answer: PoolAnswer, judgement: Judgement) -> tuple[Edit, ...]:
    """Return a smallest set of changes that make the pod fit the pool.

    Empty if the pod already fits, or if no change helps.
    """
    return (
        suggest_edits(pool_answer.answer, _another_node(pool_answer, judgement))
        if isinstance(pool_answer.answer, Refusal)
        else ()
    )


def _another_node(pool_answer: PoolAnswer, judgement: Judgement) -> NodeState | None:
    """Return another node like an observed one, without claims on its devices.

    Predicted nodes are already unused.
    """
    offer = pool_answer.offer
    if offer.origin == "predicted":
        return None
    sight = sight_of(judgement.demand.shapes, judgement.demand.namespaces)
    return open_node(
        offer.node,
        offer.slices,
        judgement.classes,
        judgement.features,
        deductions=offer.used,
        sight=sight,
    )


def _take_apart(report: ClaimReport, node: NodeState) -> Iterator[SelectorReport]:
    """Yield each selector that excludes devices from a request, split into conditions, for the
    node's devices.
    """
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
