"""Small builders of what a stack declares; a test says only what varies."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest
from dra_planner.planfile import canonical_text, seal
from dra_policies.stack.resource import Resource
from dra_policies.unknowns import Properties

DRA_LABELS = {"nvidia.com/gpu.present": "true", "nvidia.com/gpu.dra": "true"}
GKE_LABELS = {
    "gke-no-default-nvidia-gpu-device-plugin": "true",
    "cloud.google.com/gke-nvidia-gpu-dra-driver": "true",
}
GPU_TAINT = {"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}


def urn(type_token: str, name: str) -> str:
    return f"urn:pulumi:dev::project::{type_token}::{name}"


def resource(type_token: str, name: str, props: Mapping[str, Any], **more: Any) -> Resource:
    return Resource(urn=urn(type_token, name), type=type_token, name=name, props=Properties(dict(props)), **more)


def node_group(
    name: str = "l4", *, machine: str = "g6.2xlarge", pool: str = "l4", counts: Any = (0, 2, 4), **props: Any
) -> Resource:
    low, desired, high = counts
    declared = {
        "instanceTypes": [machine],
        "scalingConfig": {"minSize": low, "desiredSize": desired, "maxSize": high},
        "labels": {**DRA_LABELS, "pulumi-dra/pool": pool},
        "taints": [GPU_TAINT],
        "amiType": "AL2023_x86_64_NVIDIA",
    }
    ignore = props.pop("ignore_changes", ())
    sources = props.pop("sources", {})
    return resource("aws:eks/nodeGroup:NodeGroup", name, {**declared, **props}, ignore_changes=ignore, sources=sources)


def node_pool(name: str = "l4", *, machine: str = "g2-standard-8", pool: str = "l4", **props: Any) -> Resource:
    config = {
        "machineType": machine,
        "labels": {**DRA_LABELS, **GKE_LABELS, "pulumi-dra/pool": pool},
        "taints": [GPU_TAINT],
        "guestAccelerators": [{"type": "nvidia-l4", "count": 1}],
    }
    declared = {
        "location": "us-central1",
        "nodeLocations": ["us-central1-a"],
        "autoscaling": {"totalMinNodeCount": 0, "totalMaxNodeCount": 4},
        "initialNodeCount": 2,
        "nodeConfig": {**config, **props.pop("config", {})},
    }
    ignore = props.pop("ignore_changes", ())
    return resource("gcp:container/nodePool:NodePool", name, {**declared, **props}, ignore_changes=ignore)


def release(chart: str, values: Any = None, *, name: str = "", namespace: str = "nvidia", **props: Any) -> Resource:
    declared = {"chart": chart, "namespace": namespace, "values": {} if values is None else values, **props}
    return resource("kubernetes:helm.sh/v3:Release", name or chart, declared)


def kubernetes(kind: str, api: str, name: str, namespace: str = "", **fields: Any) -> Resource:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    api_version = api.removeprefix("core/")
    return resource(
        f"kubernetes:{api}:{kind}", name, {"apiVersion": api_version, "kind": kind, "metadata": metadata, **fields}
    )


def daemon_set(spec: Any, *, name: str = "nvidia-device-plugin-daemonset", kind: str = "DaemonSet") -> Resource:
    return kubernetes(kind, "apps/v1", name, "kube-system", spec={"template": {"spec": spec}})


def plan_text(*, cloud: str = "eks", pools: Any = None, **content: Any) -> str:
    rows = pools or [
        {
            "name": "l4",
            "machine": "g6.2xlarge" if cloud == "eks" else "g2-standard-8",
            "count": {"min": 0, "bound": 2, "plan": 2, "max": 4},
            "nodes": {"min": 0, "desired": 2, "max": 4},
        }
    ]
    base = {
        "inputs": {"fleet": "sha256:f", "workloads": "sha256:w", "paths": []},
        "kubernetes": "1.34",
        "verdict": "fits",
        "assumptions": [],
        "fleet": {"cloud": cloud},
        "classes": [],
        "demand": {},
        "pools": rows,
        "workloads": [],
    }
    return canonical_text(seal({**base, **content}))


def record(text: str | None = None, **plan: Any) -> Resource:
    return resource("pulumi-dra:index:CapacityPlan", "plan", {"document": text or plan_text(**plan)})


@pytest.fixture(scope="session")
def declare() -> SimpleNamespace:
    """Return the builders of this file."""
    return SimpleNamespace(
        resource=resource,
        node_group=node_group,
        node_pool=node_pool,
        release=release,
        kubernetes=kubernetes,
        daemon_set=daemon_set,
        plan_text=plan_text,
        record=record,
        urn=urn,
    )
