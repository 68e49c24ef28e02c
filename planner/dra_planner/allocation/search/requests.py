"""A claim prepared for the search on one node: the possible devices of each request, and its
errors.

Source of the behavior: kubernetes/dynamic-resource-allocation:structured/internal/*/allocator_*.go
(Allocate, validateDeviceRequest, isSelectable) @v0.34.9, v0.35.6, v0.36.3 and v0.37.2.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from dra_planner.allocation.node.selectors import tolerates, untolerated_device_taint
from dra_planner.allocation.node.template import Template
from dra_planner.allocation.search.attempt_errors import AttemptError
from dra_planner.allocation.search.capacity import (
    CapacityError,
    Consumption,
    UnknownCapacity,
    consumption,
    fits,
)
from dra_planner.allocation.search.constraints import Reading, lookup_attribute
from dra_planner.allocation.search.counters import draws_of
from dra_planner.allocation.search.devices import Candidate, indexes
from dra_planner.allocation.search.selection import (
    OwnedSelector,
    Selection,
    SelectorError,
    select,
    terms_of,
)
from dra_planner.model import AttributeValue, ClaimSpec, DeviceRequest, ExactDeviceRequest
from dra_planner.releases import Features

MAX_DEVICES = 32  # maximum number of allocation results in a claim


class Alternative(Struct, eq=False):
    """One alternative of a request: the request itself, or one entry of `firstAvailable` (`sub` is
    its name).

    Sets of devices are integers over the template's candidates. `fault` is an error that ends the
    attempt regardless of the devices. `all_fault` is an error that ends the attempt because this
    alternative requests all devices.
    """

    claim: str
    request: str
    sub: str
    spec: ExactDeviceRequest
    fault: str = ""
    all_fault: AttemptError | None = None
    selection: Selection = field(default_factory=Selection)
    errors: dict[int, AttemptError] = {}
    erring: int = 0
    broken: int = 0  # devices on which the selector fails, regardless of whether they are in use
    roomy: int = 0  # devices that have enough capacity if they aren't in use
    tainted: int = 0
    consumptions: dict[int, Consumption] = {}

    @property
    def takes_all(self) -> bool:
        return self.spec.allocation_mode == "All"

    @property
    def label(self) -> str:
        """The name of the request in allocation results."""
        return f"{self.request}/{self.sub}" if self.sub else self.request

    def matching(self, reading: Reading) -> int:
        """Return the devices that match the selectors and could ever satisfy the request, as a set
        of bits.
        """
        matched = self.selection.matched
        if reading == "optimistic":
            matched |= self.selection.unknown
        return matched & self.roomy


class PlannedRequest(Struct, eq=False):
    """A request and its alternatives, in order of preference."""

    name: str
    alternatives: tuple[Alternative, ...]
    has_subrequests: bool
    fault: str = ""


class PlannedClaim(Struct, eq=False):
    """A claim in the form for the search. `name` is "namespace/name"."""

    name: str
    spec: ClaimSpec
    requests: tuple[PlannedRequest, ...]
    fault: str = ""


class PlannedClaims(Struct, eq=False):
    """All claims of one pod on one node. `twins[i]` is the set of devices that these claims can't
    distinguish from device i.
    """

    claims: tuple[PlannedClaim, ...]
    twins: tuple[int, ...]
    doubtful: bool  # an unknown result might be an error
    draws_counters: bool
    shares_devices: bool
    # the number of devices that a request can choose from, or the devices that `All` includes
    number_is_unknown: bool
    # for "all devices" with a constraint: the first device determines whether the result is a
    # failure or an error
    order_shows: bool
    bounds: tuple[
        tuple[int, int], ...
        # (devices that can satisfy a request, number of devices that the request needs); only if no
        # selector fails
    ]
    # results for equal claims, by the devices that were already in use
    searches: dict[Hashable, Any] = {}

    def exceeds(self, taken: int) -> bool:
        """Return True if too few devices are free for some request, so that a search
        can't succeed.
        """
        return any((devices & ~taken).bit_count() < count for devices, count in self.bounds)


def plan_claims(claims: Sequence[tuple[str, ClaimSpec]], template: Template) -> PlannedClaims:
    """Return the claims prepared for the search. `claims` are names and specs, in the order of the
    pod's entries.
    """
    planned = tuple(_plan_claim(name, spec, template) for name, spec in claims)
    searched = [c for c in template.candidates if c.bit & template.searched]
    alternatives = [a for claim in planned for r in claim.requests for a in r.alternatives]
    number_is_unknown = _number_is_unknown(alternatives, searched)
    attributes = {
        c.match_attribute or c.distinct_attribute or ""
        for claim in planned
        for c in claim.spec.constraints
    }
    return PlannedClaims(
        claims=planned,
        twins=_find_twins(searched, alternatives, sorted(attributes), template),
        doubtful=any(a.selection.doubtful for a in alternatives),
        draws_counters=any(c.device.consumes_counters for c in searched),
        shares_devices=any(c.shareable for c in searched),
        number_is_unknown=number_is_unknown,
        order_shows=any(
            way.takes_all
            for claim in planned
            for r in claim.requests
            if claim.spec.constraints
            or (r.has_subrequests and template.behaviour.slips_to_first_alternative)
            for way in r.alternatives
        ),
        bounds=() if number_is_unknown else _bounds(planned, alternatives),
    )


def _number_is_unknown(alternatives: Sequence[Alternative], searched: Sequence[Candidate]) -> bool:
    """Return True if the unknown number of some devices matters: for `All`, and for requests of
    more devices than predicted.
    """
    several = sum(c.bit for c in searched if c.device.may_be_several)
    left_open = [(a, a.selection.unknown & a.roomy) for a in alternatives]
    wanted = sum(a.spec.count for a, devices in left_open if devices & several)
    return wanted > several.bit_count() or any(a.takes_all and devices for a, devices in left_open)


def _bounds(
    claims: Sequence[PlannedClaim], alternatives: Sequence[Alternative]
) -> tuple[tuple[int, int], ...]:
    if any(c.fault or any(r.fault for r in c.requests) for c in claims):
        return ()
    if any(a.fault or a.takes_all or a.erring or a.spec.count > MAX_DEVICES for a in alternatives):
        return ()
    if any(
        sum(min(a.spec.count for a in r.alternatives) for r in c.requests) > MAX_DEVICES
        for c in claims
    ):
        return ()
    return tuple(
        (r.alternatives[0].matching("optimistic"), r.alternatives[0].spec.count)
        for c in claims
        for r in c.requests
        if not r.has_subrequests and not r.alternatives[0].spec.admin_access
    )


def _plan_claim(name: str, spec: ClaimSpec, template: Template) -> PlannedClaim:
    requests = []
    for request in spec.requests:
        ways: list[Alternative] = []
        for sub, way in _ways(request):
            mistaken = (
                template.features.borrows_outcomes_of_all and len(ways) == 1 and ways[0].takes_all
            )
            borrowed = ways[0].selection if mistaken and way.allocation_mode == "All" else None
            ways.append(
                _plan_alternative(Alternative(name, request.name, sub, way), template, borrowed)
            )
        fault = _request_fault(name, request, template)
        requests.append(
            PlannedRequest(request.name, tuple(ways), bool(request.first_available), fault)
        )
    return PlannedClaim(name, spec, tuple(requests), _claim_fault(name, spec, template))


def _ways(request: DeviceRequest) -> Iterator[tuple[str, ExactDeviceRequest]]:
    if request.exactly is not None:
        yield "", request.exactly
    for sub in request.first_available:
        yield sub.name, sub


def _claim_fault(name: str, spec: ClaimSpec, template: Template) -> str:
    for number, constraint in enumerate(spec.constraints):
        known = constraint.distinct_attribute is not None and not template.behaviour.plain
        if constraint.match_attribute is None and not known:
            return (
                f"claim {name}, constraint #{number}: empty constraint (unsupported constraint "
                "type?)"
            )
    return ""


def _request_fault(claim: str, request: DeviceRequest, template: Template) -> str:
    """Return an error that ends the attempt regardless of the devices: the request needs a disabled
    feature.
    """
    features, whole = template.features, f"claim {claim}, request {request.name}"
    if request.first_available and not features.prioritized_list:
        return f"{whole}: has subrequests, but the DRAPrioritizedList feature is disabled"
    if features.consumable_capacity or template.behaviour.plain:
        return ""
    for sub, way in _ways(request):
        if way.capacity:
            subject = (
                f"claim {claim}, subrequest {sub}" if sub and features.names_subrequests else whole
            )
            return (
                f"{subject}: has capacity requests, but the DRAConsumableCapacity feature is "
                "disabled"
            )
    return ""


def _plan_alternative(
    way: Alternative, template: Template, borrowed: Selection | None
) -> Alternative:
    """Return the devices that the alternative can use. `borrowed` are outcomes that replace
    the outcomes of its selectors.
    """
    way.fault = _static_fault(way, template)
    if way.fault:
        return way
    features = template.features
    searched = [c for c in template.candidates if c.bit & template.searched]
    if borrowed is None:
        way.selection = _select(
            terms_of(template.classes[way.spec.device_class_name], way.spec.selectors), template
        )
        for index, error in way.selection.errors.items():
            way.errors[index] = _selector_error(way, error, template.candidates[index], features)
    else:
        way.selection = borrowed
    _weigh_capacity(way, searched, template)
    if features.device_taints:
        way.tainted = sum(
            c.bit for c in searched if c.device.taints and _is_tainted(c, way, template)
        )
    way.errors |= {index: AttemptError(text) for index, text in template.broken.items()}
    way.erring = sum(1 << index for index in way.errors)
    way.broken = sum(1 << index for index in template.broken)
    if way.takes_all:
        way.all_fault = _all_fault(way, template)
    return way


def _select(terms: tuple[OwnedSelector, ...], template: Template) -> Selection:
    """Return the selectors' outcomes for every device of the node, computed once per template.
    Callers must not change the result.
    """
    known: dict[tuple[OwnedSelector, ...], Selection] = template.memory.setdefault("selections", {})
    selection = known.get(terms)
    if selection is None:
        bindings = template.features.binding_conditions
        selectable = [
            c
            for c in template.candidates
            if c.bit & template.searched
            and c.index not in template.broken
            and (bindings or not c.device.binding_conditions)
        ]
        selection = known[terms] = select(
            terms, selectable, template.features, template.memory.setdefault("views", {})
        )
    return selection


def _static_fault(way: Alternative, template: Template) -> str:
    features, spec = template.features, way.spec
    name = way.sub or way.request
    if not spec.device_class_name:
        return (
            f"claim {way.claim}, request {name}: missing device class name (unsupported request "
            "type?)"
        )
    if spec.admin_access and not features.admin_access:
        return (
            f"claim {way.claim}, request {name}: admin access is requested, but the feature is "
            "disabled"
        )
    if spec.device_class_name not in template.classes:
        return (
            f"claim {way.claim}, request {name}: could not retrieve device class "
            f"{spec.device_class_name}: "
            f'deviceclass.resource.k8s.io "{spec.device_class_name}" not found'
        )
    return ""


def _selector_error(
    way: Alternative, error: SelectorError, candidate: Candidate, features: Features
) -> AttemptError:
    term = error.term
    subject = f"class {term.owner}" if term.owner else f"claim {way.claim}"
    named = features.names_device_in_errors and error.stage == "runtime"
    device = f" on device {candidate.id}" if named else ""
    return AttemptError(
        f"{subject}: selector #{term.position}{device}: {error}",
        kind="selector",
        claim=way.claim,
        request=way.label,
        selector=error,
        device=candidate.id,
    )


def _weigh_capacity(way: Alternative, searched: Sequence[Candidate], template: Template) -> None:
    if not template.features.consumable_capacity:
        way.roomy = template.searched
        return
    interesting = way.selection.matched | way.selection.unknown
    for candidate in searched:
        if not candidate.bit & interesting:
            continue
        try:
            taken = consumption(candidate.device, way.spec.capacity, template.features)
        except UnknownCapacity as unknown:
            _leave_open(way, candidate, f"capacity {unknown} is known only at run time")
            continue
        except CapacityError as error:
            where = candidate.id.device if way.takes_all else str(candidate.id)
            name = way.sub or way.request
            way.errors[candidate.index] = AttemptError(
                f"claim {way.claim}, request {name}: checking capacity for device {where}: {error}"
            )
            continue
        if taken is not None and fits(candidate.device, {}, taken):
            way.consumptions[candidate.index] = taken
            way.roomy |= candidate.bit


def _leave_open(way: Alternative, candidate: Candidate, message: str) -> None:
    """Return True for a device that matches the selectors, but for which it's unknown whether its
    capacity is sufficient.
    """
    known = way.selection
    way.selection = replace(
        known,
        matched=known.matched & ~candidate.bit,
        unknown=known.unknown | candidate.bit,
        unknowns={candidate.index: (None, message), **known.unknowns},
    )
    way.consumptions[candidate.index] = ()
    way.roomy |= candidate.bit


def _is_tainted(candidate: Candidate, way: Alternative, template: Template) -> bool:
    taints = candidate.device.taints
    if template.behaviour.every_taint_counts:
        return any(not any(tolerates(t, taint) for t in way.spec.tolerations) for taint in taints)
    return untolerated_device_taint(taints, way.spec.tolerations) is not None


def _all_fault(way: Alternative, template: Template) -> AttemptError | None:
    """Return the first reason why "all devices" is unknown, in the order of the pools, or None."""
    name = way.sub or way.request
    prefix = f"claim {way.claim}, request {name}: asks for all devices, but resource pool"
    for pool, bits in zip(template.pools, template.pool_bits, strict=True):
        if pool.incomplete:
            return AttemptError(f"{prefix} {pool.id} is currently being updated", "pool-unusable")
        if pool.invalid:
            return AttemptError(f"{prefix} {pool.id} is currently invalid", "pool-unusable")
        erring = bits & way.erring
        if erring:
            return way.errors[(erring & -erring).bit_length() - 1]
    return None


def _typed(value: AttributeValue | None) -> tuple[object, ...]:
    """Return a value that equals only values of the same type, so that True doesn't equal 1."""
    return tuple((type(v), v) for v in value) if isinstance(value, tuple) else (type(value), value)


def _find_twins(
    searched: Sequence[Candidate],
    alternatives: Sequence[Alternative],
    attributes: Sequence[str],
    template: Template,
) -> tuple[int, ...]:
    """Return, for each device, the devices with equal use that alternatives and constraints can't
    distinguish from it.
    """
    groups: Iterable[int] = _kinds_of_devices(searched, template)
    for bits in {
        b
        for a in alternatives
        for b in (a.selection.matched, a.selection.unknown, a.erring, a.tainted)
    }:
        groups = [part for group in groups for part in (group & bits, group & ~bits) if part]
    properties: list[Mapping[int, object]] = [
        a.consumptions for a in alternatives if a.consumptions
    ]
    properties += [
        {c.index: _typed(lookup_attribute(c, name)) for c in searched} for name in attributes
    ]
    for values in properties:
        groups = [
            part
            for group in groups
            for part in (_split(group, values) if group & (group - 1) else (group,))
        ]
    twins = [0] * len(searched)
    for group in groups:
        for index in indexes(group):
            twins[index] = group
    return tuple(twins)


def _split(group: int, values: Mapping[int, object]) -> Collection[int]:
    """Split the devices of a group into groups of equal values."""
    alike: dict[object, int] = {}
    for index in indexes(group):
        value = values.get(index)
        alike[value] = alike.get(value, 0) | 1 << index
    return alike.values()


def _kinds_of_devices(searched: Sequence[Candidate], template: Template) -> Collection[int]:
    """Return the sets of devices that claims distinguish only through their selectors, computed
    once per template.
    """
    kinds: dict[object, int] | None = template.memory.get("kinds of devices")
    if kinds is None:
        kinds = template.memory["kinds of devices"] = {}
        for candidate in searched:
            pool = candidate.id[:2] if candidate.device.consumes_counters else None
            key = candidate.shareable, pool, draws_of(template, candidate)
            kinds[key] = kinds.get(key, 0) | candidate.bit
    return kinds.values()
