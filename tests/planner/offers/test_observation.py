"""Free resources and devices on the nodes of a snapshot."""

from __future__ import annotations

import pytest

from dra_planner.manifests import Manifests
from dra_planner.offers import Offer, observe_offers
from dra_planner.plan import read_checked
from dra_planner.releases import features_of
from dra_planner.sources import Source

NODE = """
apiVersion: v1
kind: Node
metadata:
  name: {name}
  labels: {{node.kubernetes.io/instance-type: g6.2xlarge, topology.kubernetes.io/zone: us-east-1a}}
spec: {{unschedulable: {unschedulable}}}
status: {{allocatable: {{cpu: 7910m, memory: 30Gi, pods: "58"}}}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {{name: slice-{name}}}
spec:
  driver: gpu.nvidia.com
  nodeName: {name}
  pool: {{name: {name}, generation: 1, resourceSliceCount: 1}}
  devices: [{{name: gpu-0}}, {{name: gpu-1}}]
---
"""
POD = """
apiVersion: v1
kind: Pod
metadata: {name: server, namespace: team, uid: abc}
spec:
  nodeName: one
  containers:
  - {name: main, image: i, resources: {requests: {cpu: 500m, memory: 1Gi}}}
  - {name: side, image: i, resources: {limits: {cpu: 100m}}}
  initContainers:
  - {name: init, image: i, resources: {requests: {cpu: 2, memory: 512Mi}}}
  resourceClaims: [{name: gpu, resourceClaimName: held}]
status: {phase: Running}
---
"""
CLAIM = """
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: held, namespace: team}
spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}]}}
status:
  allocation: {devices: {results: [{request: gpu, driver: gpu.nvidia.com, pool: one, device: gpu-1}]}}
  reservedFor: [{resource: pods, name: server, uid: abc}]
---
"""


def snapshot(*documents: str) -> Manifests:
    return read_checked([Source("snapshot.yaml", "".join(documents))], features_of(36))


def observe(*documents: str) -> tuple[Offer, ...]:
    return observe_offers(snapshot(*documents), features_of(36))


def test_each_node_offers_its_own_slices() -> None:
    one, two = observe(
        NODE.format(name="one", unschedulable="false"),
        NODE.format(name="two", unschedulable="true"),
    )
    assert (one.name, one.origin, one.machine, one.zones) == (
        "one",
        "observed",
        "g6.2xlarge",
        ("us-east-1a",),
    )
    assert (one.count_min, one.count_max, one.hourly_usd) == (1, 1, None)
    assert [each.pool for each in one.slices] == ["one"]
    assert two.node.unschedulable


def test_bound_pods_reduce_the_free_capacity() -> None:
    (one,) = observe(NODE.format(name="one", unschedulable="false"), POD, CLAIM)
    assert one.used == {"cpu": 2000, "memory": 1 << 30, "pods": 1}
    assert one.free["cpu"] == 5910
    assert one.free["pods"] == 57


def test_allocated_devices_belong_to_the_nodes_own_pools() -> None:
    one, two = observe(
        NODE.format(name="one", unschedulable="false"),
        NODE.format(name="two", unschedulable="false"),
        POD,
        CLAIM,
    )
    assert [device.device for device in one.allocated] == ["gpu-1"]
    assert two.allocated == ()


def test_finished_pod_uses_no_resources() -> None:
    (one,) = observe(
        NODE.format(name="one", unschedulable="false"), POD.replace("Running", "Succeeded")
    )
    assert one.used == {}


def test_claim_missing_from_the_snapshot_is_reported() -> None:
    (one,) = observe(NODE.format(name="one", unschedulable="false"), POD)
    assert one.allocated == ()
    assert any("claim held" in sentence for sentence in one.assumptions)


@pytest.mark.parametrize(
    "shared", ["allNodes: true", "nodeSelector: {nodeSelectorTerms: [{matchFields: []}]}"]
)
def test_slices_without_a_node_are_visible_to_all_nodes(shared: str) -> None:
    slices = NODE.format(name="one", unschedulable="false").replace("nodeName: one", shared)
    one, two = observe(slices, NODE.format(name="two", unschedulable="false"))
    assert len(one.slices) == 1
    assert len(two.slices) == 2
