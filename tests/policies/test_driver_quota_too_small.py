"""On GKE the driver's pods are critical, so a ResourceQuota must admit them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from dra_policies.rules.drivers.driver_quota_too_small import RULE
from dra_policies.rules.rule import Finding
from dra_policies.stack.views import view_of_stack
from dra_policies.unknown_values import UNKNOWN

DRIVER = "nvidia-dra-driver-gpu"
NO_DOMAINS = {"resources": {"computeDomains": {"enabled": False}}}
CRITICAL = {
    "matchExpressions": [
        {"scopeName": "PriorityClass", "operator": "In", "values": ["system-node-critical"]}
    ]
}


def quota(
    declare: SimpleNamespace, pods: Any, namespace: str = "nvidia", scope: Any = CRITICAL
) -> Any:
    spec = {"hard": {"pods": pods}, "scopeSelector": scope}
    return declare.kubernetes("ResourceQuota", "core/v1", "critical", namespace, spec=spec)


def findings(*resources: Any) -> list[Finding]:
    return list(RULE.check(view_of_stack(resources)))


# The pool grows to 4 nodes: pods in the quota, driver values → passes, fails, or cannot tell.
CASES: dict[str, tuple[Any, Any, str]] = {
    "one pod for each node, no controller": (4, NO_DOMAINS, "passes"),
    "as text": ("4", NO_DOMAINS, "passes"),
    "one too few": (3, NO_DOMAINS, "fails"),
    "no pod left for the controller": (4, {}, "fails"),
    "one pod left for the controller": (5, {}, "passes"),
    "no pod left for the webhook": (5, {"webhook": {"enabled": True}}, "fails"),
    "three controllers": (7, {"controller": {"replicas": 3}}, "passes"),
    "a driver without priority": (1, {"kubeletPlugin": {"priorityClassName": ""}}, "passes"),
    "a priority removed by null": (1, {"kubeletPlugin": {"priorityClassName": None}}, "passes"),
    "an unknown number of pods": (UNKNOWN, {}, "cannot tell"),
    "an unknown number of controllers": (4, {"resources": UNKNOWN}, "cannot tell"),
}


@pytest.mark.parametrize("name", CASES)
def test_a_quota_is_compared_with_the_drivers_pods(declare: SimpleNamespace, name: str) -> None:
    pods, values, expected = CASES[name]

    found = findings(declare.node_pool(), declare.release(DRIVER, values), quota(declare, pods))

    result = "passes" if not found else "fails" if found[0].certain else "cannot tell"
    assert result == expected


def test_a_missing_quota_is_reported(declare: SimpleNamespace) -> None:
    driver = declare.release(DRIVER, NO_DOMAINS)
    elsewhere = quota(declare, 100, namespace="other")
    of_other_pods = quota(
        declare,
        100,
        scope={"matchExpressions": [{"scopeName": "BestEffort", "operator": "Exists"}]},
    )

    for others in ([], [elsewhere], [of_other_pods]):
        (finding,) = findings(declare.node_pool(), driver, *others)
        assert 'namespace "nvidia", because' in finding.message
        assert "at least 4 pods" in finding.fix


@pytest.mark.parametrize(("pods", "expected"), [(3, False), (4, True)])
@pytest.mark.parametrize("name", ["nvidia", UNKNOWN])
def test_a_namespace_that_does_not_exist_yet_is_resolved(
    declare: SimpleNamespace, name: Any, pods: int, expected: bool
) -> None:
    """In the first preview of a cluster, both refer to an output of the Namespace."""
    namespace = declare.kubernetes("Namespace", "core/v1", name)
    driver = declare.release(
        DRIVER, NO_DOMAINS, namespace=UNKNOWN, sources={"namespace": (namespace.urn,)}
    )
    limit = quota(declare, pods)
    limit.props.values["metadata"]["namespace"] = UNKNOWN
    limit = replace(limit, sources={"metadata": (namespace.urn,)})

    found = findings(declare.node_pool(), driver, limit, namespace)

    assert (found == []) == expected
    assert all(finding.certain for finding in found)


def test_kube_system_needs_no_quota(declare: SimpleNamespace) -> None:
    assert findings(declare.node_pool(), declare.release(DRIVER, namespace="kube-system")) == []


def test_eks_needs_no_quota(declare: SimpleNamespace) -> None:
    assert findings(declare.node_group(), declare.release(DRIVER)) == []


def test_an_unknown_pool_maximum_makes_the_finding_uncertain(declare: SimpleNamespace) -> None:
    (finding,) = findings(
        declare.node_pool(autoscaling=UNKNOWN),
        declare.release(DRIVER, NO_DOMAINS),
        quota(declare, 3),
    )

    assert not finding.certain


def test_the_message_lists_the_required_pods(declare: SimpleNamespace) -> None:
    (finding,) = findings(declare.node_pool(), declare.release(DRIVER), quota(declare, 4))

    assert str(finding) == (
        'ResourceQuota "critical" allows 4 critical pods, but Release "nvidia-dra-driver-gpu" '
        'needs 5: one on each GPU node (at most 4 in node pool "l4"), and 1 controller pod; set the '
        "quota's spec.hard.pods to 5"
    )
