"""Admission policies that certainly reject the DRA driver's pods."""

from __future__ import annotations

import json
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Final

from dra_planner.clouds import cloud, names
from dra_policies.rules.rule import Finding
from dra_policies.unknown_values import Properties, has_unknown
from dra_policies.view.stack_view import DeclaredResource, InstalledDriver, StackView

_KYVERNO: Final = ":ClusterPolicy"
_GATEKEEPER: Final = "constraints.gatekeeper.sh"
_WORDS: Final = ("privileged", "hostPath", "host-path", "HostFilesystem", "PrivilegedContainer")
"""Names of the driver's needs in policies of Kyverno and Gatekeeper."""


def rejecting_policies(view: StackView, driver: InstalledDriver) -> Iterator[Finding]:
    """Yield policies of Kyverno, Gatekeeper, and the cloud that reject a driver's pods."""
    namespace = driver.namespace
    if not namespace:
        return
    for each in (*view.objects, *view.declared):
        if _rejects(each, namespace) or _is_denied_by_cloud(each, namespace):
            yield Finding(
                message=f'policy "{each.name}" rejects privileged pods and host paths in namespace '
                f"{namespace}, so {driver.title} has no pods, and no devices are published",
                fix=f"exclude the namespace {namespace} from the policy",
                urn=each.urn,
            )


def _rejects(policy: DeclaredResource, namespace: str) -> bool:
    """Return True if a policy of Kyverno or Gatekeeper certainly rejects the driver's pods."""
    if has_unknown(policy.props.values):
        return False
    if _GATEKEEPER in policy.type:
        action = policy.props.text("spec.enforcementAction", "deny")
        excluded = policy.props.texts("spec.match.excludedNamespaces") or ()
        only = policy.props.texts("spec.match.namespaces") or ()
        applies = not _is_listed(namespace, excluded) and (not only or _is_listed(namespace, only))
        return action == "deny" and applies and any(word in policy.type for word in _WORDS)
    if not policy.type.endswith(_KYVERNO) or "kyverno" not in policy.type:
        return False
    return any(
        _enforces(policy.props, rule)
        and any(word in json.dumps(rule.values) for word in _WORDS)
        and namespace not in json.dumps(rule.at("exclude"))
        and "exclude" not in json.dumps(rule.at("match"))
        for rule in policy.props.items("spec.rules") or ()
        if rule.has("validate")
    )


def _enforces(policy: Properties, rule: Properties) -> bool:
    action = rule.text("validate.failureAction") or policy.text("spec.validationFailureAction")
    return (action or "Audit").lower() == "enforce"


def _is_listed(namespace: str, patterns: tuple[str | None, ...]) -> bool:
    return any(fnmatchcase(namespace, pattern or "*") for pattern in patterns)


def _is_denied_by_cloud(assignment: DeclaredResource, namespace: str) -> bool:
    """Return True if an assigned policy of the cloud denies what the driver's pods need."""
    for name in names():
        token, path, definitions = cloud(name).pod_policies
        if assignment.type != token:
            continue
        definition = assignment.props.text(path) or ""
        parameters = json.dumps(assignment.props.at("parameters"), default=str)
        return (
            any(each in definition for each in definitions)
            and '"deny"' in parameters.lower()
            and namespace not in parameters
        )
    return False
