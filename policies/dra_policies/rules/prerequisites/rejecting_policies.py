"""Admission policies that certainly reject the DRA driver's pods."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from typing import Any, Final

from dra_planner.clouds import cloud, names
from dra_policies.rules.rule import Finding
from dra_policies.unknown_values import Properties, as_mapping, has_unknown
from dra_policies.view.stack_view import DeclaredResource, InstalledDriver, StackView

_KYVERNO: Final = "kubernetes:kyverno.io/"
_GATEKEEPER: Final = "kubernetes:constraints.gatekeeper.sh/"
_CONSTRAINTS: Final = ("Privileged", "HostFilesystem", "HostPath")
"""Substrings of the kinds of Gatekeeper constraints
(open-policy-agent/gatekeeper-library:library).
"""
_FIELDS: Final = ('"privileged"', '"=(privileged)"', '"hostPath"', '"X(hostPath)"', ".hostPath")
_PODS: Final = ("Pod", "v1/Pod", "*/Pod", "*", "DaemonSet", "apps/v1/DaemonSet")
_CHECKS: Final = ("pattern", "anyPattern", "deny", "foreach", "cel")


def rejecting_policies(view: StackView, driver: InstalledDriver) -> Iterator[Finding]:
    """Yield policies of Kyverno, Gatekeeper, and the cloud that reject a driver's pods."""
    namespace = driver.namespace
    if not namespace:
        return
    for each in (*view.objects, *view.declared):
        if _rejects(each, namespace):
            yield Finding(
                message=f'policy "{each.name}" rejects privileged pods and host paths in '
                f'namespace "{namespace}", so {driver.title} can\'t create its pods or '
                "publish devices",
                fix=f'exclude namespace "{namespace}" from the policy',
                urn=each.urn,
            )


def _rejects(policy: DeclaredResource, namespace: str) -> bool:
    """Return True if a policy certainly rejects the driver's pods."""
    if policy.type.startswith(_GATEKEEPER):
        return not has_unknown(policy.props.values) and _constrains(policy, namespace)
    if policy.type.startswith(_KYVERNO) and policy.type.endswith(":ClusterPolicy"):
        rules = policy.props.items("spec.rules") or ()
        return not has_unknown(policy.props.values) and any(
            _enforces(policy.props, rule)
            and _is_about_privileges(rule.below("validate"))
            and _applies(rule, namespace)
            for rule in rules
        )
    return _is_denied_by_cloud(policy, namespace)


def _constrains(constraint: DeclaredResource, namespace: str) -> bool:
    match = constraint.props.below("spec.match")
    only = match.texts("namespaces") or ()
    return (
        any(word in constraint.type for word in _CONSTRAINTS)
        and constraint.props.text("spec.enforcementAction", "deny") == "deny"
        and not _is_listed(namespace, match.texts("excludedNamespaces") or ())
        and (not only or _is_listed(namespace, only))
        and not (match.has("namespaceSelector") or match.has("labelSelector"))
    )


def _enforces(policy: Properties, rule: Properties) -> bool:
    action = rule.text("validate.failureAction") or policy.text("spec.validationFailureAction")
    return (action or "Audit").lower() == "enforce"


def _is_about_privileges(validate: Properties) -> bool:
    """Return True if a rule forbids privileged pods or host paths, by fields or by a pod security
    standard.
    """
    if validate.text("podSecurity.level") in ("baseline", "restricted"):
        return validate.has("podSecurity.exclude") is False
    checks = json.dumps([validate.at(each) for each in _CHECKS])
    return any(field in checks for field in _FIELDS)


def _applies(rule: Properties, namespace: str) -> bool:
    """Return True if a rule of Kyverno certainly applies to pods in a namespace.

    Source: kyverno/kyverno:api/kyverno/v1/match_resources_types.go (filters in `any` and `all`, or
    one filter without them; the conditions of a filter must all hold).
    """
    if rule.has("preconditions") or rule.has("celPreconditions"):
        return False
    excluded = rule.below("exclude")
    is_excluded = excluded.values != {} and _block_holds(excluded, namespace, certain=False)
    return _block_holds(rule.below("match"), namespace, certain=True) and not is_excluded


def _block_holds(block: Properties, namespace: str, *, certain: bool) -> bool:
    """Return whether a block holds. A block without `any` and `all` is itself a filter."""
    if block.has("any"):
        return any(_holds(each, namespace, certain=certain) for each in block.items("any") or ())
    filters = (block.items("all") or ()) if block.has("all") else (block,)
    return all(_holds(each, namespace, certain=certain) for each in filters)


def _holds(each: Properties, namespace: str, *, certain: bool) -> bool:
    """Return whether a filter matches the driver's pods. If that's unknown because of names,
    labels, or subjects, return False if `certain` is set, and True otherwise.
    """
    resources = each.below("resources")
    kinds, places = resources.texts("kinds") or (), resources.texts("namespaces") or ()
    if (kinds and not set(kinds) & set(_PODS)) or (places and not _is_listed(namespace, places)):
        return False
    known = {"kinds", "namespaces"}
    open_conditions = set(as_mapping(resources.values) or {}) - known
    others = set(as_mapping(each.values) or {}) - {"resources"}
    return not certain or not (open_conditions or others)


def _is_listed(namespace: str, patterns: Iterable[str | None]) -> bool:
    return any(fnmatchcase(namespace, pattern or "*") for pattern in patterns)


def _is_denied_by_cloud(assignment: DeclaredResource, namespace: str) -> bool:
    """Return True if an assigned cloud policy denies something that the driver's pods need."""
    for name in names():
        token, path, definitions = cloud(name).pod_policies
        if assignment.type != token:
            continue
        definition = (assignment.props.text(path) or "").rpartition("/")[2]
        parameters = assignment.props.below("parameters")
        only = _texts(parameters, "namespaces")
        return (
            definition in definitions
            and str(parameters.at("effect.value")).lower() == "deny"
            and not _is_listed(namespace, _texts(parameters, "excludedNamespaces"))
            and (not only or _is_listed(namespace, only))
        )
    return False


def _texts(parameters: Properties, name: str) -> tuple[Any, ...]:
    return parameters.texts(f"{name}.value") or ()
