"""PriorityClasses determine the priority of pods, in the same way as admission.

Source: kubernetes/kubernetes:plugin/pkg/admission/priority/admission.go@v1.36.3.
"""

from __future__ import annotations

import pytest

from dra_planner.claims.admission.priorities import refuse_priority
from dra_planner.manifests import Manifests
from dra_planner.model import PodSpec

CLASSES = {"high": 1000}


@pytest.mark.parametrize(
    ("pod", "classes", "rejected"),
    [
        (PodSpec(priority=1000, priority_class_name="high"), CLASSES, False),
        (PodSpec(priority=500, priority_class_name="high"), CLASSES, True),
        (PodSpec(priority=1000), CLASSES, True),
        (PodSpec(priority=1000), {"": 1000}, False),
        (PodSpec(priority=1000, priority_class_name="unknown"), CLASSES, False),
        (PodSpec(priority=2000000000, priority_class_name="system-cluster-critical"), {}, False),
        (PodSpec(), CLASSES, False),
    ],
    ids=[
        "the value of its class",
        "another value",
        "without a class",
        "the value of the default class",
        "a class that isn't known",
        "a class that every cluster has",
        "no value",
    ],
)
def test_api_server_rejects_priorities_that_it_does_not_compute(
    pod: PodSpec, classes: dict[str, int], rejected: bool
) -> None:
    reason = refuse_priority(pod, Manifests(priority_classes=classes))
    assert (reason is not None) == rejected
