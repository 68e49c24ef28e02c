"""Explain in words why a pod isn't placed on a node, with fixes."""

from __future__ import annotations

from msgspec.structs import replace

from dra_planner.allocation.node.missing_devices import unusable_pools
from dra_planner.allocation.place import place, plan_for, searched_claims
from dra_planner.allocation.reasons.applied_edits import apply_edits
from dra_planner.allocation.reasons.devices import (
    SOME_INSTEAD_OF_ALL,
    attribute_of,
    device_reasons,
)
from dra_planner.allocation.reasons.edits import Edit
from dra_planner.allocation.reasons.explanation import (
    AlternativeReport,
    ClaimReport,
    Exclusion,
    report_claims,
)
from dra_planner.allocation.reasons.nodes import misfit_reasons, unknown_label_reason
from dra_planner.allocation.reasons.selector_error_text import (
    guard_of_driver,
    selector_error_text,
)
from dra_planner.allocation.reasons.suggestions import suggest_edits
from dra_planner.allocation.search.attempt_errors import AttemptError
from dra_planner.allocation.search.requests import MAX_DEVICES
from dra_planner.allocation.search.selection import fix_of
from dra_planner.allocation.verdicts import Refusal, Undecided
from dra_planner.model import Reason, Shape
from dra_planner.wording import counted, listed, named, verb

_OF_CONSTRAINTS = frozenset({"match-attribute", "distinct-attribute"})
_COMPUTE = frozenset({"cpu", "memory", "ephemeral-storage"})
_PATCH_NOTE = "because of a known defect, the result might depend on the patch version ({})"


def reasons_of(answer: Refusal | Undecided) -> tuple[Reason, ...]:
    """Return the reasons why a pod wasn't placed on a node, nearest miss first. The result is never
    empty.
    """
    return _refusal_reasons(answer) if isinstance(answer, Refusal) else _open_questions(answer)


def _refusal_reasons(refusal: Refusal) -> tuple[Reason, ...]:
    if refusal.kind == "filter" and refusal.misfit is not None:
        return (*_hidden_device_reasons(refusal), *misfit_reasons(refusal.misfit, refusal))
    if refusal.kind == "claim":
        return (_claim_reason(refusal),)
    if refusal.kind == "error":
        return (_noted(_error_reason(refusal), refusal),)
    template = refusal.node.template
    unusable = unusable_pools(template.pools)
    has_devices = bool(template.searched) or not unusable
    reasons = [*(device_reasons(refusal) if has_devices else ()), *unusable]
    return tuple(_noted(_with_edits(reason, refusal), refusal) for reason in reasons)


def _with_edits(reason: Reason, refusal: Refusal) -> Reason:
    """Return the reason, with the smallest change as the fix if no device satisfies a constraint
    and the reason doesn't have a fix.
    """
    if reason.fix or reason.code not in _OF_CONSTRAINTS:
        return reason
    return replace(reason, fix=" and ".join(edit.text for edit in suggest_edits(refusal)))


def _hidden_device_reasons(refusal: Refusal) -> tuple[Reason, ...]:
    """Return why the devices of a machine type with too little CPU or memory don't fit either.

    The scheduler stops before it checks the devices, so a smaller request would only lead to the
    next reason.
    """
    shape, node, misfit = refusal.shape, refusal.node, refusal.misfit
    assert misfit is not None  # only for refusals of the kind "filter"
    short = [
        name
        for name, requested, _ in misfit.shortages
        if requested > node.node.allocatable.get(name, 0)
    ]
    if misfit.filter != "resources" or not shape.claims or set(short) - _COMPUTE or not short:
        return ()
    edits = [Edit("lower-resource", "", name=name, value=0) for name in short]
    answer = place(apply_edits(edits, shape), node)
    if not isinstance(answer, Refusal) or answer.kind != "devices":
        return ()
    return tuple(device_reasons(answer))


def _open_questions(undecided: Undecided) -> tuple[Reason, ...]:
    shape, node = undecided.shape, undecided.node
    if undecided.kind == "effort":
        return (
            Reason(
                code="search-too-long",
                message=f"the search gave up after {undecided.steps} devices without a result, so "
                "the scheduler might also reach its 10-second timeout",
                fix="request fewer devices per claim, or narrow the selectors",
            ),
        )
    if undecided.kind == "volume":
        names = named("volume", [f'"{each}"' for each in undecided.details])
        return (
            Reason(
                code="zonal-volume",
                message=f"the zone of {names} is known only at run time, so the plan can't tell which "
                "nodes can mount it",
                fix="add manifests for the PersistentVolumeClaim and its PersistentVolume, or for "
                "a StorageClass with volumeBindingMode: WaitForFirstConsumer",
            ),
        )
    if undecided.kind == "driver":
        return (
            Reason(
                code="driver-not-known",
                message=(
                    f"the plan can't tell whether the pool's nodes publish devices: {undecided.details[0]}"
                ),
                fix="set the pool's image.driverRoot to the folder of the NVIDIA driver in "
                "the image",
            ),
        )
    if undecided.kind in ("estimate", "label"):
        return (_prediction_reason(undecided),)
    plan = plan_for(shape, searched_claims(shape, node), node.template)
    reasons = []
    for claim in report_claims(plan, node):
        for request in claim.requests:
            for way in request:
                reasons += [
                    _unknown_reason(claim, way, e) for e in way.exclusions if e.step == "unknown"
                ]
        for constraint in claim.constraints:
            if constraint.unknown:
                name = attribute_of(constraint)
                reasons.append(
                    Reason(
                        code="attribute-unknown",
                        message=f"the value of {name} on {counted(constraint.unknown, 'device')} "
                        "is known only at run time",
                        claim=claim.claim,
                    )
                )
    depends = Reason(
        code="attribute-unknown",
        message="the result depends on a value that is known only at run time",
    )
    return tuple(reasons) or (depends,)


def _prediction_reason(undecided: Undecided) -> Reason:
    names = ", ".join(undecided.details)
    if undecided.kind == "estimate":
        return Reason(
            code="estimate-too-close",
            message=f"by a conservative estimate, a node has too little {names}, but a real node "
            "might have enough",
            fix=f"request less {names}, or measure one node and plan with --observed",
        )
    return unknown_label_reason(undecided.details, undecided.shape)


def _unknown_reason(claim: ClaimReport, way: AlternativeReport, exclusion: Exclusion) -> Reason:
    expression = f" `{exclusion.term.expression}`" if exclusion.term else ""
    return Reason(
        code="selector-unknown",
        message=f"the plan can't tell whether {counted(exclusion.count, 'device')} "
        f"{verb(exclusion.count, 'match')}{expression}, because {_cause(exclusion.detail)}",
        fix="plan with --observed after the first node publishes its devices, or remove this "
        "condition",
        claim=claim.claim,
        request=way.request,
    )


def _cause(detail: str) -> str:
    """Return the clause for why the result of a selector is unknown."""
    later, _, names = detail.partition(": ")
    if later != "known only at run time":
        return detail
    found = names.split(", ")
    return f"{listed(found)} {verb(len(found), 'are')} known only at run time"


def _noted(reason: Reason, refusal: Refusal) -> Reason:
    if not refusal.may:
        return reason
    note = _PATCH_NOTE.format(", ".join(sorted(refusal.may)))
    return replace(reason, message=f"{reason.message}; {note}")


def _claim_reason(refusal: Refusal) -> Reason:
    if refusal.shape.pod.scheduling_gates:
        return Reason(
            code="scheduling-gated",
            message=f"the pod has {refusal.message}, so the scheduler doesn't place it",
            fix="remove these gates from spec.schedulingGates, so that the scheduler can "
            "place the pod",
        )
    if refusal.message.endswith("does not exist"):
        return Reason(
            code="class-missing",
            message=refusal.message,
            fix="create the DeviceClass, or correct deviceClassName",
        )
    if refusal.fix:
        return Reason(
            code="claim-not-prepared", message=refusal.message, fix=refusal.fix, claim=refusal.claim
        )
    return Reason(
        code="claim-elsewhere",
        message=f"{refusal.message}, so the pods that share the claim must run on that node",
        fix="give each pod its own claim with a ResourceClaimTemplate, or free up capacity "
        "on that node",
        claim=refusal.claim,
    )


def _error_reason(refusal: Refusal) -> Reason:
    error = refusal.error
    assert error is not None  # see `Refusal`
    if error.selector is not None:
        return _selector_reason(error, refusal)
    code, fix = "scheduler-error", ""
    match error.kind:
        case "device-limit":
            code = "too-many-devices"
            fix = SOME_INSTEAD_OF_ALL if _requests_all(refusal) else _edits_text(refusal)
        case "consumers":
            code = "too-many-consumers"
            fix = (
                "use a ResourceClaimTemplate or several claims, because at most 256 pods can "
                "share a claim"
            )
        case "pool-unusable":
            code = "pool-not-usable"
        case "constraint-of-all":
            code = "all-breaks-constraint"
            fix = (
                "restrict the selectors to fewer devices, because allocationMode All allocates "
                "every matching device"
            )
    message = f'scheduling fails with the error "{error.message}"'
    if error.devices:
        message = (
            f"{_claim_text(error.claim, refusal.shape)} needs {error.devices} devices, but a "
            f"claim can have at most {MAX_DEVICES}"
        )
    return Reason(code=code, message=message, fix=fix, claim=refusal.claim)


def _claim_text(name: str, shape: Shape) -> str:
    """Return the subject for one of a pod's claims. If there are several, it names the claim."""
    own = [
        each.name
        for each in shape.claims
        if name == str(each.shared or f"{shape.namespace}/{each.name}")
    ]
    return f'claim "{own[0]}"' if own and len(shape.claims) > 1 else "the claim"


def _edits_text(refusal: Refusal) -> str:
    return " and ".join(edit.text for edit in suggest_edits(refusal))


def _selector_reason(error: AttemptError, refusal: Refusal) -> Reason:
    """Return the reason for a selector that doesn't compile or that fails on a device."""
    assert error.selector is not None  # only called for errors of selectors
    template = refusal.node.template
    message, details = selector_error_text(error, refusal.shape, template)
    edits: tuple[Edit, ...] = ()
    if error.selector.stage == "compile":
        fix = fix_of(error.selector.term.expression, template.features)
    else:
        edits = suggest_edits(refusal)
        fix = guard_of_driver(error, refusal.shape, template) or " and ".join(
            edit.text for edit in edits
        )
    return Reason(
        code="selector-error",
        message=message,
        details=details,
        fix=fix,
        claim=error.claim,
        request=error.request,
        changes=tuple(change for edit in edits for change in edit.conditions),
        is_conditional=any(edit.is_conditional for edit in edits),
    )


def _requests_all(refusal: Refusal) -> bool:
    """Return whether a request of the pod's claims is for all matching devices."""
    return any(
        way.allocation_mode == "All"
        for claim in searched_claims(refusal.shape, refusal.node)
        for request in claim.spec.requests
        for way in request.alternatives
    )
