"""Explain why a claim fits or doesn't fit, request by request, with the number of devices that
remain after each step.

The counts describe one node in one state. A device is counted at the first step that excludes it,
in search order: use, selectors term by term, capacity, counters, and taints.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Final, Literal, NamedTuple

from msgspec import Struct

from dra_planner.allocation.node.filters import Misfit
from dra_planner.allocation.node.selectors import untolerated_device_taint
from dra_planner.allocation.node.state import NodeState
from dra_planner.allocation.place import place, plan_for, searched_claims
from dra_planner.allocation.reasons.absent_names import similar_attribute
from dra_planner.allocation.search.amounts import from_nano, nano
from dra_planner.allocation.search.attempt_errors import AttemptError
from dra_planner.allocation.search.capacity import consumption
from dra_planner.allocation.search.constraints import lookup_attribute
from dra_planner.allocation.search.devices import Candidate, DeviceId
from dra_planner.allocation.search.holdings import open_holdings
from dra_planner.allocation.search.requests import Alternative, PlannedClaim, PlannedClaims
from dra_planner.allocation.search.selection import OwnedSelector, values_read
from dra_planner.allocation.verdicts import Answer, Placement, Refusal
from dra_planner.model import AttributeValue, DeviceConstraint, Shape, Unknown
from dra_planner.quantity import Quantity

OF_RULE: Final = "(of DeviceTaintRule "
Step = Literal["selector", "unknown", "error", "capacity", "taken", "counters", "taint"]


class AbsentCapacity(Struct, frozen=True):
    """A requested capacity that a device doesn't publish, and a similar one or ""."""

    name: str
    similar: str

    def __str__(self) -> str:
        return f"no capacity {self.name}" + (
            f"; did you mean {self.similar}?" if self.similar else ""
        )


class SmallCapacity(Struct, frozen=True):
    """A capacity of a device that is smaller than requested, and the largest amount that a request
    can get.
    """

    name: str
    most: Quantity
    requested: Quantity


class FreeAmount(Struct, frozen=True):
    """The free amount of a shared device's capacity, of which a request needs more."""

    name: str
    left: Quantity
    whole: Quantity
    requested: Quantity

    def __str__(self) -> str:
        return f"{self.left} of {self.whole} {self.name} free, requested {self.requested}"


Cause = AttemptError | AbsentCapacity | SmallCapacity | tuple[FreeAmount, ...] | None


class Exclusion(Struct, frozen=True):
    """The number of devices that one step excludes. `term` is set for selectors.

    `detail` names the reason (a taint, a message, or a capacity), `cause` is the reason as a value
    if it's an error or a capacity, and `values` are the devices' values that a selector read.
    """

    step: Step
    count: int
    term: OwnedSelector | None = None
    detail: str = ""
    values: tuple[str, ...] = ()
    cause: Cause = None


class _Excluded(NamedTuple):
    """Why one device is excluded. Equal values are counted together."""

    step: Step
    term: OwnedSelector | None = None
    detail: str = ""
    cause: Cause = None


class AlternativeReport(Struct, frozen=True):
    """One alternative of a request. `wanted` is None for all devices.

    `left` is the number of free matching devices, `matching` is the number of matching devices, and
    `seen` is the number of all devices on the node.
    """

    request: str
    wanted: int | None
    seen: int
    matching: int
    left: int
    exclusions: tuple[Exclusion, ...]
    fault: str = ""

    @property
    def shortfall(self) -> int:
        """Number of missing devices."""
        wanted = self.wanted if self.wanted is not None else max(self.matching, 1)
        return max(0, wanted - self.left)


class ConstraintReport(Struct, frozen=True):
    """One constraint on the remaining devices: the number of devices with the attribute, and their
    groups by value. `by_request` contains the same numbers for each request in the constraint.
    If no device has the attribute, `similar` is a published attribute that was probably meant, or
    "".
    """

    constraint: DeviceConstraint
    groups: tuple[tuple[str, int], ...]
    without: int
    unknown: int
    by_request: tuple[tuple[str, tuple[tuple[str, int], ...]], ...] = ()
    similar: str = ""


class ClaimReport(Struct, frozen=True):
    """One claim on one node: its requests with their alternatives in order, and its constraints."""

    claim: str
    requests: tuple[tuple[AlternativeReport, ...], ...]
    constraints: tuple[ConstraintReport, ...]


def report_claims(plan: PlannedClaims, node: NodeState) -> tuple[ClaimReport, ...]:
    """Return the devices that each step leaves, for every claim of the plan."""
    return tuple(_report_claim(claim, plan, node) for claim in plan.claims)


def _report_claim(claim: PlannedClaim, plan: PlannedClaims, node: NodeState) -> ClaimReport:
    requests = tuple(
        tuple(_report_way(way, plan, node) for way in r.alternatives) for r in claim.requests
    )
    left: dict[str, int] = {}
    for spec, request in zip(claim.spec.requests, claim.requests, strict=False):
        for way in request.alternatives:
            matching = way.selection.matched & way.roomy & ~node.taken & ~way.tainted
            left[spec.name] = left.get(spec.name, 0) | matching
    constraints = tuple(_report_constraint(c, left, node) for c in claim.spec.constraints)
    return ClaimReport(claim.name, requests, constraints)


def _report_way(way: Alternative, plan: PlannedClaims, node: NodeState) -> AlternativeReport:
    template = node.template
    searched = [c for c in template.candidates if c.bit & template.searched]
    excluded: Counter[_Excluded] = Counter()
    values: dict[_Excluded, Counter[str]] = {}
    errors: dict[_Excluded, AttemptError] = {}
    left = 0
    if not way.fault:
        for candidate in searched:
            reason = _exclusion_reason(way, candidate, plan, node)
            if reason is None:
                left += 1
                continue
            if isinstance(reason.cause, AttemptError):  # names one device, but is counted for all
                error, reason = reason.cause, reason._replace(cause=None)
                errors.setdefault(reason, error)
            excluded[reason] += 1
            if reason.step == "selector" and reason.term is not None:
                read = values_read(reason.term, candidate, template.features)
                values.setdefault(reason, Counter()).update(read)
    exclusions = tuple(
        Exclusion(
            each.step,
            count,
            each.term,
            each.detail,
            tuple(v for v, _ in values.get(each, Counter()).most_common()),
            errors.get(each, each.cause),
        )
        for each, count in excluded.items()
    )
    return AlternativeReport(
        request=way.label,
        wanted=None if way.takes_all else way.spec.count,
        seen=len(searched),
        matching=(way.selection.matched & way.roomy).bit_count(),
        left=left,
        exclusions=exclusions,
        fault=way.fault or (way.all_fault.message if way.all_fault is not None else ""),
    )


def _exclusion_reason(
    way: Alternative, candidate: Candidate, plan: PlannedClaims, node: NodeState
) -> _Excluded | None:
    index, bit, selection = candidate.index, candidate.bit, way.selection
    if index in selection.failed:
        return _Excluded("selector", selection.failed[index])
    if bit & way.erring:
        error = way.errors[index]
        return _Excluded("error", detail=error.message, cause=error)
    if bit & selection.unknown:
        term, message = selection.unknowns[index]
        return _Excluded("unknown", term, message)
    if not bit & selection.matched:
        return _Excluded("selector", detail="not for this node")
    if not bit & way.roomy:
        return _capacity_exclusion(way, candidate, node)
    if node.taken & bit and not way.spec.admin_access:
        return _Excluded("taken")
    holdings = open_holdings(
        node.template,
        plan,
        node.template.behaviour,
        node.taken,
        {i: dict(s) for i, s in node.shares},
        "pessimistic",
    )
    if not holdings.has_room(way, index):
        left = _free_amounts(way, candidate, holdings.used(index))
        return _Excluded("taken", detail=", ".join(map(str, left)), cause=left)
    if candidate.device.consumes_counters and not holdings.ledger.charge(candidate):
        sets = (each.counter_set for each in candidate.device.consumes_counters)
        return _Excluded("counters", detail=", ".join(sets))
    if way.tainted & bit:
        return _Excluded("taint", detail=_taint_text(way, candidate))
    return None


def _taint_text(way: Alternative, candidate: Candidate) -> str:
    taint = untolerated_device_taint(candidate.device.taints, way.spec.tolerations)
    if taint is None:
        return "a taint"
    text = (
        f"{taint.key}={taint.value}:{taint.effect}"
        if taint.value
        else f"{taint.key}:{taint.effect}"
    )
    return f"{text} {OF_RULE}{taint.rule})" if taint.rule else text


def _capacity_exclusion(way: Alternative, candidate: Candidate, node: NodeState) -> _Excluded:
    device = candidate.device
    for name, requested in way.spec.capacity.items():
        have = device.capacity.get(name)
        if have is None:
            near = get_close_matches(name, sorted(device.capacity), 1)
            absent = AbsentCapacity(name, near[0] if near else "")
            return _Excluded("capacity", detail=str(absent), cause=absent)
        if have.at_most is not None and have.at_most < requested:
            detail = f"{name}: requested {requested}, at most {have.at_most} allowed"
            small = SmallCapacity(name, have.at_most, requested)
            return _Excluded("capacity", detail=detail, cause=small)
        if isinstance(have.value, Quantity) and have.value < requested:
            small = SmallCapacity(name, have.value, requested)
            detail = f"{name}: {have.value}, requested {requested}"
            return _Excluded("capacity", detail=detail, cause=small)
        if consumption(device, {name: requested}, node.features) is None:
            detail = f"{name}: its request policy doesn't allow {requested}"
            return _Excluded("capacity", detail=detail)
    return _Excluded("capacity", detail="its capacity")


def _free_amounts(
    way: Alternative, candidate: Candidate, used: Mapping[str, int]
) -> tuple[FreeAmount, ...]:
    """Return the free amounts of a shared device's capacities of which a request needs more."""
    shortages: list[FreeAmount] = []
    for name, amount in way.consumptions[candidate.index]:
        whole = candidate.device.capacity[name].value
        if isinstance(whole, Quantity) and nano(whole) - used.get(name, 0) < amount:
            left = from_nano(nano(whole) - used.get(name, 0), like=whole)
            shortages.append(FreeAmount(name, left, whole, from_nano(amount, like=whole)))
    return tuple(shortages)


def _by_request(
    constraint: DeviceConstraint, left: Mapping[str, int], node: NodeState
) -> tuple[tuple[str, tuple[tuple[str, int], ...]], ...]:
    """Return the number of devices of each request in a constraint, by value of its attribute."""
    name = constraint.match_attribute or constraint.distinct_attribute or ""
    found: dict[str, Counter[str]] = {}
    covered = [each for each in left if not constraint.requests or each in constraint.requests]
    for request in covered:
        for candidate in _of(left[request], node.template.candidates):
            value = lookup_attribute(candidate, name)
            if value is not None and not (isinstance(value, Unknown) and not value.group):
                found.setdefault(_value_text(value), Counter())[request] += 1
    return tuple(
        (value, tuple((each, counts[each]) for each in covered)) for value, counts in found.items()
    )


def _value_text(value: AttributeValue) -> str:
    return f"group {value.group}" if isinstance(value, Unknown) else str(value)


def _report_constraint(
    constraint: DeviceConstraint, by_name: Mapping[str, int], node: NodeState
) -> ConstraintReport:
    name = constraint.match_attribute or constraint.distinct_attribute or ""
    groups: Counter[str] = Counter()
    without = unknown = left = 0
    for bits in by_name.values():
        left |= bits
    for candidate in _of(left, node.template.candidates):
        value = lookup_attribute(candidate, name)
        if value is None:
            without += 1
        elif isinstance(value, Unknown) and not value.group:
            unknown += 1
        else:
            groups[_value_text(value)] += 1
    by_request = _by_request(constraint, by_name, node)
    listed = tuple(groups.most_common())
    devices = list(_of(left, node.template.candidates))
    similar = "" if groups or unknown else similar_attribute(name, devices)
    return ConstraintReport(constraint, listed, without, unknown, by_request, similar)


def _of(bits: int, candidates: Sequence[Candidate]) -> Iterable[Candidate]:
    return (c for c in candidates if c.bit & bits)


class NodeExplanation(Struct, frozen=True):
    """The search for one pod on one node: the verdict, the results of the other filters, and each
    claim.

    `claims` counts devices before the pod is placed. `picks` are the devices that the pod would
    get, by claim and request.
    """

    node: str
    verdict: Answer
    misfit: Misfit | None
    claims: tuple[ClaimReport, ...]
    picks: tuple[tuple[str, str, DeviceId], ...] = ()


def explain(shape: Shape, node: NodeState) -> NodeExplanation:
    """Return the search as a tree of counts, for pods that fit and pods that don't."""
    verdict = place(shape, node)
    misfit = verdict.misfit if isinstance(verdict, Refusal) else None
    known = all(
        way.device_class_name in node.template.classes
        for claim in shape.claims
        for request in claim.spec.requests
        for way in request.alternatives
    )
    plan = plan_for(shape, searched_claims(shape, node), node.template) if known else None
    picks: tuple[tuple[str, str, DeviceId], ...] = ()
    if isinstance(verdict, Placement):
        candidates = node.template.candidates
        picks = tuple(
            (got.name, p.request, candidates[p.index].id)
            for got in verdict.picks
            for p in got.picks
        )
    return NodeExplanation(
        node.node.name, verdict, misfit, report_claims(plan, node) if plan else (), picks
    )
