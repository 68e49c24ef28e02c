"""Place one pod on one node. The placement contains the node's next state.

The current state doesn't change.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from dra_planner.allocation.behaviour import Behaviour, intended
from dra_planner.allocation.extended_resource_claims import ClaimsOnNode, claims_on
from dra_planner.allocation.node.filters import (
    Misfit,
    reject_for_good,
    reject_for_neighbours,
    reject_for_now,
    with_absent,
)
from dra_planner.allocation.node.pod_rules import PodView
from dra_planner.allocation.node.ports import host_ports
from dra_planner.allocation.node.state import HeldClaim, NodeState, Port
from dra_planner.allocation.node.template import Template
from dra_planner.allocation.partial_node_claims import part_of_node
from dra_planner.allocation.search.attempt_errors import AttemptError
from dra_planner.allocation.search.constraints import Reading
from dra_planner.allocation.search.depth_first import STEP_BUDGET, SearchResult, search_devices
from dra_planner.allocation.search.holdings import Pick
from dra_planner.allocation.search.requests import PlannedClaims, plan_claims
from dra_planner.allocation.verdicts import Answer, ClaimPicks, Placement, Refusal, Undecided
from dra_planner.model import Reason, Shape, ShapeClaim
from dra_planner.offers import pod_requests

MAX_CONSUMERS = 256  # maximum number of entries in status.reservedFor
_REMEMBERED = 200_000  # number of verdicts that are cached for each template


def place(shape: Shape, node: NodeState, *, budget: int = STEP_BUDGET) -> Answer:
    """Return the placement of one pod of the shape on the node, a refusal, or an undecided result.

    Rules between pods are evaluated only for this node (topology `kubernetes.io/hostname`). Wider
    topologies and spread need a cluster. `budget` limits the number of tried devices. Doesn't raise
    exceptions for any shape or node.
    """
    memory = node.template.memory
    remembered: dict[Any, Answer] = memory.setdefault("verdicts", {})
    key = (shape.id, node.key, budget)
    verdict = remembered.get(key)
    if verdict is None:
        if len(remembered) >= _REMEMBERED:
            remembered.clear()
        verdict = remembered[key] = _place(shape, node, budget)
    return verdict


class Needs(Struct, frozen=True):
    """The requirements of a shape on one template, computed once."""

    misfit: Misfit | None
    missing_class: str
    requests: dict[str, int]
    ports: frozenset[Port]
    view: PodView
    claims: tuple[ShapeClaim, ...]


def _place(shape: Shape, node: NodeState, budget: int) -> Answer:
    needs = needs_of(shape, node.template)
    if shape.pod.scheduling_gates:
        return Refusal(
            shape, node, "claim", f"scheduling gates ({', '.join(shape.pod.scheduling_gates)})"
        )
    if needs.missing_class:
        return Refusal(shape, node, "claim", needs.missing_class)
    misfit = (
        needs.misfit
        or reject_for_now(needs.requests, needs.ports, node)
        or reject_for_neighbours(shape, node)
    )
    if misfit is not None:
        return Refusal(shape, node, "filter", misfit=misfit)
    if shape.pod.zonal_volumes:
        return Undecided(shape, node, "volume", details=shape.pod.zonal_volumes)
    fresh = searched_claims(shape, node)
    if not fresh:
        return _settle(shape, node, needs, fresh, (), 0, ())
    return _search(shape, node, needs, fresh, budget)


def needs_of(shape: Shape, template: Template) -> Needs:
    """Return the requirements of a shape on one template."""
    cache: dict[str, Needs] = template.memory.setdefault("needs", {})
    needs = cache.get(shape.id)
    if needs is None:
        claims = claims_on(shape, template)
        requests = {**pod_requests(shape.pod), **claims.plain}
        needs = cache[shape.id] = Needs(
            misfit=with_absent(reject_for_good(shape.pod, template.node), requests, template.node),
            missing_class=_missing_class(claims, template),
            requests=requests,
            ports=host_ports(shape.pod),
            view=PodView.of(shape),
            claims=claims.claims,
        )
    return needs


def searched_claims(shape: Shape, node: NodeState) -> tuple[ShapeClaim, ...]:
    """Return the claims of a pod that still need devices on this node, in search order."""
    claims = needs_of(shape, node.template).claims
    return tuple([c for c in claims if c.shared is None or node.held_claim(c.shared) is None])


def _missing_class(claims: ClaimsOnNode, template: Template) -> str:
    for claim in claims.claims:
        for request in claim.spec.requests:
            ways = [(request.name, request.exactly)] if request.exactly else []
            ways += [(f"{request.name}/{sub.name}", sub) for sub in request.first_available]
            for name, way in ways:
                if way.device_class_name not in template.classes:
                    return f"request {name}: device class {way.device_class_name} does not exist"
    return ""


def plan_for(shape: Shape, claims: Sequence[ShapeClaim], template: Template) -> PlannedClaims:
    """Return the claims of a shape prepared for the search on a template, computed once."""
    plans: dict[Any, PlannedClaims] = template.memory.setdefault("plans", {})
    key = (shape.id, tuple([c.name for c in claims]))
    plan = plans.get(key)
    if plan is None:
        named = tuple((str(c.shared or f"{shape.namespace}/{c.name}"), c.spec) for c in claims)
        plan = plans[key] = plan_claims(named, template)
        plan.searches = template.memory.setdefault("searches", {}).setdefault(named, plan.searches)
    return plan


def _search(
    shape: Shape, node: NodeState, needs: Needs, fresh: tuple[ShapeClaim, ...], budget: int
) -> Answer:
    template = node.template
    plan = plan_for(shape, fresh, template)
    # A count of devices is enough to reject most nodes. The exceptions are versions that can
    # allocate a shared device twice, because a search can then find more devices than the count
    # allows.
    if plan.exceeds(node.taken) and not (
        template.behaviour.repeats_shared_device and plan.shares_devices
    ):
        return Refusal(shape, node, "devices")
    result = _searched(node, plan, budget)
    if result.outcome == "exhausted":
        return Undecided(shape, node, "effort", result.steps)
    if result.met_unknown:
        # The first search assumed the worse outcome for every unknown fact. The unknown facts are
        # irrelevant only if a search with the better outcomes has the same result.
        other = _searched(node, plan, budget, reading="optimistic")
        if not _same_either_way(result, other, plan):
            return Undecided(shape, node, "unknown", result.steps + other.steps)
    if plan.doubtful and result.outcome == "found":
        return Undecided(shape, node, "doubt", result.steps)
    if template.devices_doubt and result.outcome == "found":
        return Undecided(shape, node, "driver", result.steps, (template.devices_doubt,))
    may: frozenset[str] = frozenset()
    if result.defects:
        # The search involved a known defect of this version. If the search without the defect has a
        # different result, a patch version might change the result, and a note explains this.
        corrected = _searched(node, plan, budget, behaviour=intended(template.behaviour))
        if (corrected.outcome == "found") != (result.outcome == "found"):
            may = result.defects
    if result.outcome == "found":
        notes = tuple(_may_note(defect) for defect in sorted(may))
        return _settle(shape, node, needs, fresh, result.picks, result.steps, notes)
    if result.outcome == "error":
        return Refusal(shape, node, "error", steps=result.steps, error=result.error, may=may)
    return Refusal(shape, node, "devices", steps=result.steps, may=may)


def _searched(
    node: NodeState,
    plan: PlannedClaims,
    budget: int,
    *,
    reading: Reading = "pessimistic",
    behaviour: Behaviour | None = None,
) -> SearchResult:
    """Return the result of a search, which is equal for pods with equal claims."""
    key = node.taken, node.shares, budget, reading, behaviour is None
    found: SearchResult | None = plan.searches.get(key)
    if found is None:
        if len(plan.searches) >= _REMEMBERED:
            plan.searches.clear()
        shares = {index: dict(used) for index, used in node.shares}
        behaviour = behaviour or node.template.behaviour
        found = plan.searches[key] = search_devices(
            node.template, plan, behaviour, node.taken, shares, reading=reading, budget=budget
        )
    return found


def _same_either_way(hindered: SearchResult, helped: SearchResult, plan: PlannedClaims) -> bool:
    """Return True if the unknown values can't change the result: the pod fits even in the worst
    case, or doesn't fit even in the best case.
    """
    if hindered.outcome == helped.outcome == "none" or (hindered.outcome, helped.outcome) == (
        "found",
        "none",
    ):
        return not plan.number_is_unknown
    return hindered.outcome == helped.outcome and hindered.message == helped.message


def _settle(
    shape: Shape,
    node: NodeState,
    needs: Needs,
    fresh: tuple[ShapeClaim, ...],
    picks: tuple[tuple[Pick, ...], ...],
    steps: int,
    notes: tuple[Reason, ...],
) -> Answer:
    for fresh_claim, chosen in zip(fresh, picks, strict=True):
        fault, fix = part_of_node(node, chosen)
        if fault:
            return Refusal(
                shape,
                node,
                "claim",
                f"claim {fresh_claim.name}: {fault}",
                claim=fresh_claim.name,
                fix=fix,
            )
    held = {claim.key: claim for claim in node.claims}
    for claim in needs.claims:
        if claim.shared is None:
            continue
        consumers = held[claim.shared].consumers + 1 if claim.shared in held else 1
        if consumers > MAX_CONSUMERS:
            message = (
                f"add reservation to claim {claim.shared}: status.reservedFor: Too many: "
                f"{consumers}: "
                f"must have at most {MAX_CONSUMERS} items"
            )
            error = AttemptError(message, "consumers")
            return Refusal(shape, node, "error", claim=str(claim.shared), error=error)
        held[claim.shared] = HeldClaim(claim.shared, consumers)
    after = node.with_pod(
        needs.requests,
        needs.ports,
        needs.view,
        [pick for claim in picks for pick in claim],
        tuple(sorted(held.values(), key=lambda c: c.key)) if held else (),
    )
    got = tuple(
        [
            ClaimPicks(claim.name, claim.shared, chosen)
            for claim, chosen in zip(fresh, picks, strict=True)
        ]
    )
    return Placement(shape, after, got, notes, steps)


def _may_note(defect: str) -> Reason:
    return Reason(
        code="may-depend-on-patch",
        message="other patch versions might reject this pod, because a known defect affects the "
        f"result ({defect})",
    )
