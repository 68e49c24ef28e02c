"""Fixes for a node that rejects a pod before its devices are checked. Each fix is applied, and the
pod is placed again.
"""

from __future__ import annotations

import pytest
from allocation_builders import CLASSES, claim, gpus, node, request, shape
from msgspec.structs import replace

from dra_planner.allocation import NodeState, Placement, Refusal, open_node, place, reasons_of
from dra_planner.model import Shape, Taint, Toleration
from dra_planner.releases import features_of

BY_CLOUD = {"cloud.google.com/gke-spot": "true"}


def opened(**labels: str) -> NodeState:
    return open_node(node(labels=labels), [gpus(2)], CLASSES, features_of(36))


def fix_of(pod: Shape, here: NodeState) -> str:
    answer = place(pod, here)
    assert isinstance(answer, Refusal)
    (reason,) = reasons_of(answer)
    return reason.fix


def fits(pod: Shape, here: NodeState) -> bool:
    return isinstance(place(pod, here), Placement)


def test_fix_for_a_different_label_value_works() -> None:
    fix = fix_of(shape(node_selector={"team": "vision"}), opened(team="speech"))
    assert fix == "select team=speech, or remove team from the pod's nodeSelector"
    assert fits(shape(node_selector={"team": "speech"}), opened(team="speech"))
    assert fits(shape(), opened(team="speech"))


def test_fix_for_a_missing_label_works() -> None:
    pod = shape(node_selector={"team": "vision"})
    assert (
        fix_of(pod, opened())
        == "label the pool with team=vision, or remove team from the pod's nodeSelector"
    )
    assert fits(pod, opened(team="vision"))


@pytest.mark.parametrize(
    "key", ["kubernetes.io/role", "topology.kubernetes.io/rack", "pulumi-dra/pool"]
)
def test_label_that_clouds_reject_is_never_suggested(key: str) -> None:
    assert (
        fix_of(shape(node_selector={key: "x"}), opened())
        == f"remove {key} from the pod's nodeSelector"
    )


@pytest.mark.parametrize(
    ("pod", "instead"),
    [
        (shape(claim(request()), node_selector=BY_CLOUD), ", and select devices in the claim"),
        (shape(node_selector=BY_CLOUD), ""),
        (
            shape(requests={"nvidia.com/gpu": 1}, node_selector=BY_CLOUD),
            ", and select a pool by its label pulumi-dra/pool",
        ),
    ],
    ids=["a claim", "no devices", "an extended resource"],
)
def test_fix_for_a_label_of_a_cloud_names_only_what_the_pod_has(pod: Shape, instead: str) -> None:
    answer = place(pod, opened())
    assert isinstance(answer, Refusal)
    assert reasons_of(answer)[0].fix == (
        f"remove cloud.google.com/gke-spot from the pod's nodeSelector{instead}"
    )


def test_fix_for_an_unadvertised_resource_is_a_claim() -> None:
    pod = shape(requests={"cpu": 1000, "nvidia.com/gpu": 2})
    assert fix_of(pod, opened()) == (
        "request the devices with a ResourceClaim (`pulumi-dra migrate` rewrites the manifests or "
        "prints alternatives), or use nodes with a device plugin that advertises nvidia.com/gpu"
    )
    assert fits(
        replace(pod, **{f: getattr(shape(claim(request(count=2))), f) for f in ("pod", "claims")}),
        opened(),
    )


def test_missing_resource_is_reported_despite_a_taint() -> None:
    tainted = open_node(
        node(taints=[Taint("nvidia.com/gpu", "present", "NoSchedule")]),
        [gpus(2)],
        CLASSES,
        features_of(34),
    )
    pod = shape(requests={"cpu": 1000, "nvidia.com/mig-1g.5gb": 1})
    answer = place(pod, tainted)
    assert isinstance(answer, Refusal)
    assert [(reason.code, reason.message) for reason in reasons_of(answer)] == [
        (
            "missing-toleration",
            (
                "the node has the taint nvidia.com/gpu=present:NoSchedule, which the pod doesn't "
                "tolerate"
            ),
        ),
        (
            "insufficient-resource",
            "the pod requests 1 nvidia.com/mig-1g.5gb, but the node doesn't have any",
        ),
    ]
    tolerant = shape(
        requests={"cpu": 1000, "nvidia.com/mig-1g.5gb": 1},
        tolerations=(Toleration(operator="Exists"),),
    )
    answer = place(tolerant, tainted)
    assert isinstance(answer, Refusal)
    assert [reason.code for reason in reasons_of(answer)] == ["insufficient-resource"]
    assert fits(
        shape(requests={"cpu": 1000}, tolerations=(Toleration(operator="Exists"),)), tainted
    )


@pytest.mark.parametrize(
    ("key", "problem"),
    [
        ("node.kubernetes.io/unreachable", "is unreachable"),
        ("node.kubernetes.io/disk-pressure", "is low on disk space"),
    ],
)
def test_taint_of_a_condition_is_explained_as_the_problem(key: str, problem: str) -> None:
    broken = open_node(
        replace(node(), taints=(Taint(key, "", "NoSchedule"),)), [gpus(2)], CLASSES, features_of(36)
    )
    answer = place(shape(), broken)
    assert isinstance(answer, Refusal)
    (reason,) = reasons_of(answer)
    assert reason.message == f"the node {problem} (taint {key}:NoSchedule)"
    assert "toleration" not in reason.fix


def test_fix_for_a_capacity_type_is_the_capacity_of_the_pool() -> None:
    label = "eks.amazonaws.com/capacityType"
    pod = shape(claim(request()), node_selector={label: "ON_DEMAND"})
    assert fix_of(pod, opened()) == (
        f"remove {label} from the pod's nodeSelector, and set capacity on the pool"
    )
