"""Small builders for the resources of a stack: tests pass only the values that differ. Tests can
import the modules in this folder.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from dra_planner.fleet import read_fleet
from dra_planner.plan import PlanRequest, make_plan, plan_file
from dra_planner.planfile import canonical_text
from dra_planner.sources import Source
from dra_policies.stack.resource import Resource
from dra_policies.unknown_values import Properties

sys.path.insert(0, str(Path(__file__).parent))

DRA_LABELS = {"nvidia.com/gpu.present": "true", "nvidia.com/gpu.dra": "true"}
GKE_LABELS = {
    "gke-no-default-nvidia-gpu-device-plugin": "true",
    "cloud.google.com/gke-nvidia-gpu-dra-driver": "true",
}
GPU_TAINT = {"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}


def urn(type_token: str, name: str) -> str:
    return f"urn:pulumi:dev::project::{type_token}::{name}"


def resource(type_token: str, name: str, props: Mapping[str, Any], **more: Any) -> Resource:
    return Resource(
        urn=urn(type_token, name), type=type_token, name=name, props=Properties(dict(props)), **more
    )


def node_group(
    name: str = "l4",
    *,
    machine: str = "g6.2xlarge",
    pool: str = "l4",
    counts: Any = (2, 2, 4),
    **props: Any,
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
    return resource(
        "aws:eks/nodeGroup:NodeGroup",
        name,
        {**declared, **props},
        ignore_changes=ignore,
        sources=sources,
    )


def node_pool(
    name: str = "l4", *, machine: str = "g2-standard-8", pool: str = "l4", **props: Any
) -> Resource:
    config = {
        "machineType": machine,
        "labels": {**DRA_LABELS, **GKE_LABELS, "pulumi-dra/pool": pool},
        "taints": [GPU_TAINT],
        "guestAccelerators": [{"type": "nvidia-l4", "count": 1}],
    }
    declared = {
        "location": "us-central1",
        "nodeLocations": ["us-central1-a"],
        "autoscaling": {"totalMinNodeCount": 2, "totalMaxNodeCount": 4},
        "initialNodeCount": 2,
        "nodeConfig": {**config, **props.pop("config", {})},
    }
    ignore = props.pop("ignore_changes", ())
    return resource(
        "gcp:container/nodePool:NodePool", name, {**declared, **props}, ignore_changes=ignore
    )


def agent_pool(
    name: str = "l4", *, machine: str = "Standard_NC4as_T4_v3", pool: str = "l4", **props: Any
) -> Resource:
    declared = {
        "vmSize": machine,
        "count": 2,
        "nodeLabels": {**DRA_LABELS, "pulumi-dra/pool": pool},
        "nodeTaints": ["nvidia.com/gpu=present:NoSchedule"],
        "osSKU": "Ubuntu",
    }
    ignore = props.pop("ignore_changes", ())
    return resource(
        "azure-native:containerservice:AgentPool",
        name,
        {**declared, **props},
        ignore_changes=ignore,
    )


def release(
    chart: str, values: Any = None, *, name: str = "", namespace: Any = "nvidia", **props: Any
) -> Resource:
    sources = props.pop("sources", {})
    declared = {
        "chart": chart,
        "namespace": namespace,
        "values": {} if values is None else values,
        **props,
    }
    return resource("kubernetes:helm.sh/v3:Release", name or chart, declared, sources=sources)


def kubernetes(kind: str, api: str, name: str, namespace: str = "", **fields: Any) -> Resource:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    api_version = api.removeprefix("core/")
    return resource(
        f"kubernetes:{api}:{kind}",
        name,
        {"apiVersion": api_version, "kind": kind, "metadata": metadata, **fields},
    )


def daemon_set(
    spec: Any, *, name: str = "nvidia-device-plugin-daemonset", kind: str = "DaemonSet"
) -> Resource:
    return kubernetes(kind, "apps/v1", name, "kube-system", spec={"template": {"spec": spec}})


def fleet(cloud: str = "eks", **changes: Any) -> dict[str, Any]:
    here = {
        "aks": ("eastus", "Standard_D4s_v5", "Standard_NC4as_T4_v3"),
        "eks": ("us-east-1", "m7i.large", "g6.2xlarge"),
        "gke": ("us-central1", "e2-standard-4", "g2-standard-8"),
    }
    region, system, machine = here[cloud]
    return {
        "cloud": cloud,
        "region": region,
        "kubernetes": "1.34",
        "systemPool": {"machine": system},
        "drivers": {"nvidia": {"version": "25.8.1"}},
        "pools": [{"name": "l4", "machine": machine, "count": {"min": 2, "max": 4}}],
        **changes,
    }


def job_objects(
    pods: int = 2,
    devices: int = 1,
    *,
    name: str = "train",
    selector: str = "",
    cpu: str = "1",
    tolerates: bool = True,
) -> list[dict[str, Any]]:
    """A Job with this number of pods and this number of GPUs for each pod, and its claim
    template.
    """
    exactly: dict[str, Any] = {"deviceClassName": "gpu.nvidia.com", "count": devices}
    if selector:
        exactly["selectors"] = [{"cel": {"expression": selector}}]
    requests = [{"name": "gpu", "exactly": exactly}]
    toleration = {"key": "nvidia.com/gpu", "operator": "Exists"}
    container = {
        "name": "main",
        "image": "i",
        "resources": {"requests": {"cpu": cpu}, "claims": [{"name": "gpu"}]},
    }
    pod = {
        "restartPolicy": "Never",
        "tolerations": [toleration] if tolerates else [],
        "containers": [container],
        "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": f"{name}-gpus"}],
    }
    return [
        {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceClaimTemplate",
            "metadata": {"name": f"{name}-gpus", "namespace": "default"},
            "spec": {"spec": {"devices": {"requests": requests}}},
        },
        {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": name, "namespace": "default"},
            "spec": {"parallelism": pods, "completions": pods, "template": {"spec": pod}},
        },
    ]


def job(*args: Any, **changes: Any) -> str:
    """Return the same job as YAML."""
    return yaml.safe_dump_all(job_objects(*args, **changes))


def job_resources(*args: Any, **changes: Any) -> list[Resource]:
    """Return the same job as resources of the stack."""
    made = []
    for each in job_objects(*args, **changes):
        token = f"kubernetes:{each['apiVersion']}:{each['kind']}"
        made.append(resource(token, each["metadata"]["name"], each))
    return made


def plan_text(manifests: str = "", *, cloud: str = "eks", **changes: Any) -> str:
    sources = (Source("workloads.yaml", manifests),) if manifests else ()
    plan = make_plan(PlanRequest(sources=sources, fleet=read_fleet(fleet(cloud, **changes))))
    return canonical_text(plan_file(plan))


def record(text: str | None = None, **plan: Any) -> Resource:
    document = text or plan_text(plan.pop("manifests", ""), **plan)
    return resource("pulumi-dra:index:CapacityPlan", "plan", {"document": document})


@pytest.fixture(scope="session")
def declare() -> SimpleNamespace:
    """Return the builders of this file."""
    return SimpleNamespace(
        GKE_LABELS=GKE_LABELS,
        agent_pool=agent_pool,
        resource=resource,
        node_group=node_group,
        node_pool=node_pool,
        release=release,
        kubernetes=kubernetes,
        daemon_set=daemon_set,
        fleet=fleet,
        job=job,
        job_objects=job_objects,
        job_resources=job_resources,
        plan_text=plan_text,
        record=record,
        urn=urn,
    )
