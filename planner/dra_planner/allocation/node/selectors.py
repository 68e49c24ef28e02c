"""Match labels, node selectors, and taints.

Source of the behavior: kubernetes/component-helpers:scheduling/corev1/nodeaffinity/nodeaffinity.go
and kubernetes/api:core/v1/toleration.go @v0.36.3.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from dra_planner.model import (
    DeviceTaint,
    DeviceToleration,
    LabelSelector,
    Node,
    NodeSelector,
    NodeSelectorTerm,
    Requirement,
    Taint,
    Toleration,
)

FIELD_NAME = "metadata.name"


def requirement_holds(requirement: Requirement, values: Mapping[str, str]) -> bool:
    """Return True if one expression over labels (or fields) is true. A missing label satisfies
    NotIn and DoesNotExist.
    """
    value = values.get(requirement.key)
    match requirement.operator:
        case "In":
            return value is not None and value in requirement.values
        case "NotIn":
            return value is None or value not in requirement.values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case "Gt" | "Lt":
            return _compare(requirement, value)


def _compare(requirement: Requirement, value: str | None) -> bool:
    try:
        have, bound = int(value or ""), int(requirement.values[0])
    except (ValueError, IndexError):
        return False
    return have > bound if requirement.operator == "Gt" else have < bound


def labels_match(selector: LabelSelector | None, labels: Mapping[str, str]) -> bool:
    """Return True if labels match a label selector.

    A missing selector matches nothing, and an empty selector matches everything.
    """
    return selector is not None and all(requirement_holds(r, labels) for r in selector.requirements)


def term_matches(term: NodeSelectorTerm, node: Node) -> bool:
    """Return True if a node matches one term. A term without expressions doesn't match any node."""
    if not term.match_expressions and not term.match_fields:
        return False
    fields = {FIELD_NAME: node.name}
    return all(requirement_holds(r, node.meta.labels) for r in term.match_expressions) and all(
        requirement_holds(r, fields) for r in term.match_fields
    )


def node_matches(selector: NodeSelector, node: Node) -> bool:
    """Return True if a node matches any of the terms."""
    return any(term_matches(term, node) for term in selector.terms)


def selection_matches(
    node: Node, node_name: str | None, all_nodes: bool, selector: NodeSelector | None
) -> bool:
    """Return True if the node selection of a slice or device includes the node."""
    if node_name:
        return node.name == node_name
    return all_nodes or (selector is not None and node_matches(selector, node))


def tolerates(toleration: Toleration | DeviceToleration, taint: Taint | DeviceTaint) -> bool:
    """Return True if one toleration tolerates one taint, of a node or a device."""
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    match toleration.operator:
        case "Exists":
            return True
        case "Equal":
            return toleration.value == taint.value
        case _:
            return _tolerates_number(toleration, taint)


def _tolerates_number(
    toleration: Toleration | DeviceToleration, taint: Taint | DeviceTaint
) -> bool:
    try:
        have, bound = int(taint.value), int(toleration.value)
    except ValueError:
        return False
    return have < bound if toleration.operator == "Lt" else have > bound


def untolerated_taint(taints: Iterable[Taint], tolerations: Iterable[Toleration]) -> Taint | None:
    """Return the first taint that excludes a pod from a node, or None.

    PreferNoSchedule never excludes a pod.
    """
    allowed = tuple(tolerations)
    for taint in taints:
        if taint.effect != "PreferNoSchedule" and not any(tolerates(t, taint) for t in allowed):
            return taint
    return None


def untolerated_device_taint(
    taints: Iterable[DeviceTaint], tolerations: tuple[DeviceToleration, ...]
) -> DeviceTaint | None:
    """Return the first taint that excludes a device from a request, or None.

    The effect None and unknown effects never exclude a device.
    """
    for taint in taints:
        if taint.effect in ("NoSchedule", "NoExecute") and not any(
            tolerates(t, taint) for t in tolerations
        ):
            return taint
    return None
