"""Which devices claims get: on planned nodes, and on observed ones."""

from __future__ import annotations

import pytest
from plan_builders import deployment, example, fleet, plan_of

from dra_planner.errors import ManifestError, UnsupportedFeature
from dra_planner.plan import PlanRequest, detail_claims, make_plan
from dra_planner.sources import Source

NODE = """\
apiVersion: v1
kind: Node
metadata: {{name: {name}, labels: {{kubernetes.io/hostname: {name}}}}}
status:
  allocatable: {{cpu: "8", memory: 32Gi, pods: "58"}}
  nodeInfo: {{kubeletVersion: v1.34.2}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {{name: {name}-gpu}}
spec:
  driver: gpu.nvidia.com
  nodeName: {name}
  pool: {{name: {name}, generation: 1, resourceSliceCount: 1}}
  devices:
    - {{name: gpu-0, attributes: {{type: {{string: gpu}}}}, capacity: {{memory: {{value: 23034Mi}}}}}}
"""
CLASS = """\
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu.nvidia.com}
spec: {selectors: [{cel: {expression: 'device.driver == "gpu.nvidia.com"'}}]}
"""


def snapshot(*names: str) -> tuple[Source, ...]:
    return (
        Source("cluster.yaml", "---\n".join([CLASS, *(NODE.format(name=name) for name in names)])),
    )


def test_devices_of_planned_nodes_are_listed() -> None:
    plan = plan_of(fleet(("p5.48xlarge", {"min": 0, "max": 2})), deployment(replicas=5, gpus=2))
    claims = detail_claims(plan)
    assert [claim.name for claim in claims] == [f"web-{index}-gpu" for index in range(5)]
    assert [claim.pod for claim in claims] == [f"web-{index}" for index in range(5)]
    held = [(each.node, each.device) for claim in claims for each in claim.devices]
    assert len(held) == len(set(held)) == 10
    assert {each.pool for claim in claims for each in claim.devices} == {
        "p5-48xlarge-0",
        "p5-48xlarge-1",
    }


def test_a_shared_claim_is_listed_once() -> None:
    plan = plan_of(fleet(("g6.2xlarge", 1)), *example("workloads/shared-claim"))
    (claim,) = detail_claims(plan)
    assert (claim.namespace, claim.name, claim.pod) == ("default", "shared-gpu", "shared-claim-0")


def test_details_of_a_million_pods_are_rejected() -> None:
    plan = plan_of(fleet(("p5.48xlarge", {"min": 0, "max": 100_000})), deployment(replicas=200_000))
    with pytest.raises(UnsupportedFeature, match="devices for 200,000 pods"):
        detail_claims(plan)


def test_observed_nodes_are_filled_but_not_sized() -> None:
    plan = make_plan(PlanRequest(sources=(deployment(replicas=3),), observed=snapshot("a", "b")))
    (web,) = plan.workloads
    assert (plan.kubernetes, plan.verdict, web.placed, web.pending) == (
        "1.34",
        "does-not-fit",
        2,
        1,
    )
    assert [(pool.name, pool.packing, pool.devices.used) for pool in plan.pools] == [
        ("a", 1, 1),
        ("b", 1, 1),
    ]
    assert [(claim.name, claim.devices[0].node) for claim in detail_claims(plan)] == [
        ("web-0-gpu", "a"),
        ("web-1-gpu", "b"),
    ]
    assert web.reasons


def test_pending_pods_of_a_snapshot_are_planned() -> None:
    lonely = deployment().text.split("\n---\n")[0] + "\n---\n" + POD
    plan = make_plan(
        PlanRequest(sources=(), observed=(*snapshot("a"), Source("pods.yaml", lonely)))
    )
    (pod,) = plan.workloads
    assert (pod.workload.name, pod.placed) == ("waiting", 1)


POD = """\
apiVersion: v1
kind: Pod
metadata: {name: waiting, namespace: default}
spec:
  resourceClaims: [{name: gpu, resourceClaimTemplateName: web}]
  containers: [{name: main, image: registry.example.com/app, resources: {claims: [{name: gpu}]}}]
"""


def test_a_snapshot_without_nodes_is_wrong_input() -> None:
    with pytest.raises(ManifestError, match="doesn't contain a Node"):
        make_plan(PlanRequest(sources=(), observed=(Source("c.yaml", CLASS),), kubernetes="1.34"))


def test_snapshot_of_an_unknown_version_is_wrong_input() -> None:
    silent = tuple(
        Source(each.name, each.text.replace("kubeletVersion", "other")) for each in snapshot("a")
    )
    with pytest.raises(ManifestError, match="doesn't contain the cluster's Kubernetes version"):
        make_plan(PlanRequest(sources=(), observed=silent))
