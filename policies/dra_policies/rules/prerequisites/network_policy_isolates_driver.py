"""NetworkPolicies that cut the DRA driver or the cluster's services off from the API server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from dra_planner.clouds import cloud
from dra_policies.rules.rule import Finding, Rule
from dra_policies.unknown_values import UNKNOWN, Properties, as_mapping
from dra_policies.view.pool_machines import has_value
from dra_policies.view.stack_view import DeclaredResource, StackView

POLICY: Final = "kubernetes:networking.k8s.io/v1:NetworkPolicy"
SYSTEM: Final = "kube-system"
_API_PORTS: Final = (443, 6443)
"""Ports of an API server: of its Service, and of its endpoints."""


def check(view: StackView) -> Iterator[Finding]:
    if not view.complete:
        return
    policies = [each for each in view.objects if each.type == POLICY]
    enforced = _is_enforced(view) if policies else None
    for driver in view.drivers if policies and enforced is not False else ():
        found = _isolating(policies, driver.namespace, driver.pod_labels)
        if found is not None:
            yield _finding(
                found,
                f"the pods of {driver.title} can't publish devices",
                enforced,
            )
    if enforced is not False and (found := _isolating(policies, SYSTEM, {})) is not None:
        yield _finding(
            found,
            "cluster add-ons such as CoreDNS stop working, and pods can't resolve names",
            enforced,
        )


def _finding(policy: DeclaredResource, consequence: str, enforced: bool | None) -> Finding:
    condition = "" if enforced else "if the cluster enforces NetworkPolicies, "
    return Finding(
        message=f'{condition}NetworkPolicy "{policy.name}" blocks egress to the API server, so '
        f"{consequence}",
        fix="add an egress rule without `to` that allows TCP ports 443 and 6443",
        urn=policy.urn,
        certain=enforced is True,
    )


def _isolating(
    policies: list[DeclaredResource], namespace: str | None, labels: Mapping[str, str]
) -> DeclaredResource | None:
    """Return a policy that isolates pods with these labels, if no policy allows them egress to an
    API server.
    """
    chosen = [
        each
        for each in policies
        if namespace is not None
        and each.props.text("metadata.namespace", "default") == namespace
        and _limits_egress(each.props)
    ]
    selecting = [each for each in chosen if _selects(each.props, labels)]
    if not selecting or any(_may_reach(each.props) for each in chosen):
        return None
    return selecting[0]


def _limits_egress(policy: Properties) -> bool:
    types = policy.texts("spec.policyTypes")
    if types:
        return "Egress" in types
    return types is not None and policy.has("spec.egress") is True


def _selects(policy: Properties, labels: Mapping[str, str]) -> bool:
    """Return True if the policy certainly selects pods with these labels."""
    selector = policy.at("spec.podSelector")
    if selector is UNKNOWN or (as_mapping(selector) or {}).get("matchExpressions"):
        return False
    wanted = policy.mapping("spec.podSelector.matchLabels")
    return wanted is not None and all(labels.get(key) == value for key, value in wanted.items())


def _may_reach(policy: Properties) -> bool:
    """Return True unless no egress rule reaches addresses outside the cluster's pods, where API
    servers are.
    """
    rules = policy.items("spec.egress")
    return rules is None or any(_opens(rule) for rule in rules)


def _opens(rule: Properties) -> bool:
    peers, ports = rule.items("to"), rule.items("ports")
    is_outside = not peers or any(peer.has("ipBlock") is not False for peer in peers)
    return is_outside and (not ports or any(_is_for_api(port) for port in ports))


def _is_for_api(port: Properties) -> bool:
    first, last = port.count("port", 0), port.count("endPort", 0)
    if first is None or last is None or not first:
        return True  # a port name, or every port
    return any(first <= each <= max(first, last) for each in _API_PORTS)


def _is_enforced(view: StackView) -> bool | None:
    """Return whether the cluster enforces NetworkPolicies; None if it isn't known."""
    if any("cilium" in chart or "calico" in chart or "tigera" in chart for chart in view.charts):
        return True
    for each in view.declared:
        for name in {pool.cloud for pool in view.pools}:
            of_cluster = cloud(name).cluster
            settings = of_cluster.network_policies
            if each.type == of_cluster.token and settings:
                return any(has_value(each.props.at(path), value) for path, value in settings)
            addons = of_cluster.addons
            if addons and each.type == addons.token:
                text = (each.props.text(addons.settings) or "").replace(" ", "")
                if addons.network_policies in text:
                    return True
    return None


RULE = Rule(
    id="network-policy-isolates-driver",
    description="A NetworkPolicy prevents the DRA driver or CoreDNS from reaching the API server.",
    why="The driver publishes devices through the API server. If the driver can't reach the "
    "API server, pods with claims stay pending.",
    fix="Allow egress to the API server.",
    level="mandatory",
    is_outage=True,
    url="https://kubernetes.io/docs/concepts/services-networking/network-policies/",
    needs="stack",
    check=check,
)
