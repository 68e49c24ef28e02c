"""Check whether a policy and its binding apply to the creation of an object.

Source: kubernetes/apiserver:pkg/admission/plugin/policy/matching/matching.go@v0.36.3.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dra_planner.allocation.node.selectors import labels_match
from dra_planner.documents.plain_values import blocks, texts
from dra_planner.manifests.parsing.fields import parse_label_selector
from dra_planner.plan.blockers.policies.requests import AdmissionRequest

NAME_LABEL = "kubernetes.io/metadata.name"


def matches(
    constraints: Any, request: AdmissionRequest, namespace_labels: Mapping[str, str] | None
) -> bool | None:
    """Return whether `matchConstraints` of a policy or `matchResources` of a binding apply.

    Returns None if the result depends on unknown labels of the namespace. Without constraints,
    everything matches.
    """
    if not isinstance(constraints, Mapping):
        return True
    rules = blocks(constraints, "resourceRules")
    if rules and not any(_rule_matches(rule, request) for rule in rules):
        return False
    if any(_rule_matches(rule, request) for rule in blocks(constraints, "excludeResourceRules")):
        return False
    selector = parse_label_selector(constraints.get("objectSelector") or {})
    if not labels_match(selector, request.labels):
        return False
    selector = parse_label_selector(constraints.get("namespaceSelector") or {})
    if selector is None or not selector.requirements or not request.namespace:
        return True
    if namespace_labels is not None:
        return labels_match(selector, {NAME_LABEL: request.namespace, **namespace_labels})
    if all(each.key == NAME_LABEL for each in selector.requirements):
        return labels_match(selector, {NAME_LABEL: request.namespace})
    return None


def _rule_matches(rule: Mapping[str, Any], request: AdmissionRequest) -> bool:
    names = texts(rule.get("resourceNames"))
    return (
        _has(rule.get("apiGroups"), request.group)
        and _has(rule.get("apiVersions"), request.version)
        and _has(rule.get("operations"), "CREATE")
        and any(
            each in (request.resource, "*", "*/*", f"{request.resource}/*")
            for each in texts(rule.get("resources"))
        )
        and rule.get("scope", "*") in ("*", "Namespaced" if request.namespace else "Cluster")
        and (not names or request.data["metadata"].get("name") in names)
    )


def _has(values: Any, value: str) -> bool:
    return not {"*", value}.isdisjoint(texts(values))
