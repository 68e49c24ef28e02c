"""The requests of each pod of a workload in reports."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from dra_command.plan_report.pod_requests import pod_requests, requests_sentence
from dra_planner.claims import expand_claims
from dra_planner.model import DeviceClass, ObjectMeta
from dra_planner.plan import read_checked
from dra_planner.releases import features_of
from dra_planner.sources import Source

GPU, MIG, NIC = "gpu.nvidia.com", "mig.nvidia.com", "dranet"
CLASSES = {name: DeviceClass(meta=ObjectMeta(name=name)) for name in (GPU, MIG, NIC)}


def exactly(name: str, device_class: str = GPU, **more: Any) -> dict[str, Any]:
    return {"name": name, "exactly": {"deviceClassName": device_class, **more}}


ONE = exactly("one")
TWO = exactly("two", count=2)
EVERY_NIC = exactly("nics", NIC, allocationMode="All")
WATCHING = exactly("watch", adminAccess=True)
EITHER = {
    "name": "any",
    "firstAvailable": [
        {"name": "large", "deviceClassName": GPU},
        {"name": "small", "deviceClassName": MIG, "count": 2},
    ],
}


def template(name: str, *requests: dict[str, Any], equal: str = "") -> dict[str, Any]:
    devices: dict[str, Any] = {"requests": list(requests)}
    if equal:
        devices["constraints"] = [{"matchAttribute": equal}]
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": name},
        "spec": {"spec": {"devices": devices}},
    }


def pod_spec(claim: str, key: str = "resourceClaimTemplateName") -> dict[str, Any]:
    return {
        "containers": [{"name": "main", "image": "any"}],
        "resourceClaims": [{"name": "devices", key: claim}],
    }


def pod(claim: str, key: str = "resourceClaimTemplateName") -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "web"},
        "spec": pod_spec(claim, key),
    }


def request_sentences(*documents: dict[str, Any]) -> list[str]:
    features = features_of(36)
    manifests = read_checked([Source("app.yaml", yaml.safe_dump_all(documents))], features)
    requests = pod_requests(expand_claims(manifests, CLASSES, features))
    return [requests_sentence(rows) for rows in requests.values()]


@pytest.mark.parametrize(
    ("claims", "expected"),
    [
        (template("c", ONE), "1 × gpu.nvidia.com"),
        (template("c", ONE, TWO), "3 × gpu.nvidia.com"),
        (template("c", ONE, EVERY_NIC), "1 × gpu.nvidia.com and all dranet"),
        (
            template("c", TWO, equal="resource.kubernetes.io/pcieRoot"),
            "2 × gpu.nvidia.com, same pcieRoot",
        ),
        (template("c", EITHER), "1 × gpu.nvidia.com or 2 × mig.nvidia.com"),
    ],
    ids=["one", "added up", "all of a node", "equal attributes", "alternatives"],
)
def test_pod_lists_its_requests(claims: dict[str, Any], expected: str) -> None:
    assert request_sentences(claims, pod("c")) == [expected]


def test_claim_with_several_users_is_marked_as_shared() -> None:
    claim = {**template("c"), "kind": "ResourceClaim", "spec": {"devices": {"requests": [TWO]}}}
    assert request_sentences(claim, pod("c", "resourceClaimName")) == [
        "2 × gpu.nvidia.com (shared)"
    ]


def test_admin_access_requests_no_device() -> None:
    namespace = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": "default", "labels": {"resource.kubernetes.io/admin-access": "true"}},
    }
    assert request_sentences(namespace, template("c", WATCHING), pod("c")) == []


def test_roles_with_different_requests_are_named() -> None:
    roles = {
        role: {"replicas": 1, "template": {"spec": pod_spec(claim)}}
        for role, claim in (("Master", "one"), ("Worker", "two"))
    }
    job = {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {"name": "train"},
        "spec": {"pytorchReplicaSpecs": roles},
    }
    assert request_sentences(template("one", ONE), template("two", TWO), job) == [
        "Master: 1 × gpu.nvidia.com; Worker: 2 × gpu.nvidia.com"
    ]
