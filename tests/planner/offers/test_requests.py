"""Amounts that the scheduler counts for a pod with pod-level resources.

Source: kubernetes/kubernetes:pkg/apis/core/v1/defaults.go@v1.36.3 (defaultPodRequests).
"""

from __future__ import annotations

from typing import Any

import pytest

from dra_planner.manifests.parsing.pods import parse_pod_spec
from dra_planner.offers import pod_requests

GI = 2**30


def spec(pod_level: dict[str, Any], *containers: dict[str, Any]) -> dict[str, Any]:
    listed = [
        {"name": f"c{index}", "resources": resources} for index, resources in enumerate(containers)
    ]
    return {"containers": listed, "resources": pod_level}


CASES = {
    "a request replaces those of containers": (
        spec({"requests": {"cpu": 4}}, {"requests": {"cpu": 1}}),
        {"cpu": 4000},
    ),
    "a limit leaves the requests of containers": (
        spec({"limits": {"cpu": 4}}, {"requests": {"cpu": 1}}, {"limits": {"cpu": 1}}),
        {"cpu": 2000},
    ),
    "a limit without requests of containers is the request": (
        spec({"limits": {"cpu": 4, "memory": "2Gi"}}, {"requests": {"cpu": 1}}),
        {"cpu": 1000, "memory": 2 * GI},
    ),
    "a limit of huge pages is always the request": (
        spec({"limits": {"cpu": 1, "hugepages-1Gi": "4Gi"}}, {"limits": {"hugepages-1Gi": "1Gi"}}),
        {"cpu": 1000, "hugepages-1Gi": 4 * GI},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_pod_level_requests_count_with_the_servers_defaults(name: str) -> None:
    written, expected = CASES[name]
    counted = pod_requests(parse_pod_spec(written))
    assert {key: amount for key, amount in counted.items() if key != "pods"} == expected
