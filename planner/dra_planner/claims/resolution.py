"""The claims of one pod, from their templates or by name, or why they can't be resolved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from dra_planner.claims.missing_claims import (
    ClaimKind,
    describe_missing,
    fix_of,
    is_misplaced,
    near_name,
)
from dra_planner.drivers import known_classes
from dra_planner.manifests import Manifests
from dra_planner.manifests.completeness import is_missing
from dra_planner.model import (
    ClaimSpec,
    DeviceClass,
    ExactDeviceRequest,
    ObjectKey,
    PodResourceClaim,
    PodSpec,
    Reason,
    ShapeClaim,
    Verdict,
)

CANNOT_TELL: Final[Verdict] = "cannot-tell"
DOES_NOT_FIT: Final[Verdict] = "does-not-fit"
NODE_NAME_SET: Final = "node-name-set"
"""The reason code of pods whose manifest names a node."""


class UnresolvedClaims(Exception):
    """The reason that a pod's claims can't be resolved, with a verdict.

    `entry` is the name of the claim in the pod, if its object is missing.
    """

    def __init__(self, verdict: Verdict, reason: Reason, entry: str = "") -> None:
        super().__init__(reason.message)
        self.verdict = verdict
        self.reason = reason
        self.entry = entry


def resolve_claims(
    spec: PodSpec,
    namespace: str,
    manifests: Manifests,
    classes: Mapping[str, DeviceClass],
    generated: Mapping[str, str],
) -> tuple[ShapeClaim, ...]:
    """Return the claims that a pod of this spec creates or shares, in the pod's order. Raises
    UnresolvedClaims.

    `generated` are the names of existing ResourceClaims for entries with a template (an observed
    pod).
    """
    if spec.node_name and spec.resource_claims:
        raise UnresolvedClaims(DOES_NOT_FIT, _bypassed(spec))
    if spec.node_name and all(each.meta.name != spec.node_name for each in manifests.nodes):
        raise UnresolvedClaims(CANNOT_TELL, on_unknown_node(spec))
    claims = tuple(
        _resolve(entry, namespace, manifests, generated) for entry in spec.resource_claims
    )
    for claim in claims:
        check_classes(claim, namespace, manifests, classes)
    return claims


def classes_of(
    spec: PodSpec, namespace: str, manifests: Manifests, generated: Mapping[str, str]
) -> tuple[str, ...]:
    """Return the classes in a pod's claims, as far as the claims are known."""
    names: list[str] = []
    for entry in spec.resource_claims:
        try:
            claim = _resolve(entry, namespace, manifests, generated)
        except UnresolvedClaims:
            continue
        names += (exact.device_class_name for _, exact in requests_of(claim.spec))
    return tuple(dict.fromkeys(names))


def _resolve(
    entry: PodResourceClaim, namespace: str, manifests: Manifests, generated: Mapping[str, str]
) -> ShapeClaim:
    name = entry.resource_claim_name
    existing = generated.get(entry.name)
    if name is None and existing and ObjectKey(namespace, existing) in manifests.claims:
        name = existing
    if name is not None:
        key = ObjectKey(namespace, name)
        claim = manifests.claims.get(key)
        if claim is None:
            raise _missing("ResourceClaim", key, entry, manifests)
        return ShapeClaim(name=entry.name, spec=claim.spec, shared=key, place=claim.meta.place)
    key = ObjectKey(namespace, entry.resource_claim_template_name or "")
    template = manifests.templates.get(key)
    if template is None:
        raise _missing("ResourceClaimTemplate", key, entry, manifests)
    return ShapeClaim(name=entry.name, spec=template.spec, place=template.meta.place)


def check_classes(
    claim: ShapeClaim, namespace: str, manifests: Manifests, classes: Mapping[str, DeviceClass]
) -> None:
    """Raise UnresolvedClaims if the class of a request or alternative is unknown."""
    for request, exact in requests_of(claim.spec):
        name = exact.device_class_name
        if name in classes:
            continue
        refused = ("DeviceClass", ObjectKey("", name)) in manifests.refused
        message = (
            f'request "{request}" of claim "{claim.shared or claim.name}" uses DeviceClass '
            f'"{name}", '
        )
        if refused:
            reason = Reason(
                code="class-refused",
                message=message + "which the API server would reject",
                fix=f'fix the errors in the manifest of DeviceClass "{name}"',
                claim=_claim_name(claim, namespace),
                request=request,
                place=exact.place,
            )
            raise UnresolvedClaims(DOES_NOT_FIT, reason)
        is_running = _runs_driver_of(name, manifests)
        where = (
            "isn't in the manifests or the snapshot, although its driver publishes devices"
            if is_running
            else "is neither in the manifests nor installed by a driver"
        )
        reason = Reason(
            code="class-not-found",
            message=f"{message}which {where}",
            fix=_in_cluster(name)
            if is_running
            else _installed_by(name)
            or (
                "add the class's manifest, or add the class to the fleet's deviceClasses"
                f"{near_name(name, classes)}"
            ),
            claim=_claim_name(claim, namespace),
            request=request,
            place=exact.place,
        )
        raise UnresolvedClaims(CANNOT_TELL, reason)


def requests_of(spec: ClaimSpec) -> Iterator[tuple[str, ExactDeviceRequest]]:
    """Yield every request and alternative of a claim, with its name in allocations."""
    for request in spec.requests:
        if request.exactly is not None:
            yield request.name, request.exactly
        for alternative in request.first_available:
            yield f"{request.name}/{alternative.name}", alternative


def _bypassed(spec: PodSpec) -> Reason:
    return Reason(
        code=NODE_NAME_SET,
        message=f"spec.nodeName ({spec.node_name}) bypasses the scheduler, so the pod's claims are "
        "never allocated",
        fix="select the node by its kubernetes.io/hostname label in spec.nodeSelector instead",
        place=spec.resource_claims[0].place,
    )


def on_unknown_node(spec: PodSpec) -> Reason:
    """Return the reason why the plan can't evaluate a pod with a node name."""
    return Reason(
        code=NODE_NAME_SET,
        message=f"spec.nodeName binds the pod to node {spec.node_name} without the scheduler, but "
        "the plan doesn't contain this node",
        fix="remove spec.nodeName, so that the scheduler chooses a node",
    )


def _missing(
    kind: ClaimKind, key: ObjectKey, entry: PodResourceClaim, manifests: Manifests
) -> UnresolvedClaims:
    if (kind, key) in manifests.refused:
        reason = Reason(
            code="claim-refused",
            message=f"the API server would reject {kind} {key}, so pods that use it would stay "
            "pending",
            fix=f"fix the errors in the manifest of {kind} {key}",
            claim=str(key),
            place=entry.place,
        )
        return UnresolvedClaims(DOES_NOT_FIT, reason, entry.name)
    reason = Reason(
        code="claim-not-found" if kind == "ResourceClaim" else "template-not-found",
        message=describe_missing(kind, key, manifests),
        fix=fix_of(kind, key, manifests),
        claim=str(key),
        place=entry.place,
    )
    is_certain = is_misplaced(kind, key, manifests) or is_missing(manifests, kind, key.name)
    verdict = DOES_NOT_FIT if is_certain else CANNOT_TELL
    return UnresolvedClaims(verdict, reason, entry.name)


def _runs_driver_of(name: str, manifests: Manifests) -> bool:
    """Return whether the driver of a known class already publishes devices in the cluster."""
    known = known_classes().get(name)
    return known is not None and any(each.driver == known.driver for each in manifests.slices)


def _in_cluster(name: str) -> str:
    return (
        f"include the cluster's DeviceClasses in the snapshot, or create DeviceClass {name} if it "
        "doesn't exist"
    )


def _installed_by(name: str) -> str:
    """Return the installer of a known driver's class, or "" for other classes."""
    known = known_classes().get(name)
    if known is None:
        return ""
    on = f" (only on {known.cloud})" if known.cloud else ""
    if known.setting:
        return f"set `{known.setting}` in the fleet{on}, or add the DeviceClass manifest"
    if known.since:
        return f"install the NVIDIA DRA driver {known.since} or later"
    return (
        f"add the DeviceClass manifest of driver {known.driver}{on}, and use --observed to plan "
        "on nodes that run the driver"
    )


def _claim_name(claim: ShapeClaim, namespace: str) -> str:
    return str(claim.shared or ObjectKey(namespace, claim.name))
