"""A claim for all devices also gets shared devices with free capacity. It fits after other claims,
but if it's first, it uses the whole node. Source: a rehearsal on kube-scheduler 1.36.3, in which
all pods were placed in only one pod arrival order.
"""

from __future__ import annotations

from pathlib import Path

import yaml

from dra_planner.fleet import read_fleet
from dra_planner.plan import Plan, PlanRequest, make_plan
from dra_planner.plan.model import SIMULATED_STEPS
from dra_planner.sources import Source

FLEET = Path(__file__).parents[3] / "examples/shared-gpus/fleet.yaml"
POD = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {{name: {name}}}
spec: {{spec: {{devices: {{requests: [{{name: gpu, exactly: {{deviceClassName: gpu.nvidia.com, {wants}}}}}]}}}}}}
---
apiVersion: v1
kind: Pod
metadata: {{name: {name}}}
spec:
  tolerations: [{{operator: Exists}}]
  resourceClaims: [{{name: gpu, resourceClaimTemplateName: {name}}}]
  containers: [{{name: main, image: registry.example/i:1, resources: {{claims: [{{name: gpu}}]}}}}]
---
"""
ALL = "allocationMode: All"
SHARE = "capacity: {requests: {memory: 7Gi}}"


def planned(*pods: tuple[str, str], machine: str, nodes: int, steps: int = SIMULATED_STEPS) -> Plan:
    document = yaml.safe_load(FLEET.read_text(encoding="utf-8"))
    document["pools"][0] |= {"machine": machine, "count": {"max": nodes}}
    text = "".join(POD.format(name=name, wants=wants) for name, wants in pods)
    request = PlanRequest(
        sources=(Source("pods.yaml", text),), fleet=read_fleet(document), steps=steps
    )
    return make_plan(request)


def test_claim_of_all_devices_after_shares_fits_on_one_node() -> None:
    plan = planned(("whole", ALL), ("part", SHARE), machine="g6.12xlarge", nodes=1, steps=0)
    assert [workload.pending for workload in plan.workloads] == [0, 0]
    assert [pool.packing for pool in plan.pools] == [1]


def test_verdict_that_depends_on_the_pod_order_cannot_be_determined() -> None:
    assert (
        planned(("whole", ALL), ("part", SHARE), machine="g6.12xlarge", nodes=1).verdict
        == "cannot-tell"
    )


def test_claim_of_all_devices_needs_at_least_one_free_device() -> None:
    assert (
        planned(("whole", ALL), ("part", SHARE), machine="g6.2xlarge", nodes=1).verdict
        == "does-not-fit"
    )


def test_two_claims_of_all_devices_need_one_node_each() -> None:
    both = (("one", ALL), ("two", ALL))
    assert planned(*both, machine="g6.12xlarge", nodes=1).verdict != "fits"
    assert planned(*both, machine="g6.12xlarge", nodes=2).verdict == "fits"
