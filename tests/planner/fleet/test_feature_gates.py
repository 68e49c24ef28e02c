"""Feature gates of a fleet: they change the verdict of plan, saved plan, and every other reader."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dra_planner.errors import FleetError
from dra_planner.fleet import Fleet, read_fleet
from dra_planner.plan import PlanRequest, judge_document, make_plan, plan_file
from dra_planner.sources import Source

TOLERATION = {"key": "nvidia.com/gpu", "operator": "Exists"}
RULE = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "DeviceTaintRule",
    "metadata": {"name": "drain"},
    "spec": {
        "deviceSelector": {"driver": "gpu.nvidia.com"},
        "taint": {"key": "example.com/broken", "effect": "NoSchedule"},
    },
}
REQUEST = {"firstAvailable": [{"name": "any", "deviceClassName": "gpu.nvidia.com"}], "name": "gpu"}


def fleet(kubernetes: str = "1.36", **gates: bool) -> Fleet:
    return read_fleet(
        {
            "cloud": "eks",
            "region": "us-east-1",
            "kubernetes": kubernetes,
            "featureGates": gates,
            "systemPool": {"machine": "m7i.large"},
            "drivers": {"nvidia": {"version": "0.4.1"}},
            "pools": [{"name": "l4", "machine": "g6.2xlarge", "count": {"min": 0, "max": 2}}],
        }
    )


def workload() -> list[dict[str, Any]]:
    meta = {"name": "a", "namespace": "ml"}
    pod = {
        "containers": [{"name": "c", "image": "i", "resources": {"claims": [{"name": "gpu"}]}}],
        "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "a"}],
        "tolerations": [TOLERATION],
    }
    spec = {"spec": {"devices": {"requests": [REQUEST]}}}
    api = "resource.k8s.io/v1"
    return [
        {"apiVersion": api, "kind": "ResourceClaimTemplate", "metadata": meta, "spec": spec},
        {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": pod},
    ]


def verdict(on: Fleet, *more: dict[str, Any], kubernetes: str = "") -> str:
    text = "\n---\n".join(map(json.dumps, (*workload(), *more)))
    request = PlanRequest(sources=(Source("m.yaml", text),), fleet=on, kubernetes=kubernetes)
    plan = make_plan(request)
    if not more:
        assert judge_document(plan_file(plan)).verdict == plan.verdict
    return plan.verdict


def test_alternatives_need_their_gate() -> None:
    assert verdict(fleet()) == "fits"
    assert verdict(fleet(DRAPrioritizedList=False)) == "does-not-fit"


def test_taint_rules_have_no_effect_without_their_gate() -> None:
    assert verdict(fleet("1.37"), RULE) == "does-not-fit"
    assert verdict(fleet("1.37", DRADeviceTaintRules=False), RULE) == "fits"


def test_locked_gate_ignores_its_setting() -> None:
    assert verdict(fleet(DRAPrioritizedList=False), kubernetes="1.37") == "fits"


@pytest.mark.parametrize(
    ("kubernetes", "gate", "on", "message"),
    [
        ("1.36", "DRAPrioritisedList", True, "did you mean DRAPrioritizedList?"),
        ("1.34", "DRAListTypeAttributes", True, "exists only in Kubernetes 1.36 and later"),
        ("1.37", "DRAPrioritizedList", False, "is always on in Kubernetes 1.37 and later"),
    ],
)
def test_wrong_gates_are_rejected(kubernetes: str, gate: str, message: str, *, on: bool) -> None:
    with pytest.raises(FleetError, match=message.replace("?", r"\?")):
        fleet(kubernetes, **{gate: on})


def test_fleet_without_gates_writes_none() -> None:
    assert "featureGates" not in fleet().document()
