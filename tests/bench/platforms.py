"""Generated platforms for planning: several pools, many workloads, fixed seeds, and all clouds.

    platform(cloud, size, seed)      a fleet document and the manifests of its workloads
    platforms(count)                 so many of them: clouds and sizes in turn, seeds from 1

Sizes are those of teams that run inference and training side by side: 2, 4, or 6 pools, 4 to 80
workloads, 25 to 680 pods. Every workload fits at least one pool, and the maximums of the pools hold
everything.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import product
from typing import Any, Final, NamedTuple

import yaml
from msgspec import Struct

Json = dict[str, Any]

SIZES: Final = ("small", "medium", "large")
CLOUDS: Final = ("eks", "gke", "aks")
_POOLS: Final = {"small": 2, "medium": 4, "large": 6}
_WORKLOADS: Final = {"small": (4, 10), "medium": (15, 32), "large": (40, 80)}
_PODS: Final = {"small": (25, 110), "medium": (110, 300), "large": (350, 680)}
_WHERE: Final = {
    "eks": ("us-east-1", "m7i.large"),
    "gke": ("us-central1", "e2-standard-4"),
    "aks": ("eastus", "Standard_D4s_v5"),
}


class Machine(NamedTuple):
    """A machine type: GPUs, their memory in GiB as CEL would compare it, cpu and memory in GiB that
    a pod may have.
    """

    name: str
    pool: str
    gpus: int
    gpu_gib: int
    cpu: int
    gib: int


MACHINES: Final = {
    "eks": (
        Machine("g4dn.xlarge", "t4", 1, 14, 3, 11),
        Machine("g6.2xlarge", "l4", 1, 22, 7, 26),
        Machine("g5.2xlarge", "a10", 1, 22, 7, 26),
        Machine("g5.12xlarge", "a10x4", 4, 22, 46, 170),
        Machine("g6.12xlarge", "l4x4", 4, 22, 46, 170),
        Machine("g6e.12xlarge", "l40s", 4, 44, 46, 350),
        Machine("p4d.24xlarge", "a100", 8, 39, 94, 1050),
        Machine("p5.48xlarge", "h100", 8, 79, 188, 1900),
        Machine("p5en.48xlarge", "h200", 8, 139, 188, 1900),
    ),
    "gke": (
        Machine("g2-standard-8", "l4", 1, 22, 7, 26),
        Machine("g2-standard-24", "l4x2", 2, 22, 23, 84),
        Machine("g2-standard-48", "l4x4", 4, 22, 46, 170),
        Machine("a2-highgpu-1g", "a100x1", 1, 39, 11, 74),
        Machine("a2-highgpu-4g", "a100x4", 4, 39, 46, 310),
        Machine("a2-highgpu-8g", "a100", 8, 39, 94, 630),
        Machine("a3-highgpu-8g", "h100", 8, 79, 204, 1750),
    ),
    "aks": (
        Machine("Standard_NC4as_T4_v3", "t4", 1, 14, 3, 20),
        Machine("Standard_NC64as_T4_v3", "t4x4", 4, 14, 62, 400),
        Machine("Standard_NC24ads_A100_v4", "a100x1", 1, 79, 23, 195),
        Machine("Standard_NC48ads_A100_v4", "a100x2", 2, 79, 46, 400),
        Machine("Standard_NC96ads_A100_v4", "a100x4", 4, 79, 94, 820),
        Machine("Standard_NC80adis_H100_v5", "h100x2", 2, 92, 78, 590),
    ),
}


class Platform(Struct, frozen=True):
    """A fleet document and objects, each workload after the ResourceClaimTemplates."""

    cloud: str
    size: str
    seed: int
    fleet: Json
    objects: tuple[Json, ...]

    @property
    def name(self) -> str:
        return f"{self.cloud}-{self.size}-{self.seed}"

    @property
    def manifests(self) -> str:
        return yaml.safe_dump_all(self.objects, sort_keys=True)

    @property
    def pods(self) -> int:
        return sum(
            each["spec"].get("replicas", 0) + each["spec"].get("parallelism", 0)
            for each in self.objects
        )


def platforms(count: int) -> Iterator[Platform]:
    """Yield this number of platforms."""
    kinds = list(product(SIZES, CLOUDS))
    for number in range(count):
        size, cloud = kinds[number % len(kinds)]
        yield platform(cloud, size, number // len(kinds) + 1)


def platform(cloud: str, size: str, seed: int) -> Platform:
    """Return a platform. The same arguments always give the same platform."""
    rng = random.Random(f"platform/{cloud}/{size}/{seed}")
    machines = _machines(rng, cloud, _POOLS[size])
    count = rng.randint(*_WORKLOADS[size])
    pods = rng.randint(*_PODS[size])
    weights = [rng.lognormvariate(0, 0.8) for _ in range(count)]
    works = [
        _workload(rng, number, max(1, round(pods * weight / sum(weights))), machines)
        for number, weight in enumerate(weights)
    ]
    most = sum(
        each["spec"].get("replicas", 0) + each["spec"].get("parallelism", 0) for each in works
    )
    region, system = _WHERE[cloud]
    network: Json = {"zones": 2 if cloud != "gke" else [f"{region}-a"]}
    fleet: Json = {
        "cloud": cloud,
        "region": region,
        "kubernetes": "1.36",
        "autoscaler": "none",
        "network": network,
        "endpoint": {"publicAccessCidrs": ["198.51.100.0/24"]},
        "systemPool": {"machine": system, "count": 2},
        "drivers": {"nvidia": {"version": "25.8.1"}},
        "devicePlugin": False,
        "pools": [
            {"name": each.pool, "machine": each.name, "count": {"min": 0, "max": max(8, most)}}
            for each in machines
        ],
    }
    return Platform(cloud, size, seed, fleet, (*_templates(machines), *works))


def _machines(rng: random.Random, cloud: str, count: int) -> list[Machine]:
    """Return machine types in any order. At least one of them has enough GPUs for any workload."""
    known = MACHINES[cloud]
    large = [each for each in known if each.gpus == max(other.gpus for other in known)]
    first = rng.choice(large)
    rest = rng.sample([each for each in known if each is not first], count - 1)
    machines = [first, *rest]
    rng.shuffle(machines)
    return machines


def _templates(machines: list[Machine]) -> Iterator[Json]:
    """Yield a ResourceClaimTemplate for each count of GPUs, and one for a single GPU with this
    amount of memory.
    """
    counts = sorted({count for each in machines for count in (1, 2, 4, 8) if count <= each.gpus})
    for count in counts:
        yield _template(f"gpu-{count}", count, 0)
    for gib in sorted({each.gpu_gib for each in machines})[1:]:
        yield _template(f"gpu-{gib}g", 1, gib)


def _template(name: str, count: int, gib: int) -> Json:
    exactly: Json = {"deviceClassName": "gpu.nvidia.com", "count": count}
    if gib:
        expression = f"device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('{gib}Gi')) >= 0"
        exactly["selectors"] = [{"cel": {"expression": expression}}]
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": name, "namespace": "ml"},
        "spec": {"spec": {"devices": {"requests": [{"name": "gpu", "exactly": exactly}]}}},
    }


def _workload(rng: random.Random, number: int, pods: int, machines: list[Machine]) -> Json:
    """Return a workload for a random machine type. Most workloads request one GPU, and many accept
    any GPU.
    """
    machine = rng.choice(machines)
    count = rng.choice([each for each in (1, 1, 1, 1, 1, 2, 4, 8) if each <= machine.gpus])
    pods = max(1, pods // count)
    share = count / machine.gpus
    cpu = max(1, int(rng.choice((0.15, 0.3, 0.5, 0.8)) * machine.cpu * share))
    gib = max(2, int(rng.choice((0.15, 0.3, 0.5, 0.8)) * machine.gib * share))
    least = min(each.gpu_gib for each in machines)
    template = f"gpu-{count}"
    if count == 1 and machine.gpu_gib > least and rng.random() < 0.35:
        template = f"gpu-{machine.gpu_gib}g"
    kind = rng.choices(("Deployment", "Job", "StatefulSet"), (6, 3, 1))[0]
    name = f"{kind.lower()[:3]}-{number}"
    return _object(rng, kind, name, pods, _pod(name, kind, template, cpu, gib))


def _pod(name: str, kind: str, template: str, cpu: int, gib: int) -> Json:
    spec: Json = {
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
        "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": template}],
        "containers": [
            {
                "name": "main",
                "image": "registry.example/app:1",
                "resources": {
                    "requests": {"cpu": str(cpu), "memory": f"{gib}Gi"},
                    "claims": [{"name": "gpu"}],
                },
            }
        ],
    }
    if kind == "Job":
        spec["restartPolicy"] = "Never"
    return {"metadata": {"labels": {"app": name}}, "spec": spec}


def _object(rng: random.Random, kind: str, name: str, pods: int, template: Json) -> Json:
    spec: Json = {"template": template}
    if kind == "Job":
        spec |= {"parallelism": pods, "completions": pods}
    else:
        spec |= {"replicas": pods, "selector": {"matchLabels": {"app": name}}}
    if kind == "Deployment":
        spec["strategy"] = {"type": "Recreate"}
        if rng.random() < 0.2:
            spec["strategy"] = {
                "type": "RollingUpdate",
                "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1},
            }
    if kind == "StatefulSet":
        spec["serviceName"] = name
    return {
        "apiVersion": "batch/v1" if kind == "Job" else "apps/v1",
        "kind": kind,
        "metadata": {"name": name, "namespace": "ml"},
        "spec": spec,
    }
