"""Which created objects a ValidatingAdmissionPolicy applies to."""

from __future__ import annotations

from typing import Any

import pytest

from dra_planner.errors import NOWHERE
from dra_planner.plan.blockers.policies.matching import NAME_LABEL, matches
from dra_planner.plan.blockers.policies.requests import AdmissionRequest

POD = AdmissionRequest(
    title="pods of Job ml/train",
    group="",
    version="v1",
    resource="pods",
    namespace="ml",
    labels={"app": "train"},
    data={"metadata": {"generateName": "train-"}},
    place=NOWHERE,
)
CLASS = AdmissionRequest(
    title="DeviceClass gpu",
    group="resource.k8s.io",
    version="v1",
    resource="deviceclasses",
    namespace="",
    labels={},
    data={"metadata": {"name": "gpu"}},
    place=NOWHERE,
)


def rule(**changes: Any) -> dict[str, Any]:
    """A rule about the creation of pods."""
    made = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"]}
    return {**made, "resources": ["pods"], **changes}


@pytest.mark.parametrize(
    ("constraints", "expected"),
    [
        (None, True),
        ({}, True),
        ({"resourceRules": [rule()]}, True),
        ({"resourceRules": [rule(apiGroups=["apps"])]}, False),
        ({"resourceRules": [rule(apiGroups=["*"], apiVersions=["*"], resources=["*"])]}, True),
        ({"resourceRules": [rule(resources=["pods/*"])]}, True),
        ({"resourceRules": [rule(resources=["pods/status"])]}, False),
        ({"resourceRules": [rule(operations=["UPDATE", "DELETE"])]}, False),
        ({"resourceRules": [rule(operations=["*"])]}, True),
        ({"resourceRules": [rule(scope="Cluster")]}, False),
        ({"resourceRules": [rule(resources=5)]}, False),
        ({"resourceRules": [rule(operations=True, resourceNames=5)]}, False),
        ({"resourceRules": [rule(resourceNames=["train"])]}, False),
        ({"resourceRules": [rule()], "excludeResourceRules": [rule()]}, False),
        ({"objectSelector": {"matchLabels": {"app": "train"}}}, True),
        ({"objectSelector": {"matchLabels": {"app": "web"}}}, False),
        ({"namespaceSelector": {"matchLabels": {NAME_LABEL: "ml"}}}, True),
        ({"namespaceSelector": {"matchLabels": {NAME_LABEL: "web"}}}, False),
        ({"namespaceSelector": {"matchLabels": {"team": "a"}}}, None),
    ],
)
def test_namespace_that_is_not_given_may_match(constraints: Any, expected: bool | None) -> None:
    assert matches(constraints, POD, None) is expected


@pytest.mark.parametrize(("team", "expected"), [("a", True), ("b", False)])
def test_labels_of_a_given_namespace_are_matched(team: str, expected: bool) -> None:
    constraints = {"namespaceSelector": {"matchLabels": {"team": "a"}}}
    assert matches(constraints, POD, {"team": team}) is expected


def test_cluster_scoped_objects_ignore_namespace_selectors() -> None:
    about = rule(apiGroups=["resource.k8s.io"], resources=["deviceclasses"], resourceNames=["gpu"])
    selector = {"matchLabels": {"team": "a"}}
    assert matches({"resourceRules": [about], "namespaceSelector": selector}, CLASS, None) is True
