"""Two allocators in one cluster, and pods that use GPUs without a request to either of them."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from dra_planner.errors import Diagnostic
from dra_planner.plan import PlanRequest, make_plan, read_checked
from dra_planner.releases import features_of
from dra_planner.sources import Source
from dra_policies.rules import check_all, view_of

NODE = """\
apiVersion: v1
kind: Node
metadata: {{name: {name}}}
status:
  allocatable: {{cpu: "48", memory: 192Gi, pods: "110", nvidia.com/gpu: "{units}"}}
  nodeInfo: {{kubeletVersion: v1.36.1}}
---
"""
SLICE = """\
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {{name: {name}-gpu}}
spec:
  driver: gpu.nvidia.com
  nodeName: {name}
  pool: {{name: {name}, generation: 1, resourceSliceCount: 1}}
  devices: [{{name: gpu-0, attributes: {{type: {{string: gpu}}}}}}]
---
"""
POD = """\
apiVersion: v1
kind: Pod
metadata: {name: old}
spec:
  nodeName: n1
  containers:
    - {name: main, image: example/a:1, resources: {limits: {nvidia.com/gpu: "1"}}}
status: {phase: Running}
---
"""


def node(units: int, *, has_driver: bool) -> str:
    return NODE.format(name="n1", units=units) + (SLICE.format(name="n1") if has_driver else "")


def of_cluster(cluster: str) -> list[Diagnostic]:
    plan = make_plan(PlanRequest(sources=(), observed=(Source("cluster.yaml", cluster),)))
    assert plan.manifests is not None
    return list(check_all(view_of(plan.manifests, features_of(36), plan)))


def test_a_node_with_both_allocators_is_an_error_without_any_pod() -> None:
    (found,) = of_cluster(node(1, has_driver=True))

    assert found.code == "device-plugin-on-dra-node"
    assert "a device plugin on Node n1 advertises 1 nvidia.com/gpu" in found.message
    assert ", and remove either the device plugin or the DRA driver from " in found.fix


@pytest.mark.parametrize(("units", "has_driver"), [(0, True), (1, False)])
def test_one_allocator_per_node_is_accepted(units: int, has_driver: bool) -> None:
    assert not of_cluster(node(units, has_driver=has_driver))


def test_pods_of_a_removed_device_plugin_must_be_drained() -> None:
    (found,) = of_cluster(node(0, has_driver=True) + POD)

    assert "pods still use 1 nvidia.com/gpu" in found.message
    assert found.fix == "drain the nodes completely before the driver starts"
    assert not of_cluster(node(0, has_driver=True))


CLAIM = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: gpu}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}]}}}
---
"""


def deployment(container: dict[str, Any], kind: str = "Deployment", claim: str = "") -> str:
    pod: dict[str, Any] = {
        "containers": [{"name": "main", "image": "example/a:1", **container}],
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}],
    }
    if claim:
        pod["resourceClaims"] = [{"name": claim, "resourceClaimTemplateName": claim}]
    labels = {"app": "a"}
    template = {"metadata": {"labels": labels}, "spec": pod}
    return yaml.safe_dump(
        {
            "apiVersion": "apps/v1",
            "kind": kind,
            "metadata": {"name": "a"},
            "spec": {"selector": {"matchLabels": labels}, "template": template},
        }
    )


def of_manifests(text: str) -> list[Diagnostic]:
    features = features_of(36)
    manifests = read_checked((Source("a.yaml", text),), features)
    return list(check_all(view_of(manifests, features)))


ALL = {"env": [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}]}


def test_a_variable_without_a_request_is_reported() -> None:
    (found,) = of_manifests(deployment(ALL))

    assert found.code == "device-taken-past-claim"
    assert "without reserving any" in found.message
    assert found.fix == (
        "remove the variable, and request the GPUs with a claim; to monitor all GPUs, use a "
        "claim with adminAccess"
    )


@pytest.mark.parametrize(
    "text",
    [
        deployment({}),
        deployment({"env": [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "void"}]}),
        deployment(ALL | {"resources": {"limits": {"nvidia.com/gpu": 1}}}),
        deployment(ALL, "DaemonSet"),
        CLAIM + deployment({"resources": {"claims": [{"name": "gpu"}]}}, claim="gpu"),
    ],
    ids=["no variable", "no devices", "a request", "an exporter on every node", "a claim"],
)
def test_pods_that_see_only_their_own_gpus_are_accepted(text: str) -> None:
    assert not of_manifests(text)
