"""Random fleets and workloads, as a user could write them: realistic pools, spread, affinity,
priority, quotas.
"""

from __future__ import annotations

import random
from typing import Any

from msgspec import Struct

Json = dict[str, Any]

MACHINES = {
    "g6.xlarge": ("NVIDIA L4", 1),
    "g6.12xlarge": ("NVIDIA L4", 4),
    "g5.12xlarge": ("NVIDIA A10G", 4),
    "g4dn.xlarge": ("Tesla T4", 1),
    "p4d.24xlarge": ("NVIDIA A100-SXM4-40GB", 8),
    "p5.48xlarge": ("NVIDIA H100 80GB HBM3", 8),
}
"""The GPU of each machine as its driver names it, and how many there are."""
ZONES = ("us-east-1a", "us-east-1b", "us-east-1c")
HOSTNAME, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
NAMESPACES = ("team-a", "team-b")


class Instance(Struct, frozen=True):
    """A fleet document and the objects that are applied to its cluster, workloads last."""

    seed: int
    fleet: Json
    objects: tuple[Json, ...]


def instance(seed: int, *, rules: bool = True) -> Instance:
    """Return an instance; the same for the same seed. `rules`: with rules between pods, priorities
    and quotas.
    """
    rng = random.Random(f"instance/{seed}")
    fleet = _fleet(rng)
    machines = [pool["machine"] for pool in fleet["pools"]]
    workloads = [
        _workload(rng, number, machines, rules=rules) for number in range(rng.randint(1, 5))
    ]
    around = _around(rng, workloads) if rules else []
    return Instance(
        seed, fleet, (*around, *(document for documents in workloads for document in documents))
    )


def _fleet(rng: random.Random) -> Json:
    zones = list(ZONES[: rng.choice((1, 1, 2, 3))])
    pools = []
    for index, machine in enumerate(rng.sample(sorted(MACHINES), rng.choice((1, 2, 2, 3)))):
        most = rng.choice((2, 4, 8, 16))
        pool: Json = {"name": f"pool-{index}", "machine": machine, "count": {"min": 0, "max": most}}
        if len(zones) > 1 and rng.random() < 0.3:
            pool["zones"] = [rng.choice(zones)]
        pools.append(pool)
    return {
        "cloud": "eks",
        "region": "us-east-1",
        "kubernetes": rng.choice(("1.34", "1.35", "1.36")),
        "systemPool": {"machine": "m7i.large"},
        "network": {"zones": zones},
        "drivers": {"nvidia": {"version": "25.12.0"}},
        "pools": pools,
    }


def _workload(rng: random.Random, number: int, machines: list[str], *, rules: bool) -> list[Json]:
    name, namespace = f"w{number}", rng.choice(NAMESPACES)
    product, gpus = MACHINES[rng.choice(machines)]
    counts = [count for count in (1, 1, 1, 2, 4, 8) if count <= gpus]
    request: Json = {"deviceClassName": "gpu.nvidia.com", "count": rng.choice(counts)}
    if rng.random() < 0.5:
        expression = f"device.attributes['gpu.nvidia.com'].productName == '{product}'"
        request["selectors"] = [{"cel": {"expression": expression}}]
    template = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"spec": {"devices": {"requests": [{"name": "gpu", "exactly": request}]}}},
    }
    resources: Json = {"claims": [{"name": "gpu"}]}
    if rng.random() < 0.7:
        resources["requests"] = {
            "cpu": rng.choice(("500m", "2", "3")),
            "memory": rng.choice(("1Gi", "8Gi", "12Gi")),
        }
    spec: Json = {
        "containers": [{"name": "c", "image": "registry.example.com/app", "resources": resources}],
        "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": name}],
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}],
    }
    if rules:
        spec.update(_rules(rng, name))
    kind, replicas = (
        rng.choice(("Deployment", "Deployment", "StatefulSet", "Job", "Pod")),
        rng.choice((1, 2, 3, 4, 8)),
    )
    meta: Json = {"name": name, "namespace": namespace}
    labels = {"app": name, "tier": rng.choice(("web", "batch"))}
    if kind == "Pod":
        made: Json = {
            "apiVersion": "v1",
            "kind": kind,
            "metadata": {**meta, "labels": labels},
            "spec": spec,
        }
        return [template, made]
    body: Json = {"template": {"metadata": {"labels": labels}, "spec": spec}}
    if kind == "Job":
        spec["restartPolicy"] = "Never"
        body |= {"parallelism": replicas, "completions": replicas}
    else:
        body |= {"replicas": replicas, "selector": {"matchLabels": {"app": name}}}
    if kind == "StatefulSet":
        body["serviceName"] = name
    version = "batch/v1" if kind == "Job" else "apps/v1"
    return [template, {"apiVersion": version, "kind": kind, "metadata": meta, "spec": body}]


def _rules(rng: random.Random, name: str) -> Json:
    spec: Json = {}
    chance = rng.random()
    own, tier = (
        {"matchLabels": {"app": name}},
        {"matchLabels": {"tier": rng.choice(("web", "batch"))}},
    )
    if chance < 0.3:
        spec["topologySpreadConstraints"] = [
            {
                "maxSkew": rng.choice((1, 1, 2)),
                "topologyKey": key,
                "whenUnsatisfiable": rng.choice(
                    ("DoNotSchedule", "DoNotSchedule", "ScheduleAnyway")
                ),
                "labelSelector": own,
            }
            for key in rng.sample((HOSTNAME, ZONE), rng.choice((1, 1, 2)))
        ]
    elif chance < 0.55:
        term: Json = {
            "topologyKey": rng.choice((HOSTNAME, ZONE)),
            "labelSelector": rng.choice((own, tier)),
        }
        if rng.random() < 0.4:
            term["namespaceSelector"] = {"matchLabels": {"env": "prod"}}
        kind = rng.choice(("podAffinity", "podAntiAffinity", "podAntiAffinity"))
        if rng.random() < 0.7:
            spec["affinity"] = {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
        else:
            weighed = [{"weight": rng.choice((10, 100)), "podAffinityTerm": term}]
            spec["affinity"] = {kind: {"preferredDuringSchedulingIgnoredDuringExecution": weighed}}
    if rng.random() < 0.3:
        spec["priorityClassName"] = rng.choice(("high", "low"))
    return spec


def _around(rng: random.Random, workloads: list[list[Json]]) -> list[Json]:
    """Other objects in the cluster: namespaces with labels, priorities, and possibly a quota."""
    around: list[Json] = [
        {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": name, "labels": {"env": rng.choice(("prod", "test"))}},
        }
        for name in NAMESPACES
    ]
    around += [
        {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": name},
            "value": value,
        }
        for name, value in (("high", 1000), ("low", -10))
    ]
    if rng.random() < 0.3:
        quota = (
            {"pods": str(rng.randint(2, 8))}
            if rng.random() < 0.5
            else {"requests.cpu": str(rng.randint(2, 16))}
        )
        around.append(
            {
                "apiVersion": "v1",
                "kind": "ResourceQuota",
                "metadata": {"name": "limit", "namespace": rng.choice(NAMESPACES)},
                "spec": {"hard": quota},
            }
        )
    return around
