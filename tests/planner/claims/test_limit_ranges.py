"""LimitRanges for whole pods: the sum of the containers' amounts at their peak.

Source: kubernetes/kubernetes:plugin/pkg/admission/limitranger/admission.go@v1.36.3 (podRequests,
podLimits).
"""

from __future__ import annotations

import pytest

from dra_planner.claims.admission.limit_ranges import refuse, with_defaults
from dra_planner.model import Container, LimitRange, ObjectMeta, PodSpec


def container(
    name: str, cores: int, limit: int | None = None, *, always: bool = False
) -> Container:
    limits = {} if limit is None else {"cpu": 1000 * limit}
    return Container(
        name=name, requests={"cpu": 1000 * cores}, limits=limits, always_restarts=always
    )


SIDECAR = container("log", 1, 1, always=True)


@pytest.mark.parametrize(
    ("case", "pod", "refused"),
    [
        (
            "containers add up",
            PodSpec(containers=(container("a", 1, 1), container("b", 2, 2))),
            False,
        ),
        (
            "to more than the maximum",
            PodSpec(containers=(container("a", 2, 2), container("b", 2, 2))),
            True,
        ),
        (
            "an init container runs before the others",
            PodSpec(containers=(container("a", 3, 3),), init_containers=(container("i", 3, 3),)),
            False,
        ),
        (
            "and beside the sidecars that started before it",
            PodSpec(
                containers=(container("a", 1, 1),), init_containers=(SIDECAR, container("i", 3, 3))
            ),
            True,
        ),
        (
            "not beside those that start after it",
            PodSpec(
                containers=(container("a", 1, 1),), init_containers=(container("i", 3, 3), SIDECAR)
            ),
            False,
        ),
        ("no limit", PodSpec(containers=(container("a", 1),)), True),
        (
            "amounts of the pod itself",
            PodSpec(containers=(container("a", 1),), pod_requests={"cpu": 2000}),
            False,
        ),
        (
            "above the maximum",
            PodSpec(containers=(container("a", 1),), pod_requests={"cpu": 4000}),
            True,
        ),
    ],
)
def test_pod_maximum_of_a_limit_range_is_enforced(case: str, pod: PodSpec, refused: bool) -> None:
    limits = LimitRange(meta=ObjectMeta(name="l", namespace="default"), most_of_pod={"cpu": 3000})
    assert (refuse(pod, [limits]) is not None) == refused, case


@pytest.mark.parametrize(
    ("limits", "made", "problem"),
    [
        (
            {"most": {"cpu": 1000}},
            container("a", 2, 2),
            "has a limit of 2 CPUs, but LimitRange ml/l allows at most 1 CPU",
        ),
        (
            {"most": {"cpu": 1000}},
            container("a", 1),
            "doesn't set a cpu limit, but LimitRange ml/l requires a limit of at most 1 CPU",
        ),
        (
            {"least": {"cpu": 2000}},
            container("a", 1, 4),
            "requests 1 CPU, but LimitRange ml/l requires at least 2 CPUs",
        ),
        (
            {"default_limits": {"cpu": 1000}},
            container("a", 2, 1),
            "requests 2 CPUs, but with the defaults of LimitRange ml/l, its limit is 1 CPU",
        ),
        (
            {"ratios": {"cpu": 2000}},
            container("a", 1, 4),
            "requests 1 CPU and has a limit of 4 CPUs, but LimitRange ml/l allows at most 2 times "
            "the request (maxLimitRequestRatio)",
        ),
        (
            {"ratios": {"cpu": 2000}},
            container("a", 1),
            "lacks a cpu request or limit, but LimitRange ml/l requires both and allows a limit of "
            "at most 2 times the request (maxLimitRequestRatio)",
        ),
    ],
)
def test_reasons_state_the_amount_and_the_bound(
    limits: dict[str, dict[str, int]], made: Container, problem: str
) -> None:
    limit_range = LimitRange(meta=ObjectMeta(name="l", namespace="ml"), **limits)
    reason = refuse(PodSpec(containers=(made,)), [limit_range])
    assert reason is not None
    assert reason.message == f'container "a" {problem}, so the API server rejects the pods'


def test_pods_name_the_limit_range_of_their_default_requests() -> None:
    meta = ObjectMeta(name="limits", namespace="ml")
    limits = LimitRange(meta=meta, default_requests={"cpu": 1000, "memory": 2**30})
    pod = with_defaults(PodSpec(containers=(container("a", 2),)), [limits])
    assert pod.containers[0].requests == {"cpu": 2000, "memory": 2**30}
    assert pod.defaulted_by == {"memory": "ml/limits"}
