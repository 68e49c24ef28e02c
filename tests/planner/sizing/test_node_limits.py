"""Why a node runs only some of the pods: the resources that end before its devices do."""

from __future__ import annotations

import pytest
from sizing_builders import pool, size, workload

CASES: dict[str, tuple[dict[str, int], dict[str, int], str]] = {
    # name: (the pool's nodes, one pod, the cause)
    "devices and CPU are exhausted together": (
        {"gpus": 1, "cpu": 8_000},
        {"gpus": 1, "cpu": 5_000},
        " needs 4 more devices",
    ),
    "devices and memory are exhausted together": (
        {"gpus": 2, "memory_gib": 64},
        {"gpus": 1, "memory_gib": 30},
        " needs 3 more devices",
    ),
    "a pod uses the last devices, and less CPU is left than it requests": (
        {"gpus": 3, "cpu": 8_000},
        {"gpus": 2, "cpu": 7_000},
        " needs 8 more devices",
    ),
    "only CPU is exhausted": (
        {"gpus": 4, "cpu": 8_000},
        {"gpus": 1, "cpu": 5_000},
        "a node runs at most 1 of these pods, because the pod requests 5 CPUs, but only 3 of 8 "
        "CPUs are free (2 CPUs short)",
    ),
    "CPU and memory are exhausted together": (
        {"gpus": 4, "cpu": 8_000, "memory_gib": 64},
        {"gpus": 1, "cpu": 5_000, "memory_gib": 40},
        "only 3 of 8 CPUs are free (2 CPUs short), and the pod requests 40 GiB of memory, but "
        "only 24 of 64 GiB is free (16 GiB short)",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_reported_cause_is_the_first_exhausted_resource(name: str) -> None:
    node, pod, cause = CASES[name]

    sizing = size([pool("a", at_most=1, **node)], workload("web", 5, **pod))

    (reason,) = sizing.workloads[0].reasons
    assert reason.message.endswith(cause) or f"{cause} " in reason.message
    assert ("a node runs at most" in reason.message) == cause.startswith(("a node", "only"))


@pytest.mark.parametrize(
    ("gpus", "requested", "alternative"),
    [
        (2, 5_000, "request at most 4 CPUs per pod, so that a node runs 2 pods"),
        (4, 3_000, "request at most 2 CPUs per pod, so that a node runs 4 pods"),
        (4, 5_000, ""),  # the pods would keep less than half of their CPUs
    ],
)
def test_smaller_request_that_fills_a_node_is_an_alternative(
    gpus: int, requested: int, alternative: str
) -> None:
    nodes = [pool("a", at_most=1, gpus=gpus, cpu=8_000)]

    sizing = size(nodes, workload("web", 6, gpus=1, cpu=requested))

    (reason,) = sizing.workloads[0].reasons
    assert reason.alternative == alternative
    assert reason.fix.endswith(f", or {alternative}" if alternative else "more nodes)")
