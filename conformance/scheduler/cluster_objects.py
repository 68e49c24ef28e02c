"""Generate small random clusters: nodes of planned pools with their devices, classes, claims,
priorities, and rules.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from typing import Any, Final

from dra_planner.releases import Features
from dra_sandbox.rehearsal.workloads import template_of

Json = dict[str, Any]

GPU: Final = "gpu.nvidia.com"
LARGE: Final = "large-gpu"
RESOURCE: Final = "example.com/gpu"
NAMESPACES: Final = ("default", "team")
PRIORITIES: Final[Mapping[str, int]] = {"low": 1, "high": 1000, "patient": 500}
NEVER: Final = "patient"  # the PriorityClass whose pods don't preempt other pods
POOL: Final = "pulumi-dra/pool"
TAINT: Final = {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}
_PRODUCTS: Final = (("NVIDIA L4", "23034Mi"), ("NVIDIA H100 80GB HBM3", "81559Mi"))
_MEMORY: Final = f"device.capacity['{GPU}'].memory.compareTo(quantity('40Gi')) >= 0"
_IS_GPU: Final = f"device.driver == '{GPU}' && device.attributes['{GPU}'].type == 'gpu'"


def cel(expression: str) -> Json:
    """Return a selector."""
    return {"cel": {"expression": expression}}


def shared_objects() -> Iterator[Json]:
    """Yield the objects that all clusters share, and that aren't deleted between clusters."""
    for name in NAMESPACES:
        yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    for name, value in PRIORITIES.items():
        yield {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": name},
            "value": value,
            "preemptionPolicy": "Never" if name == NEVER else "PreemptLowerPriority",
        }


def cluster_objects(chance: random.Random, features: Features, *, extended: bool) -> Iterator[Json]:
    """Yield classes, and two to six nodes in one to three pools with their ResourceSlices. If
    `extended` is True, a class also serves the extended resource.
    """
    first: Json = {"selectors": [cel(_IS_GPU)]}
    yield _class(GPU, {**first, "extendedResourceName": RESOURCE} if extended else first)
    yield _class(LARGE, {"selectors": [cel(_IS_GPU), cel(_MEMORY)]})
    left = chance.randint(2, 6)
    for number in range(chance.randint(1, 3)):
        nodes = min(left, chance.randint(1, 4))
        left -= nodes
        devices = chance.choice([0, 1, 2, 2, 4, 8]) if number else chance.choice([1, 2, 2, 4])
        product = chance.choice(_PRODUCTS)
        room = {
            "cpu": str(chance.choice([4, 8, 16])),
            "memory": f"{chance.choice([16, 32, 64])}Gi",
            "pods": "110",
        }
        tainted = devices > 0 and chance.random() < 0.4
        for index in range(nodes):
            name = f"p{number}-{index}"
            yield _node(name, f"p{number}", room, features, tainted, chance)
            if devices:
                yield _slice(name, devices, product)


def _class(name: str, spec: Json) -> Json:
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": name},
        "spec": spec,
    }


def _node(
    name: str, pool: str, room: Json, features: Features, tainted: bool, chance: random.Random
) -> Json:
    labels = {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", POOL: pool}
    labels["topology.kubernetes.io/zone"] = chance.choice("ab")
    spec: Json = {"taints": [TAINT]} if tainted else {}
    if chance.random() < 0.05:
        spec["unschedulable"] = True
    elif chance.random() < 0.08:
        spec["taints"] = [
            *spec.get("taints", ()),
            {"key": "example.com/old", "effect": "PreferNoSchedule"},
        ]
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": spec,
        "status": {
            "capacity": room,
            "allocatable": room,
            "conditions": [{"type": "Ready", "status": "True"}],
            "nodeInfo": {"kubeletVersion": f"v{features.version}.0"},
        },
    }


def _slice(node: str, devices: int, product: tuple[str, str]) -> Json:
    name, memory = product
    found = [
        {"name": f"gpu-{number}",
         "attributes": {"type": {"string": "gpu"}, "productName": {"string": name}},
         "capacity": {"memory": {"value": memory}}}
        for number in range(devices)
    ]  # fmt: skip
    spec = {"driver": GPU, "nodeName": node, "devices": found,
            "pool": {"name": node, "generation": 1, "resourceSliceCount": 1}}  # fmt: skip
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": f"{node}-gpu"},
        "spec": spec,
    }


CLAIMS: Final[Mapping[str, Json]] = {
    "one": {"exactly": {"deviceClassName": GPU}},
    "two": {"exactly": {"deviceClassName": GPU, "count": 2}},
    "three": {"exactly": {"deviceClassName": GPU, "count": 3}},
    "large": {"exactly": {"deviceClassName": LARGE}},
    "all": {"exactly": {"deviceClassName": GPU, "allocationMode": "All"}},
    "small": {"exactly": {"deviceClassName": GPU, "selectors": [cel(f"!({_MEMORY})")]}},
    "ranked": {"firstAvailable": [{"name": "large", "deviceClassName": LARGE},
                                  {"name": "any", "deviceClassName": GPU}]},
}  # fmt: skip
"""The requests of pods, by the name of the template."""


def claim_template(name: str, namespace: str) -> Json:
    """Return the template with this name."""
    spec = {"devices": {"requests": [{"name": "gpu", **CLAIMS[name]}]}}
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate",
            "metadata": {"name": name, "namespace": namespace}, "spec": {"spec": spec}}  # fmt: skip


def shared_claim(name: str, namespace: str) -> Json:
    """Return a claim for one device that multiple pods can use."""
    spec = {"devices": {"requests": [{"name": "gpu", **CLAIMS["one"]}]}}
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
            "metadata": {"name": name, "namespace": namespace}, "spec": spec}  # fmt: skip


def claims_of(workload: Json) -> Iterator[Json]:
    """Yield the templates and claims to which the pods of a workload refer."""
    space = workload["metadata"]["namespace"]
    for entry in template_of(workload)["spec"].get("resourceClaims", ()):
        if "resourceClaimTemplateName" in entry:
            yield claim_template(entry["resourceClaimTemplateName"], space)
        else:
            yield shared_claim(entry["resourceClaimName"], space)


def quota(chance: random.Random, namespace: str) -> Json:
    """Return a ResourceQuota with a random limit."""
    hard = {
        "pods": str(chance.randint(2, 9)),
        "requests.cpu": str(chance.randint(3, 12)),
        f"{GPU}.deviceclass.resource.k8s.io/devices": str(chance.randint(1, 6)),
        "count/resourceclaims.resource.k8s.io": str(chance.randint(1, 6)),
        "count/deployments.apps": str(chance.randint(1, 3)),
    }
    weights = [4, 3, 4, 2, 1]
    names = set(chance.choices(list(hard), weights, k=chance.choice([1, 1, 2])))
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "limits", "namespace": namespace},
        "spec": {"hard": {name: hard[name] for name in hard if name in names}},
    }


def limit_range(chance: random.Random, namespace: str) -> Json:
    """Return a LimitRange with defaults or a maximum."""
    limits: Json = {"type": "Container"}
    if chance.random() < 0.6:
        limits |= {"defaultRequest": {"cpu": chance.choice(["250m", "1"])}}
    else:
        limits |= {"max": {"cpu": "4"}, "default": {"cpu": "2"}, "defaultRequest": {"cpu": "500m"}}
    return {
        "apiVersion": "v1",
        "kind": "LimitRange",
        "metadata": {"name": "range", "namespace": namespace},
        "spec": {"limits": [limits]},
    }


def budget(chance: random.Random, workload: Json) -> Json:
    """Return a PodDisruptionBudget for the pods of a workload."""
    meta = workload["metadata"]
    field = chance.choice(["minAvailable", "maxUnavailable"])
    return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
            "metadata": {"name": f"keep-{meta['name']}", "namespace": meta["namespace"]},
            "spec": {field: chance.choice([0, 1, 1, 2, "50%"]),
                     "selector": {"matchLabels": {"app": meta["name"]}}}}  # fmt: skip
