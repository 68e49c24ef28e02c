"""Refusals in words a person can act on, nearest miss first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from dra_planner.allocation.explanation import (
    AlternativeReport,
    ClaimReport,
    ConstraintReport,
    Exclusion,
    report_claims,
)
from dra_planner.allocation.node_filters import Misfit
from dra_planner.allocation.place import plan_for, searched_claims
from dra_planner.allocation.results import quantity_of
from dra_planner.allocation.search import STEP_BUDGET, Search
from dra_planner.allocation.selection import fix_of, terms_of
from dra_planner.allocation.verdicts import Refusal, Undecided
from dra_planner.model import ClaimSpec, Reason, Shape, ShapeClaim, Taint

_GI = 2**30
_SHORT_CODES = {
    "cpu": "insufficient-cpu",
    "memory": "insufficient-memory",
    "ephemeral-storage": "insufficient-ephemeral-storage",
    "pods": "too-many-pods",
}
_PATCH_NOTE = "this may depend on the patch release: a known defect decides ({})"


def explain_refusal(refusal: Refusal) -> tuple[Reason, ...]:
    """Return the reasons of a refusal, nearest miss first; never empty."""
    if refusal.kind == "filter" and refusal.misfit is not None:
        return tuple(_misfit_reasons(refusal.misfit, refusal))
    if refusal.kind == "claim":
        return (_claim_reason(refusal),)
    if refusal.kind == "error":
        return (_noted(_error_reason(refusal), refusal),)
    reasons = list(_device_reasons(refusal))
    pools = [p for p in refusal.node.template.pools if p.invalid or p.incomplete]
    for pool in pools:
        what = f"is invalid: {pool.invalid_reason}" if pool.invalid else "is incomplete: not all its slices are there"
        reasons.append(Reason(code="pool-not-usable", message=f"resource pool {pool.id} {what}"))
    return tuple(_noted(reason, refusal) for reason in reasons)


def explain_undecided(undecided: Undecided) -> tuple[Reason, ...]:
    """Return what keeps the question open."""
    shape, node = undecided.shape, undecided.node
    if undecided.kind == "effort":
        return (
            Reason(
                code="search-too-long",
                message=f"no answer after trying {undecided.steps} devices; the scheduler gives up after 10 seconds",
                fix="ask for fewer devices at a time, or narrow the selectors",
            ),
        )
    if undecided.kind == "volume":
        names = ", ".join(undecided.details)
        return (
            Reason(
                code="zonal-volume",
                message=f"only the cluster knows the zone of {names}: it cannot be told which nodes can mount it",
            ),
        )
    if undecided.kind in ("estimate", "label"):
        return (_prediction_reason(undecided),)
    plan = plan_for(shape, searched_claims(shape, node), node.template)
    reasons = []
    for claim in report_claims(plan, node):
        for request in claim.requests:
            for way in request:
                reasons += [_unknown_reason(claim, way, e) for e in way.exclusions if e.step == "unknown"]
        for constraint in claim.constraints:
            if constraint.unknown:
                name = _attribute(constraint)
                reasons.append(
                    Reason(
                        code="attribute-unknown",
                        message=f"{constraint.unknown} devices have a value of {name} that only the node knows",
                        claim=claim.claim,
                    )
                )
    return tuple(reasons) or (Reason(code="attribute-unknown", message="a value that only the node knows decides"),)


def _prediction_reason(undecided: Undecided) -> Reason:
    names = ", ".join(undecided.details)
    if undecided.kind == "estimate":
        return Reason(
            code="estimate-too-close",
            message=f"the cautious estimate of {names} leaves too little, and a real node may have enough",
            fix=f"ask for less {names}, or measure one node and plan with --observed",
        )
    return Reason(
        code="label-unknown",
        message=f"only the cluster knows the value of the node label {names}",
        fix="select by labels that the fleet decides (pulumi-dra/pool, the pool's own), or name one zone for the pool",
    )


def _unknown_reason(claim: ClaimReport, way: AlternativeReport, exclusion: Exclusion) -> Reason:
    expression = f" `{exclusion.term.expression}`" if exclusion.term else ""
    return Reason(
        code="selector-unknown",
        message=f"it cannot be told whether {_devices(exclusion.count)} {_verb(exclusion.count, 'pass')}{expression}: "
        f"{exclusion.detail}",
        claim=claim.claim,
        request=way.request,
    )


def _noted(reason: Reason, refusal: Refusal) -> Reason:
    if not refusal.may:
        return reason
    note = _PATCH_NOTE.format(", ".join(sorted(refusal.may)))
    return replace(reason, message=f"{reason.message}; {note}")


# -- filters


def _misfit_reasons(misfit: Misfit, refusal: Refusal) -> Iterable[Reason]:
    if misfit.filter == "resources":
        for name, asked, left in sorted(misfit.shortages, key=lambda s: s[1] - s[2]):
            yield _shortage(name, asked, left, refusal.node.node.allocatable.get(name, 0))
        return
    yield _misfit_reason(misfit, refusal)


def _shortage(name: str, asked: int, left: int, total: int) -> Reason:
    if name == "pods":
        return Reason(code="too-many-pods", message=f"all {total} pod slots of the node are taken", fix="add a node")
    missing = amount_text(name, asked - left)
    whole = "" if left == total else f" of {amount_text(name, total)}"
    fix = f"ask for {missing} less, or use a larger machine" if asked > total else f"free {missing}, or add a node"
    return Reason(
        code=_SHORT_CODES.get(name, "insufficient-resource"),
        message=f"{name}: asks for {amount_text(name, asked)}, {amount_text(name, left)}{whole} left, {missing} short",
        fix=fix,
    )


def amount_text(name: str, amount: int) -> str:
    """Return an amount with its unit: cores for cpu, GiB for memory and storage, a count otherwise."""
    if name == "cpu":
        return f"{amount / 1000:g} CPU"
    if name in ("memory", "ephemeral-storage") or name.startswith("hugepages-"):
        return f"{amount / _GI:.4g} GiB"
    return str(quantity_of(amount * 10**9))


def _misfit_reason(misfit: Misfit, refusal: Refusal) -> Reason:
    node = refusal.node.node
    match misfit.filter:
        case "unschedulable":
            return Reason(
                code="node-unschedulable", message="the node is cordoned", fix=f"kubectl uncordon {node.name}"
            )
        case "node-name":
            return Reason(code="node-name", message=f"the pod is bound to node {refusal.shape.pod.node_name} by name")
        case "taint":
            return _taint_reason(misfit.taint or Taint(""))
        case "host-port":
            return Reason(code="host-port", message=f"host port {misfit.port} is taken on the node")
        case "affinity":
            return Reason(
                code="pod-affinity",
                message=f"the pod must run beside other pods (same {misfit.label}) that are not here",
            )
        case "topology-label":
            return Reason(
                code="topology-label",
                message=f"the node has no label {misfit.label}, over which the pods must be spread or kept together",
                fix=f"label the nodes with {misfit.label}, or use a label that they carry",
            )
        case "spread":
            return Reason(
                code="topology-spread",
                message=f"the pods would be spread too unevenly over {misfit.label}",
                fix="add room where fewer of them run, or raise maxSkew",
            )
        case "anti-affinity":
            return Reason(
                code="pod-anti-affinity",
                message="a pod on the node and this pod keep away from each other (anti-affinity)",
                fix="add a node",
            )
        case _:
            return _selector_reason(misfit, refusal)


def _taint_reason(taint: Taint) -> Reason:
    return Reason(
        code="missing-toleration",
        message=f"the node has the taint {taint}, which the pod does not tolerate",
        fix=f"add to the pod's tolerations: {toleration_text(taint)}",
    )


def toleration_text(taint: Taint) -> str:
    """Return the toleration that answers a taint, as YAML."""
    operator = f'operator: Equal, value: "{taint.value}"' if taint.value else "operator: Exists"
    return f"{{key: {taint.key}, {operator}, effect: {taint.effect}}}"


def _selector_reason(misfit: Misfit, refusal: Refusal) -> Reason:
    labels = refusal.node.node.meta.labels
    if not misfit.label:
        return Reason(code="node-affinity", message="the node's labels do not pass the pod's required node affinity")
    key = misfit.label.partition("=")[0]
    have = f'has {key}="{labels[key]}"' if key in labels else f"has no label {key}"
    return Reason(
        code="node-selector",
        message=f"the pod selects nodes with {misfit.label}; the node {have}",
        fix=f"label the pool with {misfit.label}, or change the pod's nodeSelector",
    )


# -- claims


def _claim_reason(refusal: Refusal) -> Reason:
    if refusal.shape.pod.scheduling_gates:
        return Reason(
            code="scheduling-gated",
            message=f"the pod is held back by {refusal.message}",
            fix="its gates must be removed before it can be scheduled",
        )
    if refusal.message.endswith("does not exist"):
        return Reason(
            code="class-missing",
            message=refusal.message,
            fix="create the DeviceClass, or correct deviceClassName",
        )
    return Reason(
        code="claim-elsewhere",
        message=f"{refusal.message}; the pods that share it must run there",
        fix="give each pod a claim of its own with a ResourceClaimTemplate, or make room on that node",
        claim=refusal.claim,
    )


def _error_reason(refusal: Refusal) -> Reason:
    message = refusal.message
    code, fix = "scheduler-error", ""
    if "CEL compile error" in message:
        code, fix = "selector-error", _compile_fix(refusal)
    elif "CEL" in message:
        code = "selector-error"
        fix = (
            'guard the read: "name" in device.attributes["domain"] && …, or has(…)' if "no such key" in message else ""
        )
    elif "exceeds the claim limit" in message:
        code, fix = "too-many-devices", "a claim holds at most 32 devices: split it into several claims"
    elif "status.reservedFor" in message:
        code, fix = (
            "too-many-consumers",
            "a claim serves at most 256 pods: use a ResourceClaimTemplate, or several claims",
        )
    elif "asks for all devices" in message:
        code = "pool-not-usable"
    elif "claim constraint would not be satisfied" in message:
        code, fix = (
            "all-breaks-constraint",
            "allocationMode All takes every matching device: narrow the selectors",
        )
    return Reason(
        code=code,
        message=f"the scheduler's attempt ends with an error: {message}",
        fix=fix,
        claim=refusal.claim,
    )


def _compile_fix(refusal: Refusal) -> str:
    """Return what would make the first selector of the pod's claims compile that does not."""
    template = refusal.node.template
    for claim in searched_claims(refusal.shape, refusal.node):
        for request in claim.spec.requests:
            for way in (request.exactly, *request.first_available):
                if way is None or way.device_class_name not in template.classes:
                    continue
                for term in terms_of(template.classes[way.device_class_name], way.selectors):
                    fix = fix_of(term.expression, template.features)
                    if fix:
                        return fix
    return ""


# -- devices


def _device_reasons(refusal: Refusal) -> Iterable[Reason]:
    shape, node = refusal.shape, refusal.node
    claims = searched_claims(shape, node)
    plan = plan_for(shape, claims, node.template)
    reports = report_claims(plan, node)
    culprits = [
        (claim, report) for claim, report in zip(claims, reports, strict=True) if not _fits(shape, (claim,), refusal)
    ]
    if not culprits:
        names = ", ".join(report.claim for report in reports)
        total = sum(
            way.wanted or way.matching for report in reports for request in report.requests for way in request[:1]
        )
        yield Reason(
            code="claims-together",
            message=f"each claim fits by itself, but not all of {names} on one node: "
            f"they ask for {total} devices, {_free(refusal)} are free",
            fix="use a machine with more devices",
        )
        return
    for claim, report in sorted(culprits, key=lambda c: _shortfall(c[1])):
        yield from _culprit_reasons(claim, report, refusal)


def _culprit_reasons(claim: ShapeClaim, report: ClaimReport, refusal: Refusal) -> Iterable[Reason]:
    failing = []
    for request, ways in zip(claim.spec.requests, report.requests, strict=True):
        alone = replace(claim, spec=ClaimSpec(requests=(request,)))
        if not _fits(refusal.shape, (alone,), refusal):
            failing.append(ways)
    for ways in sorted(failing, key=lambda ways: min((w.shortfall for w in ways), default=0)):
        for way in sorted(ways, key=lambda w: w.shortfall):
            yield _request_reason(report.claim, way, refusal)
    if failing:
        return
    loose = replace(claim, spec=ClaimSpec(requests=claim.spec.requests))
    if claim.spec.constraints and _fits(refusal.shape, (loose,), refusal):
        for constraint in report.constraints:
            only = ClaimSpec(requests=claim.spec.requests, constraints=(constraint.constraint,))
            together = len(report.constraints) > 1
            if not together or not _fits(refusal.shape, (replace(claim, spec=only),), refusal):
                yield _constraint_reason(report, constraint)
                return
        yield Reason(
            code="constraints-together",
            message="each constraint can be met, but not all of them by one set of devices",
            claim=report.claim,
        )
        return
    wanted = sum(request[0].wanted or request[0].matching for request in report.requests if request)
    yield Reason(
        code="requests-together",
        message=f"each request fits by itself, but not all of the claim: it asks for {wanted} devices, "
        f"{_free(refusal)} are free",
        fix="use a machine with more devices",
        claim=report.claim,
    )


def _fits(shape: Shape, claims: Sequence[ShapeClaim], refusal: Refusal) -> bool:
    node = refusal.node
    named = [(str(c.shared or f"{shape.namespace}/{c.name}"), c.spec) for c in claims]
    from dra_planner.allocation.requests import plan_claims

    plan = plan_claims(named, node.template)
    shares = {index: dict(used) for index, used in node.shares}
    search = Search(node.template, plan, node.template.behaviour, node.taken, shares, budget=STEP_BUDGET // 10)
    return search.run().outcome == "found"


def _free(refusal: Refusal) -> int:
    node = refusal.node
    return (node.template.searched & ~node.taken).bit_count()


def _shortfall(report: ClaimReport) -> int:
    return sum(min((way.shortfall for way in request), default=0) for request in report.requests)


def _request_reason(claim: str, way: AlternativeReport, refusal: Refusal) -> Reason:
    code, fix = _diagnose(way)
    wanted = "all matching devices" if way.wanted is None else _devices(way.wanted)
    counts = "; ".join(_exclusion_text(e) for e in sorted(way.exclusions, key=lambda e: e.count))
    seen = f"{_devices(way.seen)} seen" if way.seen else "no device is offered here"
    message = f"wants {wanted}: {seen}{': ' + counts if counts else ''}{f', {way.left} left' if way.seen else ''}"
    return Reason(code=code, message=message, fix=fix, claim=claim, request=way.request)


def _diagnose(way: AlternativeReport) -> tuple[str, str]:
    by_step = {e.step: e for e in reversed(way.exclusions)}
    if way.seen == 0:
        return "no-devices", "use a pool whose machines have devices"
    if way.matching == 0 and "capacity" in by_step:
        return "capacity-too-large", "ask for less capacity, or use larger devices"
    if way.matching == 0:
        return "selector-mismatch", "relax the selector, or use a pool whose devices pass it"
    if way.wanted is not None and way.wanted > way.matching:
        matching = f"{_devices(way.matching)} that {_verb(way.matching, 'match')}"
        return "count-too-large", f"ask for at most {way.matching}: a node offers {matching}"
    if "taint" in by_step and by_step["taint"].count >= way.shortfall:
        return (
            "device-taint",
            f"tolerate the device taint {by_step['taint'].detail} in the request, or remove it",
        )
    if "counters" in by_step and "taken" not in by_step:
        return "counters-exhausted", "its partitions share hardware that is in use: add a node"
    if "taken" in by_step or "counters" in by_step:
        return "devices-taken", "add a node"
    return "devices-short", "add a node"


def _exclusion_text(exclusion: Exclusion) -> str:
    count = exclusion.count
    match exclusion.step:
        case "selector" if exclusion.term is not None:
            owner = f" of class {exclusion.term.owner}" if exclusion.term.owner else ""
            have = f" ({', '.join(exclusion.values[:4])})" if exclusion.values else ""
            return f"{count} {_verb(count, 'fail')} `{exclusion.term.expression}`{owner}{have}"
        case "selector":
            return f"{count} {_are(count)} {exclusion.detail}"
        case "unknown":
            return f"{count} cannot be judged"
        case "error":
            return f"{count} {_verb(count, 'end')} in an error: {exclusion.detail}"
        case "capacity":
            return f"{count} {_are(count)} too small ({exclusion.detail})"
        case "taken":
            return f"{count} taken" + (f" ({exclusion.detail})" if exclusion.detail else "")
        case "counters":
            return f"{count} {_verb(count, 'lack')} free counters ({exclusion.detail})"
        case "taint":
            return f"{count} {'has' if count == 1 else 'have'} the taint {exclusion.detail}"


def _devices(count: int) -> str:
    return "1 device" if count == 1 else f"{count} devices"


def _verb(count: int, verb: str) -> str:
    """The verb for so many devices: one fails, two fail."""
    ending = "es" if verb.endswith(("s", "ch")) else "s"
    return verb + ending if count == 1 else verb


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _attribute(report: ConstraintReport) -> str:
    return report.constraint.match_attribute or report.constraint.distinct_attribute or ""


def _constraint_reason(claim: ClaimReport, report: ConstraintReport) -> Reason:
    name = _attribute(report)
    groups = ", ".join(f"{count} × {value}" for value, count in report.groups[:6]) or "none carries it"
    without = f"; {report.without} devices have no {name}" if report.without else ""
    wanted = sum(ways[0].wanted or ways[0].matching for ways in claim.requests if ways)
    if report.constraint.match_attribute:
        largest = report.groups[0][1] if report.groups else 0
        return Reason(
            code="match-attribute",
            message=f"no set of free devices has one value of {name} throughout: {groups}{without}",
            fix=f"ask for at most {largest} devices that share {name}" if 0 < largest < wanted else "",
            claim=claim.claim,
        )
    return Reason(
        code="distinct-attribute",
        message=f"there are not enough free devices with different values of {name}: {groups}{without}",
        claim=claim.claim,
    )
