"""Every example manifest has its expected answer."""

from __future__ import annotations

from typing import Any

import pytest
from plan_builders import example, fleet, plan_of

from dra_planner.model import Verdict

L4, L4_FOUR, H100, V100 = "g6.2xlarge", "g6.12xlarge", "p5.48xlarge", "p3.2xlarge"
UP_TO_FOUR = {"min": 0, "max": 4}


@pytest.mark.parametrize(
    ("file", "pool", "verdict", "nodes", "devices"),
    [
        ("workloads/ranked-alternatives", (L4, UP_TO_FOUR), "fits", 1, 1),
        ("workloads/shared-claim", (L4, UP_TO_FOUR), "fits", 1, 1),
        ("workloads/at-least-40-gb", (H100, UP_TO_FOUR), "fits", 1, 2),
        ("workloads/at-least-40-gb", (L4, UP_TO_FOUR), "does-not-fit", 0, 0),
        ("workloads/two-pods", (L4, 1), "does-not-fit", 1, 1),
        ("workloads/two-pods", (L4, UP_TO_FOUR), "fits", 2, 2),
        ("workloads/job-two-gpus-each", (H100, UP_TO_FOUR), "fits", 1, 8),
        ("workloads/job-two-gpus-each", (L4_FOUR, UP_TO_FOUR), "fits", 2, 8),
        ("workloads/job-two-gpus-each", (L4, UP_TO_FOUR), "does-not-fit", 0, 0),
        ("workloads-that-do-not-fit/tesla-volta", (V100, UP_TO_FOUR), "cannot-tell", 0, 0),
        ("workloads-that-do-not-fit/tesla-volta", (H100, UP_TO_FOUR), "does-not-fit", 0, 0),
        (
            "workloads-that-do-not-fit/at-least-40-gb-with-an-operator",
            (H100, UP_TO_FOUR),
            "does-not-fit",
            0,
            0,
        ),
        (
            "workloads-that-do-not-fit/forgotten-toleration",
            (H100, UP_TO_FOUR),
            "does-not-fit",
            0,
            0,
        ),
    ],
)
@pytest.mark.parametrize("kubernetes", ["1.34", "1.36"])
def test_example_has_the_expected_verdict_and_nodes(
    file: str, pool: tuple[str, Any], verdict: Verdict, nodes: int, devices: int, kubernetes: str
) -> None:
    plan = plan_of(fleet(pool, kubernetes=kubernetes), *example(file))
    (planned,) = plan.pools
    assert (plan.verdict, planned.packing, planned.devices.used) == (verdict, nodes, devices)


def reasons(file: str, *pools: tuple[str, Any]) -> str:
    plan = plan_of(fleet(*pools), *example(file))
    return "\n".join(
        f"{r.message} → {r.fix}" for workload in plan.workloads for r in workload.reasons
    )


def test_one_pod_runs_and_one_needs_an_additional_node() -> None:
    plan = plan_of(fleet((L4, 1)), *example("workloads/two-pods"))
    assert [(each.workload.name, each.placed, each.pending) for each in plan.workloads] == [
        ("first", 1, 0),
        ("second", 0, 1),
    ]
    assert "1 more node" in reasons("workloads/two-pods", (L4, 1))


def test_available_architectures_are_listed() -> None:
    text = reasons("workloads-that-do-not-fit/tesla-volta", (L4, UP_TO_FOUR), (H100, UP_TO_FOUR))
    assert "Ada Lovelace" in text
    assert "Hopper" in text


def test_unknown_brand_is_the_reason() -> None:
    assert "brand" in reasons("workloads-that-do-not-fit/tesla-volta", (V100, UP_TO_FOUR))


def test_missing_toleration_is_reported() -> None:
    text = reasons("workloads-that-do-not-fit/forgotten-toleration", (L4, UP_TO_FOUR))
    assert "add to the pod's tolerations: {key: nvidia.com/gpu" in text


def test_selector_that_does_not_compile_gets_a_fix() -> None:
    plan = plan_of(
        fleet((H100, UP_TO_FOUR)),
        *example("workloads-that-do-not-fit/at-least-40-gb-with-an-operator"),
    )
    (finding,) = plan.diagnostics
    assert (finding.severity, finding.place.line) == ("error", 17)
    assert "compareTo" in finding.fix


def test_fitting_pool_outweighs_an_undecided_pool() -> None:
    plan = plan_of(
        fleet((V100, UP_TO_FOUR), (L4, UP_TO_FOUR)), *example("workloads/ranked-alternatives")
    )
    assert plan.verdict == "fits"
