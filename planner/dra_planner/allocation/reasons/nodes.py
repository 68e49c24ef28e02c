"""Explain in words why a node is rejected before its devices are considered."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec.structs import replace

from dra_planner.allocation.node.conditions import condition_reason
from dra_planner.allocation.node.filters import Misfit
from dra_planner.allocation.node.selectors import requirement_holds
from dra_planner.allocation.node.template import Template
from dra_planner.allocation.reasons.doubled_requests import without_plugin_resource
from dra_planner.allocation.reasons.label_alternatives import instead_of_label
from dra_planner.allocation.verdicts import Refusal
from dra_planner.catalog.label_owners import label_owner
from dra_planner.claims.extended_resources import IMPLICIT_PREFIX
from dra_planner.clouds import cloud, names
from dra_planner.drivers import every_driver, known_classes, replacing_class
from dra_planner.model import (
    OF_A_FLAVOR,
    OF_A_GUARD,
    VOLUME_AFFINITY,
    Node,
    NodeSelector,
    PodSpec,
    Reason,
    Requirement,
    Shape,
    Taint,
)
from dra_planner.quantity import amount_of, amount_text
from dra_planner.wording import counted, listed

TOO_MANY_PODS: Final = "too-many-pods"
_SHORT_CODES = {
    "cpu": "insufficient-cpu",
    "memory": "insufficient-memory",
    "ephemeral-storage": "insufficient-ephemeral-storage",
    "pods": TOO_MANY_PODS,
}
_IMPLICIT: Final = IMPLICIT_PREFIX.partition(".")[0] + "."
_ZONE: Final = "topology.kubernetes.io/zone"
_REGION: Final = "topology.kubernetes.io/region"


def misfit_reasons(misfit: Misfit, refusal: Refusal) -> Iterable[Reason]:
    """Yield the reasons why the node is rejected before its devices are considered."""
    if misfit.filter != "resources":
        yield _misfit_reason(misfit, refusal)
    for name, requested, left in sorted(misfit.shortages, key=lambda s: s[1] - s[2]):
        template = refusal.node.template
        reason = _shortage(name, requested, left, template)
        claimed = without_plugin_resource(name, refusal.shape, template)
        if claimed and not template.node.allocatable.get(name, 0):
            reason = replace(reason, fix=claimed)
        overhead = refusal.shape.pod.overhead.get(name, 0)
        if overhead:
            message = (
                f"{reason.message} (its RuntimeClass adds {amount_text(name, overhead)} of "
                "overhead)"
            )
            reason = replace(reason, message=message)
        if source := refusal.shape.pod.defaulted_by.get(name):
            message = f"{reason.message} (a default of LimitRange {source})"
            reason = replace(reason, message=message)
        yield reason


def _can_be_claimed(resource: str, template: Template) -> bool:
    """Return whether claims can request the devices of an extended resource on a node."""
    name = replacing_class(resource)
    known = known_classes().get(name)
    return known is not None and any(
        device.driver == known.driver for device in template.candidates
    )


def _shortage(name: str, requested: int, left: int, template: Template) -> Reason:
    total, features = template.node.allocatable.get(name, 0), template.features
    if name == "pods":
        return Reason(
            code=TOO_MANY_PODS,
            message=f"the node already runs its maximum of {counted(total, 'pod')}",
            fix="add a node",
            needs_another_node=True,
        )
    missing = amount_text(name, requested - left)
    fix = f"free {missing}, or add a node"
    if requested > total:
        fix = (
            f"lower the request by {missing}, or raise the pool's diskGib"
            if name == "ephemeral-storage"
            else f"lower the request by {missing}, or use a larger machine type"
        )
    if not total and name.startswith("hugepages-"):
        fix = (
            f"set hugePages on the pool to reserve pages of that size, or remove {name} from "
            "the pod"
        )
    if not total and "/" in name:
        plugin = f"use nodes with a device plugin that advertises {name}"
        fix = (
            "request the devices with a ResourceClaim (`pulumi-dra migrate` rewrites the manifests "
            f"or prints alternatives), or {plugin}"
            if _can_be_claimed(name, template)
            else plugin
        )
        if name.startswith(_IMPLICIT) and not name.startswith(IMPLICIT_PREFIX):
            fix = f"use {IMPLICIT_PREFIX}{name.partition('/')[2]}"
        if name.startswith(IMPLICIT_PREFIX):
            fix = (
                f"request a device of DeviceClass {name.removeprefix(IMPLICIT_PREFIX)} with a "
                "ResourceClaim"
            )
    gate = (
        f". Kubernetes 1.{features.minor} maps this resource to claims only with the "
        "DRAExtendedResource feature gate"
        if not features.extended_resource
        and (name.startswith(IMPLICIT_PREFIX) or _is_replaced_by_a_class(name))
        else ""
    )
    return Reason(
        code=_SHORT_CODES.get(name, "insufficient-resource"),
        message=f"the pod requests {amount_of(name, requested)}, but {free_text(name, requested, left, total)}{gate}",
        fix=fix,
        needs_another_node=requested <= total,
    )


def _is_replaced_by_a_class(name: str) -> bool:
    return any(name in each.plugin_resources for each in every_driver())


def free_text(name: str, requested: int, left: int, total: int) -> str:
    """Return how much of a resource is free on a node."""
    if not total:
        return "the node doesn't have any"
    if left <= 0:
        return "none is free on the node"
    short = f"({amount_text(name, requested - left)} short)"
    if left == total:
        return f"the node has only {amount_text(name, total)} {short}"
    number, _, unit = amount_text(name, left).partition(" ")
    are = "is" if number == "1" or unit == "GiB" else "are"
    return f"only {number} of {amount_text(name, total)} {are} free {short}"


def _misfit_reason(misfit: Misfit, refusal: Refusal) -> Reason:
    node = refusal.node.node
    match misfit.filter:
        case "unschedulable":
            return Reason(
                code="node-unschedulable",
                message="the node is cordoned",
                fix=f"run `kubectl uncordon {node.name}` to uncordon the node",
            )
        case "node-name":
            return Reason(
                code="node-name",
                message=f"the pod's nodeName binds it to node {refusal.shape.pod.node_name}",
            )
        case "taint":
            taint = misfit.taint or Taint("")
            return condition_reason(taint) or _taint_reason(taint)
        case "host-port":
            return Reason(
                code="host-port",
                message=f"another pod on the node already uses host port {misfit.port}",
                fix="remove the pod's host port",
            )
        case "affinity":
            return Reason(
                code="pod-affinity",
                message="the pod requires affinity to other pods, but none of them runs on a "
                f"node with the same {misfit.label}",
            )
        case "topology-label":
            return Reason(
                code="topology-label",
                message=f"the node doesn't have the label {misfit.label}, which the pod's spread "
                "or affinity rule uses",
                fix=f"label the nodes with {misfit.label}, or use a label that the nodes have",
            )
        case "spread":
            return Reason(
                code="topology-spread",
                message=(
                    "on this node, the pods would be spread too unevenly across values of "
                    f"{misfit.label}"
                ),
                fix=f"raise maxSkew, or add nodes to a {misfit.label} domain that runs fewer of "
                "these pods",
            )
        case "anti-affinity":
            return Reason(
                code="pod-anti-affinity",
                message="anti-affinity keeps this pod away from a pod on the node",
                fix="add a node",
                needs_another_node=True,
            )
        case _:
            return _selector_reason(misfit, refusal)


def _taint_reason(taint: Taint) -> Reason:
    return Reason(
        code="missing-toleration",
        message=f"the node has the taint {taint}, which the pod doesn't tolerate",
        fix=f"add to the pod's tolerations: {toleration_text(taint)}",
    )


def toleration_text(taint: Taint) -> str:
    """Return the toleration for a taint, as YAML."""
    operator = f'operator: Equal, value: "{taint.value}"' if taint.value else "operator: Exists"
    return f"{{key: {taint.key}, {operator}, effect: {taint.effect}}}"


def _selector_reason(misfit: Misfit, refusal: Refusal) -> Reason:
    labels = refusal.node.node.meta.labels
    if not misfit.label:
        return Reason(
            code="node-affinity",
            message="the node's labels don't match the pod's required node affinity"
            + _affinity_text(refusal.shape.pod.node_affinity)
            + _missing_text(refusal.shape.pod, refusal.node.node),
            fix=_affinity_fix(refusal.shape, refusal.node.node),
        )
    key, _, value = misfit.label.partition("=")
    if misfit.is_unknown:
        return unknown_label_reason((key,), refusal.shape)
    where = selector_of(refusal.shape.pod, key)
    have, fix = f"doesn't have the label {key}", f"remove {key} from {where}"
    if key == _ZONE and key not in labels and _REGION in labels:
        have, fix = "is in another zone", f"use a pool in zone {value}, or {fix}"
    elif key not in labels and (owner := label_owner(key)) is not None:
        have = f"{have}, which only {owner.owner} sets"
        instead = instead_of_label(key, refusal.shape)
        fix = f"{fix}, and {instead}" if instead else fix
    elif key in labels:
        also = f" in {where}" if key in refusal.shape.pod.selected_by else ""
        have = f"has {key}={labels[key]}"
        # other pods use the same flavor, perhaps for devices
        if not where.startswith(OF_A_FLAVOR) or _has_devices(refusal.node.template):
            fix = f"select {key}={labels[key]}{also}, or {fix}"
    elif _can_be_set(key, value):
        fix = f"label the pool with {misfit.label}, or {fix}"
    source = ""
    if is_of_volume(refusal.shape.pod, key):
        source, fix = f" ({where})", f"use a pool in zone {value}"
    if where == OF_A_GUARD:
        source, fix = f" ({where})", ""
    return Reason(
        code="node-selector",
        message=f"the pod selects nodes with {misfit.label}{source}, but the node {have}",
        fix=fix,
    )


def _has_devices(template: Template) -> bool:
    allocatable = template.node.allocatable
    return bool(template.candidates) or any(
        "/" in name and amount for name, amount in allocatable.items()
    )


def unknown_label_reason(labels: Sequence[str], shape: Shape) -> Reason:
    """Return the reason for a pod that selects nodes by labels whose values are known only at run
    time.
    """
    return Reason(
        code="label-unknown",
        message=f"the value of the node label {', '.join(labels)} is known only at run time",
        fix=_label_fix(labels, shape),
    )


def _label_fix(labels: Sequence[str], shape: Shape) -> str:
    """Return labels to select instead of labels whose values the fleet doesn't determine."""
    if all(label.endswith("/zone") for label in labels):
        return "set only one zone for the pool, or select nodes by the label pulumi-dra/pool"
    for label in labels:
        if instead := instead_of_label(label, shape):
            return f"remove {label} from the pod's nodeSelector and affinity, and {instead}"
    return "select nodes by labels that the fleet sets: pulumi-dra/pool, or the pool's labels"


def is_of_volume(pod: PodSpec, key: str) -> bool:
    """Return whether a volume makes a pod select nodes by a label. A volume's node affinity can't
    change.
    """
    return pod.selected_by.get(key, "").startswith(VOLUME_AFFINITY)


def selector_of(pod: PodSpec, key: str) -> str:
    """Return the field that makes a pod select nodes by a label."""
    return pod.selected_by.get(key, "the pod's nodeSelector")


def _affinity_fix(shape: Shape, node: Node) -> str:
    """Return a fix with which the node matches the term that it nearly meets."""
    labels = node.meta.labels
    fewest = failing_requirements(shape.pod, node)
    if not fewest:
        return "remove the pod's required node affinity"
    keys = list(dict.fromkeys(each.key for each in fewest))
    fix = f"remove {listed(keys)} from the pod's required node affinity"
    instead = next(filter(None, (instead_of_label(key, shape) for key in keys)), "")
    if instead:
        return f"{fix}, and {instead}"
    missing = [each for each in fewest if each.key not in labels]
    settable = [
        f"{each.key}={value}"
        for each in missing
        if (value := "true" if each.operator == "Exists" else next(iter(each.values), ""))
        and each.operator in ("In", "Exists")
        and label_owner(each.key) is None
        and _can_be_set(each.key, value)
    ]
    if len(settable) == len(fewest):
        return f"label the pool with {listed(settable)}, or {fix}"
    return fix


def failing_requirements(pod: PodSpec, node: Node) -> list[Requirement]:
    """Return the unmet requirements of the node affinity term with the fewest unmet
    requirements.
    """
    affinity, labels = pod.node_affinity, node.meta.labels
    failing = [
        [each for each in term.match_expressions if not requirement_holds(each, labels)]
        for term in (affinity.terms if affinity is not None else ())
    ]
    return min(filter(None, failing), key=len, default=[])


def _missing_text(pod: PodSpec, node: Node) -> str:
    """Return the first label that the affinity requires and other software would set, or ""."""
    for each in failing_requirements(pod, node):
        owner = label_owner(each.key)
        if each.key not in node.meta.labels and owner is not None:
            return f", because it doesn't have the label {each.key}, which only {owner.owner} sets"
    return ""


def _affinity_text(affinity: NodeSelector | None) -> str:
    """Return the terms of a node affinity as kubectl writes selectors: " (tier in (gold))"."""
    terms = [
        ", ".join(map(_requirement_text, (*term.match_expressions, *term.match_fields)))
        for term in (affinity.terms if affinity is not None else ())
    ]
    return f" ({' or '.join(terms)})" if any(terms) else ""


def _requirement_text(each: Requirement) -> str:
    values = f" ({','.join(each.values)})" if each.values else ""
    return f"{each.key} {each.operator.lower()}{values}"


def _can_be_set(key: str, value: str) -> bool:
    """Return True if every cloud accepts the label from the owner of a pool."""
    return not any(cloud(name).label_fault(key, value) for name in names())
