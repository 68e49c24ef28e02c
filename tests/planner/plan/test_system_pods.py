"""Pods without claims run on the system pool, and the plan states whether they fit there."""

from __future__ import annotations

from typing import Any

import pytest

from dra_planner.fleet import read_fleet
from dra_planner.plan import Plan, PlanRequest, judge_document, make_plan, plan_file
from dra_planner.sources import Source

FLEET: dict[str, Any] = {
    "cloud": "eks",
    "region": "us-east-1",
    "kubernetes": "1.34",
    "systemPool": {"machine": "m5.large", "count": 2},
    "drivers": {"nvidia": {"version": "25.8.1"}},
    "pools": [{"name": "l4", "machine": "g6.2xlarge", "count": {"min": 0, "max": 2}}],
}
WEB = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: %(replicas)s
  strategy: {type: Recreate}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      nodeSelector: %(selector)s
      affinity: %(affinity)s
      tolerations: %(tolerations)s
      containers: [{name: main, image: web, resources: {requests: {cpu: %(cpu)s}, limits: %(limits)s}}]
"""


def plan_of(
    replicas: int = 2,
    cpu: str = "100m",
    tolerations: str = "[]",
    limits: str = "{}",
    machine: str = "m5.large",
    selector: str = "{}",
    affinity: str = "{}",
) -> Plan:
    fleet = read_fleet({**FLEET, "systemPool": {"machine": machine, "count": 2}})
    text = WEB % {
        "replicas": replicas,
        "cpu": cpu,
        "tolerations": tolerations,
        "limits": limits,
        "selector": selector,
        "affinity": affinity,
    }
    return make_plan(PlanRequest(fleet=fleet, sources=(Source("web.yaml", text),)))


def test_system_pods_fit_and_gpu_pools_stay_empty() -> None:
    plan = plan_of()
    assert plan.verdict == "fits"
    assert dict(plan.workloads[0].placements) == {"system": 2}
    assert [pool.packing for pool in plan.pools] == [0]
    assert any("controllers and add-ons" in text for text in plan.assumptions)


def test_too_many_system_pods_do_not_fit() -> None:
    plan = plan_of(replicas=9, cpu="1")
    assert plan.verdict == "does-not-fit"
    assert plan.workloads[0].pending == 7
    assert 'pool "system" is fixed at 2 nodes' in plan.workloads[0].reasons[0].message


def test_pods_with_the_toleration_also_run_on_gpu_nodes() -> None:
    plan = plan_of(tolerations="[{key: nvidia.com/gpu, operator: Exists}]")
    assert dict(plan.workloads[0].placements) == {"l4": 2}


def test_pod_that_requests_a_device_is_not_a_system_pod() -> None:
    plan = plan_of(limits='{"nvidia.com/gpu": 1}')
    assert plan.verdict == "does-not-fit"
    assert {reason.code for reason in plan.workloads[0].reasons} == {"insufficient-resource"}


@pytest.mark.parametrize("label", ["nvidia.com/gpu.present: 'true'", "pulumi-dra/pool: l4"])
def test_pod_that_selects_gpu_nodes_needs_a_toleration(label: str) -> None:
    """Given a selector of GPU nodes without the toleration, expect the toleration as the fix."""
    (reason,) = plan_of(selector=f"{{{label}}}").workloads[0].reasons
    assert (reason.code, reason.pool) == ("missing-toleration", "l4")


def test_label_of_every_node_does_not_select_gpu_nodes() -> None:
    assert plan_of(selector="{kubernetes.io/os: linux}").verdict == "fits"


def test_affinity_that_avoids_gpu_nodes_matches_the_system_pool() -> None:
    term = "{key: nvidia.com/gpu.present, operator: DoesNotExist}"
    required = f"{{nodeSelectorTerms: [{{matchExpressions: [{term}]}}]}}"
    plan = plan_of(
        affinity=f"{{nodeAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: {required}}}}}"
    )
    assert plan.verdict == "fits"
    assert dict(plan.workloads[0].placements) == {"system": 2}


def test_system_nodes_certainly_lack_gpu_labels() -> None:
    """Given a label of GPU feature discovery that no pool promises, expect a certain answer."""
    plan = plan_of(selector="{nvidia.com/gpu.product: NVIDIA-L4}")
    assert plan.verdict == "does-not-fit"
    assert [each.code for each in plan.workloads[0].reasons] == ["node-selector"]


def test_unknown_system_machine_type_leaves_the_verdict_open() -> None:
    plan = plan_of(machine="x9.large")
    assert plan.verdict == "cannot-tell"
    assert {reason.code for reason in plan.workloads[0].reasons} == {"system-machine-unknown"}


@pytest.mark.parametrize("replicas", [2, 9])
def test_plan_file_has_the_same_verdict(replicas: int) -> None:
    plan = plan_of(replicas=replicas, cpu="1")
    again = judge_document(plan_file(plan).document())
    assert [(each.workload, each.placed, each.pending) for each in again.workloads] == [
        (each.workload, each.placed, each.pending) for each in plan.workloads
    ]
