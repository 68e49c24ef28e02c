"""Admission policies that reject the driver's pods: only those that apply to its namespace."""

from __future__ import annotations

from typing import Any

import pytest
from seeded_stacks import base, edited, findings_of

NAMESPACE = "nvidia-dra-driver"
PRIVILEGED = {
    "pattern": {"spec": {"containers": [{"=(securityContext)": {"=(privileged)": False}}]}}
}
PODS = {"any": [{"resources": {"kinds": ["Pod"]}}]}
DENIED = "/providers/Microsoft.Authorization/policyDefinitions/95edb821-ddaf-4404-9732-666045e056b4"


def kyverno(**rule: Any) -> dict[str, Any]:
    spec = {
        "validationFailureAction": "Enforce",
        "rules": [{"name": "rule", "match": PODS, "validate": PRIVILEGED, **rule}],
    }
    return {"type": "kubernetes:kyverno.io/v1:ClusterPolicy", "props": {"spec": spec}}


def gatekeeper(**match: Any) -> dict[str, Any]:
    return {
        "type": "kubernetes:constraints.gatekeeper.sh/v1beta1:K8sPSPPrivilegedContainer",
        "props": {"spec": {"match": match}},
    }


def azure(**parameters: Any) -> dict[str, Any]:
    given = {"effect": "Deny", **parameters}
    return {
        "type": "azure-native:authorization:PolicyAssignment",
        "props": {
            "policyDefinitionId": DENIED,
            "parameters": {key: {"value": value} for key, value in given.items()},
        },
    }


def within(*namespaces: str) -> dict[str, Any]:
    return {"any": [{"resources": {"namespaces": list(namespaces)}}]}


REJECTS = {
    "every namespace": kyverno(),
    "a longer name is excluded": kyverno(exclude=within(f"{NAMESPACE}-old")),
    "a message names the namespace": kyverno(exclude=within("kube-system"), message=NAMESPACE),
    "one of two filters is for another namespace": kyverno(
        exclude={"all": [*within(NAMESPACE)["any"], *within("kube-system")["any"]]}
    ),
    "only this namespace": kyverno(match=within("ml", NAMESPACE)),
    "a pod security standard": kyverno(validate={"podSecurity": {"level": "baseline"}}),
    "another prefix is excluded": gatekeeper(excludedNamespaces=["kube-*", "dra"]),
    "Azure excludes a longer name": azure(excludedNamespaces=["kube-system", f"{NAMESPACE}-2"]),
}
ADMITS = {
    "the namespace is excluded": kyverno(exclude=within("kube-system", NAMESPACE)),
    "a pattern is excluded": kyverno(exclude=within("nvidia-*")),
    "an older form of exclude": kyverno(exclude={"resources": {"namespaces": [NAMESPACE]}}),
    "another namespace": kyverno(match=within("ml")),
    "Services": kyverno(match={"any": [{"resources": {"kinds": ["Service"]}}]}),
    "labels decide": kyverno(
        match={"any": [{"resources": {"kinds": ["Pod"], "selector": {"matchLabels": {"a": "b"}}}}]}
    ),
    "conditions decide": kyverno(preconditions={"all": [{"key": "{{request.namespace}}"}]}),
    "another field": kyverno(
        validate={"message": "not privileged", "pattern": {"spec": {"=(hostPID)": False}}}
    ),
    "Gatekeeper excludes a prefix": gatekeeper(excludedNamespaces=["nvidia-*"]),
    "Gatekeeper is for others": gatekeeper(namespaces=["ml"]),
    "Azure excludes the namespace": azure(excludedNamespaces=[NAMESPACE]),
    "Azure audits": azure(effect="Audit"),
    "Azure is for others": azure(namespaces=["ml"]),
}


def is_rejected(policy: dict[str, Any]) -> bool:
    provider = {} if policy["type"].startswith("azure") else {"provider": "k8s"}
    stack = edited(base("raw-aks"), {"policy": {**policy, **provider}})
    return ("driver-pods-rejected", "policy") in {
        (entry.rule, entry.object) for entry in findings_of(stack)
    }


@pytest.mark.parametrize("policy", REJECTS.values(), ids=REJECTS)
def test_an_applicable_policy_is_found(policy: dict[str, Any]) -> None:
    assert is_rejected(policy)


@pytest.mark.parametrize("policy", ADMITS.values(), ids=ADMITS)
def test_a_policy_that_may_not_apply_is_ignored(policy: dict[str, Any]) -> None:
    assert not is_rejected(policy)
