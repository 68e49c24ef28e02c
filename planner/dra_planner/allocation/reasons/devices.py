"""Explain in words why a node's devices don't satisfy the claims of a pod."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.allocation.node.missing_devices import (
    fix_of_missing_devices,
    fix_of_other_driver,
    fix_of_plugin_devices,
)
from dra_planner.allocation.node.template import Template
from dra_planner.allocation.place import plan_for, searched_claims
from dra_planner.allocation.reasons.absent_names import sibling_attributes
from dra_planner.allocation.reasons.device_pairs import (
    constrain_pairs,
    instead_text,
    pairs_text,
)
from dra_planner.allocation.reasons.doubled_requests import without_doubled_requests
from dra_planner.allocation.reasons.explanation import (
    OF_RULE,
    AbsentCapacity,
    AlternativeReport,
    ClaimReport,
    ConstraintReport,
    SmallCapacity,
    report_claims,
)
from dra_planner.allocation.reasons.request_text import (
    limit_capacity_text,
    request_subject,
    request_text,
)
from dra_planner.allocation.reasons.selector_changes import (
    SelectorChange,
    change_selector,
    class_corrections,
    selector_changes,
)
from dra_planner.allocation.reasons.selector_error_text import request_place
from dra_planner.allocation.search.depth_first import STEP_BUDGET, search_devices
from dra_planner.allocation.search.requests import plan_claims
from dra_planner.allocation.verdicts import Refusal
from dra_planner.model import (
    CelSelector,
    ClaimSpec,
    DeviceRequest,
    ExactDeviceRequest,
    Reason,
    Shape,
    ShapeClaim,
)
from dra_planner.wording import counted, verb

_MOST_VALUES: Final = 4
_IN_USE = frozenset({"counters-exhausted", "devices-taken", "devices-short"})
"""Codes of reasons that another node of the same kind would remove."""
SOME_INSTEAD_OF_ALL: Final = "request a specific number of devices instead of all devices"
ADD_NODE_FOR_DEVICES: Final = "add a node, because the devices that would match are in use"


def device_reasons(refusal: Refusal) -> Iterable[Reason]:
    """Yield the claims, requests, and constraints that the node's devices can't satisfy, nearest
    miss first.
    """
    shape, node = refusal.shape, refusal.node
    claims = searched_claims(shape, node)
    plan = plan_for(shape, claims, node.template)
    reports = report_claims(plan, node)
    culprits = [
        (claim, report)
        for claim, report in zip(claims, reports, strict=True)
        if not _fits(shape, (claim,), refusal)
    ]
    if not culprits:
        names = ", ".join(report.claim for report in reports)
        total = sum(
            way.wanted or way.matching
            for report in reports
            for request in report.requests
            for way in request[:1]
        )
        doubled = without_doubled_requests(shape, node.template)
        larger = "use a machine type with more devices"
        yield Reason(
            code="claims-together",
            message=f"each claim fits by itself, but claims {names} don't fit together on one "
            f"node, because they request {total} devices and only {_free(refusal)}",
            fix=f"{larger}, or {doubled}" if doubled else larger,
        )
        return
    for claim, report in sorted(culprits, key=lambda c: _shortfall(c[1])):
        yield from _culprit_reasons(claim, report, refusal)


def _culprit_reasons(claim: ShapeClaim, report: ClaimReport, refusal: Refusal) -> Iterable[Reason]:
    failing = []
    for request, ways in zip(claim.spec.requests, report.requests, strict=True):
        alone = replace(claim, spec=ClaimSpec(requests=(request,)))
        if not _fits(refusal.shape, (alone,), refusal):
            failing.append((request, ways))
    for request, ways in sorted(
        failing, key=lambda each: min((w.shortfall for w in each[1]), default=0)
    ):
        results = zip(ways, request.alternatives, strict=True)
        for way, spec in sorted(results, key=lambda each: each[0].shortfall):
            trial = _SelectorTrial(claim, spec, refusal)
            yield _request_reason(report.claim, way, trial)
    if failing:
        return
    loose = replace(claim, spec=ClaimSpec(requests=claim.spec.requests))
    if claim.spec.constraints and _fits(refusal.shape, (loose,), refusal):
        for constraint in report.constraints:
            only = ClaimSpec(requests=claim.spec.requests, constraints=(constraint.constraint,))
            together = len(report.constraints) > 1
            if not together or not _fits(refusal.shape, (replace(claim, spec=only),), refusal):
                index = claim.spec.constraints.index(constraint.constraint)
                better = _pairs_fix(claim, index, refusal) or _sibling_fix(claim, index, refusal)
                yield _constraint_reason(report, constraint, better)
                return
        yield Reason(
            code="constraints-together",
            message=(
                "each constraint can be satisfied by itself, but no set of devices satisfies all "
                "constraints"
            ),
            claim=report.claim,
        )
        return
    wanted = sum(request[0].wanted or request[0].matching for request in report.requests if request)
    yield Reason(
        code="requests-together",
        message="each request fits by itself, but the whole claim doesn't fit, because it "
        f"requests {wanted} devices and only {_free(refusal)}",
        fix="use a machine type with more devices",
        claim=report.claim,
    )


def _fits(
    shape: Shape, claims: Sequence[ShapeClaim], refusal: Refusal, *, on_empty_node: bool = False
) -> bool:
    node = refusal.node
    named = [(str(c.shared or f"{shape.namespace}/{c.name}"), c.spec) for c in claims]
    plan = plan_claims(named, node.template)
    shares = {index: dict(used) for index, used in node.shares}
    taken = 0 if on_empty_node else node.taken
    shares = {} if on_empty_node else shares
    result = search_devices(
        node.template, plan, node.template.behaviour, taken, shares, budget=STEP_BUDGET // 10
    )
    return result.outcome == "found"


def _free(refusal: Refusal) -> str:
    node = refusal.node
    free = (node.template.searched & ~node.taken).bit_count()
    return f"{free} {verb(free, 'are')} free"


def _shortfall(report: ClaimReport) -> int:
    return sum(min((way.shortfall for way in request), default=0) for request in report.requests)


class _SelectorTrial(Struct, frozen=True):
    """One alternative of a request, and the effect of changes to its selectors."""

    claim: ShapeClaim
    way: ExactDeviceRequest
    refusal: Refusal

    def fix(self, *, on_empty_node: bool = False) -> SelectorChange | None:
        """Return the smallest change to one selector with which the node satisfies the request."""
        template = self.refusal.node.template
        for index, selector in enumerate(self.way.selectors):
            for change in selector_changes(
                selector.expression, self.way.device_class_name, template
            ):
                changed = replace(
                    selector, expression=change_selector(selector.expression, change.parts)
                )
                selectors = (*self.way.selectors[:index], changed, *self.way.selectors[index + 1 :])
                request = DeviceRequest(
                    name="tried", exactly=replace(self.way, selectors=selectors)
                )
                alone = replace(self.claim, spec=ClaimSpec(requests=(request,)))
                if _fits(self.refusal.shape, (alone,), self.refusal, on_empty_node=on_empty_node):
                    return change
        return self._class_fix(on_empty_node=on_empty_node)

    def _class_fix(self, *, on_empty_node: bool) -> SelectorChange | None:
        """Return the smallest correction of the request's class with which the node satisfies it.
        To try it, the request uses another class with the corrected selectors.
        """
        template, own = self.refusal.node.template, self.way.device_class_name
        for correction in class_corrections(own, template):
            added = tuple(CelSelector(each) for each in correction.expressions)
            for name in sorted(template.classes.keys() - {own}):
                selectors = (*added, *self.way.selectors)
                way = replace(self.way, device_class_name=name, selectors=selectors)
                request = DeviceRequest(name="tried", exactly=way)
                alone = replace(self.claim, spec=ClaimSpec(requests=(request,)))
                if _fits(self.refusal.shape, (alone,), self.refusal, on_empty_node=on_empty_node):
                    return correction.change
        return None


def _request_reason(claim: str, way: AlternativeReport, trial: _SelectorTrial) -> Reason:
    template = trial.refusal.node.template
    code, fix = _diagnose(way, template)
    needs_another_node = code in _IN_USE
    change = trial.fix() if code == "selector-mismatch" else None
    if code == "selector-mismatch":
        other_driver = fix_of_other_driver(trial.way.device_class_name, template)
        fix = other_driver if change is None else change.text
        if change is None and (later := trial.fix(on_empty_node=True)) is not None:
            change, needs_another_node = later, True
            fix = f"{later.text}, and {ADD_NODE_FOR_DEVICES}"
    if code == "capacity-too-large" and (small := _largest_capacity(way)) is not None:
        names = [each.name for each in trial.refusal.shape.claims]
        where = request_place(trial.refusal.shape, names.index(trial.claim.name), way.request)
        less = limit_capacity_text(small.name, small.most, small.requested, where)
        fix = f"{less}, or use larger devices"
    if code == "devices-taken" and (split := _split_request(way)):
        fix = f"{split}, or {fix}"
    requests = trial.claim.spec.requests
    is_only = len(requests) == 1 and requests[0].exactly is not None
    refusal = trial.refusal
    message = request_text(
        way,
        trial.way.device_class_name,
        refusal.shape,
        refusal.node.template,
        is_only_request=is_only,
    )
    if not way.seen and (plugin := _plugin_resources(trial.refusal)):
        subject = request_subject(way, is_only_request=is_only)
        message = (
            f"{subject}, but a device plugin allocates the node's devices ({', '.join(plugin)})"
        )
        fix, needs_another_node = fix_of_plugin_devices(template), False
    if code == "all-overlap":
        subject = request_subject(way, is_only_request=is_only)
        message = (
            f"{subject}, and {way.left} of the node's {way.seen} devices match, but they're "
            "partitions of the same hardware, so they can't all be allocated"
        )
    changes = () if change is None else change.parts
    return Reason(
        code=code,
        message=message,
        details=_details(code, refusal),
        fix=fix,
        claim=claim,
        request=way.request,
        changes=changes,
        needs_another_node=needs_another_node,
        is_conditional=change is not None and change.is_conditional,
    )


def _details(code: str, refusal: Refusal) -> str:
    """Return why a setting of the pod doesn't help, or ""."""
    pod, template = refusal.shape.pod, refusal.node.template
    if code == "devices-taken" and pod.priority > 0 and template.is_observed:
        return "Preemption doesn't free devices, regardless of the pod's priority"
    if code == "device-taint":
        taints = {taint.key for each in template.candidates for taint in each.device.taints}
        if any(each.key in taints for each in pod.tolerations):
            return "The pod's tolerations apply only to taints of nodes"
    return ""


def _plugin_resources(refusal: Refusal) -> list[str]:
    allocatable = refusal.node.node.allocatable
    return sorted(name for name, amount in allocatable.items() if "/" in name and amount)


def _split_request(way: AlternativeReport) -> str:
    """Return the amount of a capacity that one request can still get, if devices have some left.
    Otherwise, return "".
    """
    amounts = [
        (each.cause[0], each.count)
        for each in way.exclusions
        if isinstance(each.cause, tuple) and len(each.cause) == 1
    ]
    if not any(free.left.sign > 0 for free, _ in amounts):
        return ""
    most, _ = max(amounts, key=lambda each: each[0].left.as_float())
    text = f"request at most {most.left} {most.name}, because each request uses one device"
    together = sum(free.left.as_float() * count for free, count in amounts)
    if together >= most.requested.as_float() > most.left.as_float():
        text += ", or split it into several smaller requests"
    return text


def _largest_capacity(way: AlternativeReport) -> SmallCapacity | None:
    """Return the largest capacity of the devices, or None if they're excluded for other reasons
    than the same capacity.
    """
    causes = [each.cause for each in way.exclusions if each.step == "capacity"]
    small = [each for each in causes if isinstance(each, SmallCapacity)]
    if len(small) < len(causes) or len({each.name for each in small}) != 1:
        return None
    return max(small, key=lambda each: each.most.as_float())


def _diagnose(way: AlternativeReport, template: Template) -> tuple[str, str]:
    by_step = {e.step: e for e in reversed(way.exclusions)}
    if way.seen == 0:
        return "no-devices", fix_of_missing_devices(template)
    if way.matching == 0 and "capacity" in by_step:
        causes = [each.cause for each in way.exclusions if each.step == "capacity"]
        absent = [each for each in causes if isinstance(each, AbsentCapacity)]
        if len(absent) == len(causes):
            first = absent[0]
            if first.similar and len(set(absent)) == 1:
                fix = f'request the capacity "{first.similar}" instead of "{first.name}"'
                return "capacity-too-large", fix
            fix = "request a capacity that these devices publish, or remove the capacity request"
            return "capacity-too-large", fix
        return "capacity-too-large", "request less capacity, or use larger devices"
    if way.matching == 0:
        return "selector-mismatch", ""
    if way.wanted is None and way.left == way.matching:  # each one fits, but not all together
        return "all-overlap", SOME_INSTEAD_OF_ALL
    if way.wanted is not None and way.wanted > way.matching:
        matching = f"{counted(way.matching, 'device')} that {verb(way.matching, 'match')}"
        return (
            "count-too-large",
            f"request at most {counted(way.matching, 'device')}, because a node has {matching}",
        )
    if "taint" in by_step and by_step["taint"].count >= way.shortfall:
        taint = by_step["taint"].detail
        if template.is_observed and OF_RULE not in taint:  # users can't remove a driver's taint
            return (
                "device-taint",
                "repair the devices, so that the driver removes the taint, or add a toleration "
                f"for the device taint {taint} to the request",
            )
        return (
            "device-taint",
            f"add a toleration for the device taint {taint} to the request, or remove the taint",
        )
    if "counters" in by_step and "taken" not in by_step:
        return (
            "counters-exhausted",
            "add a node, because the partitions share hardware that is in use",
        )
    if "taken" in by_step or "counters" in by_step:
        return "devices-taken", "add a node"
    return "devices-short", "add a node"


def _covers_several(report: ConstraintReport) -> bool:
    return any(len(counts) > 1 for _, counts in report.by_request)


def _unpaired_reason(claim: ClaimReport, report: ConstraintReport, name: str) -> Reason:
    """Return why the devices of several requests never have the same value, with the number of
    devices by value for each request.
    """
    wanted = {ways[0].request: ways[0].wanted or 1 for ways in claim.requests if ways}
    values = [(value, dict(counts)) for value, counts in report.by_request]
    listed = "; ".join(
        f"{value}: {', '.join(f'{count} for {request}' for request, count in counts.items())}"
        for value, counts in values[:_MOST_VALUES]
    )
    message = f"no value of {name} is shared by enough free devices for every request: {listed}"
    if report.without:
        message += (
            f"; {counted(report.without, 'device')} {verb(report.without, 'do')}n't publish {name}"
        )
    lacking: list[tuple[int, int, str, dict[str, int]]] = []
    for value, counts in values:
        missing = {
            each: wanted.get(each, 1) - have
            for each, have in counts.items()
            if have < wanted.get(each, 1)
        }
        if missing:  # later requests of a claim are grouped with earlier ones
            lacking.append(
                (sum(missing.values()), -list(counts).index(next(iter(missing))), value, missing)
            )
    _, _, value, missing = min(
        lacking, key=lambda each: each[:3], default=(0, 0, "", dict[str, int]())
    )
    more = " and ".join(
        f"{counted(number, 'more device')} for request {each}" for each, number in missing.items()
    )
    add = f"add {more} with {name} {value}, or " if more else ""
    return Reason(
        code="match-attribute",
        message=message,
        fix=f"{add}remove the constraint on {name}",
        claim=claim.claim,
    )


def _pairs_fix(claim: ShapeClaim, index: int, refusal: Refusal) -> str:
    """Return the fix that splits a constraint into one for each group of devices, if the claim then
    fits, or "".
    """
    text = pairs_text(claim.name, claim.spec, index)
    split = replace(claim, spec=constrain_pairs(claim.spec, index)) if text else claim
    return text if text and _fits(refusal.shape, (split,), refusal) else ""


def _sibling_fix(claim: ShapeClaim, index: int, refusal: Refusal) -> str:
    """Return the fix that compares an attribute of larger groups instead, with which the claim
    fits, or "".
    """
    constraint = claim.spec.constraints[index]
    name = constraint.match_attribute
    if not name:
        return ""
    template = refusal.node.template
    devices = [each for each in template.candidates if each.bit & template.searched]
    for other in sibling_attributes(name, devices):
        constraints = list(claim.spec.constraints)
        constraints[index] = replace(constraint, match_attribute=other)
        spec = replace(claim.spec, constraints=tuple(constraints))
        if _fits(refusal.shape, (replace(claim, spec=spec),), refusal):
            return instead_text(other, name, claim.name)
    return ""


def attribute_of(report: ConstraintReport) -> str:
    """Return the name of the attribute that a constraint compares."""
    return report.constraint.match_attribute or report.constraint.distinct_attribute or ""


def _constraint_reason(claim: ClaimReport, report: ConstraintReport, better: str) -> Reason:
    """Return why devices don't satisfy a constraint. `better` is a fix for another constraint, or
    "".
    """
    name = attribute_of(report)
    if report.constraint.match_attribute and _covers_several(report):
        reason = _unpaired_reason(claim, report, name)
        return replace(reason, fix=better) if better else reason
    groups = ", ".join(f"{count} with {value}" for value, count in report.groups[:6])
    found = f" ({groups})" if groups else ""
    without = (
        f", and {counted(report.without, 'device')} {verb(report.without, 'do')}n't publish it"
        if report.without and groups
        else ""
    )
    if not groups:
        hint = f"; a similar attribute is {report.similar}" if report.similar else ""
        kind = "matchAttribute" if report.constraint.match_attribute else "distinctAttribute"
        return Reason(
            code="match-attribute" if report.constraint.match_attribute else "distinct-attribute",
            message=f"no free device publishes {name}, which the claim's {kind} constraint "
            f"requires{hint}",
            claim=claim.claim,
        )
    wanted = sum(ways[0].wanted or ways[0].matching for ways in claim.requests if ways)
    if report.constraint.match_attribute:
        largest = report.groups[0][1] if report.groups else 0
        # each request needs at least one device
        can_be_fewer = len(claim.requests) <= largest < wanted
        return Reason(
            code="match-attribute",
            message=f"not enough free devices share one value of {name}{found}{without}",
            fix=better
            or (
                f"request at most {counted(largest, 'device')} with the same {name}"
                if can_be_fewer
                else ""
            ),
            claim=claim.claim,
        )
    return Reason(
        code="distinct-attribute",
        message=f"not enough free devices have distinct values of {name}{found}{without}",
        claim=claim.claim,
    )
