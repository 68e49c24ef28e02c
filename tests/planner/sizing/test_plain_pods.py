"""Pods whose fit depends only on the resources of a node."""

from __future__ import annotations

import pytest
from sizing_builders import CLASSES, FEATURES, demand, gpu_claim, pool, ranked_claim, workload

from dra_planner.model import (
    LabelSelector,
    PodAffinityTerm,
    Shape,
    TopologySpreadConstraint,
)
from dra_planner.sizing import Sizer, node_needs

HOST = "kubernetes.io/hostname"
NEAR = PodAffinityTerm(topology_key=HOST, label_selector=LabelSelector())
EVEN = TopologySpreadConstraint(max_skew=1, topology_key=HOST)


def is_plain(shape: Shape) -> bool:
    sizer = Sizer.of(demand(shape), (pool("a"),), CLASSES, FEATURES)
    (work,) = node_needs(sizer, "steady").works
    return 0 in work.plain


@pytest.mark.parametrize(
    "shape", [workload("a", 2, gpus=2), workload("a", 2)], ids=["with GPUs", "without"]
)
def test_pods_with_only_amounts_and_one_device_kind_are_plain(shape: Shape) -> None:
    assert is_plain(shape)


@pytest.mark.parametrize(
    "shape",
    [
        workload("a", 2, gpus=1, pod_anti_affinity=(NEAR,)),
        workload("a", 2, gpus=1, pod_affinity=(NEAR,)),
        workload("a", 2, gpus=1, topology_spread=(EVEN,)),
        workload("a", 2, gpu_claim(2, match="root")),
        workload("a", 2, ranked_claim(4, 2)),
        workload("a", 2, gpus=1, pod_group="together"),
    ],
    ids=["avoids pods", "needs pods", "spreads", "one root", "alternatives", "pod group"],
)
def test_pods_with_rules_or_alternatives_are_not_plain(shape: Shape) -> None:
    assert not is_plain(shape)
