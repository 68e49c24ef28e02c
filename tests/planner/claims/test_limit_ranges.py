"""LimitRanges for whole pods: the sum of the containers' amounts at their peak.

Source: kubernetes/kubernetes:plugin/pkg/admission/limitranger/admission.go@v1.36.3 (podRequests,
podLimits).
"""

from __future__ import annotations

import pytest

from dra_planner.claims.limit_ranges import refuse, with_defaults
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


def test_pods_name_the_limit_range_of_their_default_requests() -> None:
    meta = ObjectMeta(name="limits", namespace="ml")
    limits = LimitRange(meta=meta, default_requests={"cpu": 1000, "memory": 2**30})
    pod = with_defaults(PodSpec(containers=(container("a", 2),)), [limits])
    assert pod.containers[0].requests == {"cpu": 2000, "memory": 2**30}
    assert pod.defaulted_by == {"memory": "ml/limits"}
