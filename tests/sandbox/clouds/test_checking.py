"""Inputs that the SDK's types do not allow are refused with their path and the reason."""

from __future__ import annotations

from typing import Any

import pytest

from dra_sandbox.clouds.property_checks import check_allowed, check_values
from dra_sandbox.clouds.sdk import Sdk
from dra_sandbox.clouds.wire_values import UNKNOWN

GROUP = {
    "clusterName": "main",
    "nodeRoleArn": "arn:aws:iam::123456789012:role/nodes",
    "subnetIds": ["subnet-1"],
    "scalingConfig": {"minSize": 0, "desiredSize": 1, "maxSize": 2},
}


def refusals(token: str, inputs: dict[str, Any]) -> list[tuple[str, str]]:
    schema = Sdk(token.split(":", 1)[0]).resource(token)
    return [(found.path, found.reason) for found in check_values(schema, inputs)]


@pytest.mark.parametrize(
    ("change", "path", "reason"),
    [
        ({"instanceType": ["g6.2xlarge"]}, "instanceType", 'did you mean "instanceTypes"?'),
        ({"colour": "red"}, "colour", 'unknown property "colour"'),
        ({"clusterName": None}, "clusterName", 'missing required property "clusterName"'),
        ({"diskSize": "100"}, "diskSize", "expected an integer, got '100'"),
        ({"diskSize": 100.5}, "diskSize", "expected an integer, got 100.5"),
        ({"diskSize": True}, "diskSize", "expected an integer, got True"),
        ({"amiType": 3}, "amiType", "expected a string, got 3"),
        ({"forceUpdateVersion": "yes"}, "forceUpdateVersion", "expected a boolean, got 'yes'"),
        ({"subnetIds": "subnet-1"}, "subnetIds", "expected a list, got 'subnet-1'"),
        ({"subnetIds": ["subnet-1", 7]}, "subnetIds[1]", "expected a string, got 7"),
        ({"labels": {"count": 3}}, "labels.count", "expected a string, got 3"),
        (
            {"scalingConfig": {"minSize": 0, "desiredSize": 1}},
            "scalingConfig.maxSize",
            "missing required",
        ),
        (
            {"taints": [{"key": "a", "effect": "NO_SCHEDULE", "operator": "Exists"}]},
            "taints[0].operator",
            "unknown property",
        ),
    ],
)
def test_one_fault_is_one_error_at_its_path(change: dict[str, Any], path: str, reason: str) -> None:
    found = refusals("aws:eks/nodeGroup:NodeGroup", {**GROUP, **change})

    assert [where for where, _ in found] == [path]
    assert reason in found[0][1]


def test_several_faults_are_all_reported() -> None:
    found = refusals(
        "aws:eks/nodeGroup:NodeGroup", {"clusterNam": "main", "subnetIds": ["subnet-1"]}
    )

    assert {path for path, _ in found} == {
        "clusterNam",
        "clusterName",
        "nodeRoleArn",
        "scalingConfig",
    }


def test_valid_and_unknown_inputs_are_accepted() -> None:
    assert refusals("aws:eks/nodeGroup:NodeGroup", GROUP) == []
    assert (
        refusals(
            "aws:eks/nodeGroup:NodeGroup",
            {**GROUP, "scalingConfig": UNKNOWN, "clusterName": UNKNOWN},
        )
        == []
    )
    assert refusals("aws:eks/nodeGroup:NodeGroup", {**GROUP, "subnetIds": [UNKNOWN]}) == []


@pytest.mark.parametrize(
    ("port", "accepted"), [(8080, True), ("http", True), (True, False), ({"a": 1}, False)]
)
def test_either_of_two_types_is_accepted(port: Any, accepted: bool) -> None:
    container = {"name": "a", "livenessProbe": {"httpGet": {"port": port}}}
    pod = {"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [container]}}

    assert (refusals("kubernetes:core/v1:Pod", pod) == []) is accepted


def test_allowed_values_are_checked_for_every_element() -> None:
    allowed = {"taints[*].effect": frozenset({"NO_SCHEDULE", "NO_EXECUTE"})}
    taints = [{"effect": "NO_SCHEDULE"}, {"effect": "NoSchedule"}, {"effect": UNKNOWN}]

    found = list(check_allowed(allowed, {"taints": taints}))

    assert [(refusal.path, refusal.reason) for refusal in found] == [
        ("taints[1].effect", '"NoSchedule" is not one of NO_EXECUTE, NO_SCHEDULE')
    ]
