"""Generate random fleets and workloads to rehearse, among them MIG, shared capacity, aligned
interfaces, and extended resources.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import yaml
from msgspec import Struct

from dra_planner.releases import Features

Json = dict[str, Any]

GPU, MIG = "gpu.nvidia.com", "mig.nvidia.com"
_TOLERATION: Final = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
CLOUDS: Final[Mapping[str, Any]] = yaml.safe_load(
    (Path(__file__).parent / "clouds.yaml").read_text(encoding="utf-8")
)


class Case(Struct, frozen=True):
    """A fleet and workloads. `feature` is the special feature of the case."""

    seed: int
    feature: str
    fleet: Json
    workloads: list[Json]


def make_case(seed: int, features: Features) -> Case:
    """Return the case of a seed, which is always the same for the same seed and version."""
    chance = random.Random(f"scheduler/{seed}")
    known = ["plain", "plain", "plain", "mig", "aligned"]
    known += ["shared"] if features.consumable_capacity else []
    known += ["extended"] if features.extended_resource else []
    return _Maker(chance, features).make(seed, chance.choice(known))


class _Maker:
    def __init__(self, chance: random.Random, features: Features) -> None:
        self._chance, self._features = chance, features

    def make(self, seed: int, feature: str) -> Case:
        chance = self._chance
        name = chance.choice([each for each, cloud in CLOUDS.items() if cloud.get(feature, True)])
        cloud = CLOUDS[name]
        profile = ""
        driver: Json = {"version": chance.choice(["25.8.1", "0.4.1"])}
        drivers: Json = {"nvidia": driver}
        pools = [self._pool(cloud, number) for number in range(chance.randint(1, 3))]
        match feature:
            case "mig":
                found = chance.choice(cloud["mig"])
                profile = found["profile"]
                pools.append(
                    {
                        "name": "mig",
                        "machine": found["machine"],
                        "mig": found["layout"],
                        "count": self._count(3),
                    }
                )
            case "shared":
                drivers["nvidia"] = {
                    "version": "0.5.0",
                    "featureGates": {"ConsumableShares": True},
                    "consumableShares": "memory",
                }
            case "aligned":
                driver["version"] = "0.4.1"
                drivers["dranet"] = True
                found = cloud["aligned"]
                pool = {"name": "nic", "machine": found["machine"], "capacity": found["capacity"]}
                pools.append({**pool, "count": self._count(3)})
        fleet = {
            "cloud": name,
            "region": cloud["region"],
            "kubernetes": self._features.version,
            "network": {"zones": [cloud["zone"]]},
            "systemPool": {"machine": cloud["system"]},
            "drivers": drivers,
            "pools": pools,
        }
        made = [
            self._workload(f"w{number}", feature, cloud, profile)
            for number in range(chance.randint(2, 6))
        ]
        return Case(
            seed, feature, fleet, [document for documents in made for document in documents]
        )

    def _pool(self, cloud: Json, number: int) -> Json:
        machine = self._chance.choice(cloud["machines"])
        pool: Json = {"name": f"p{number}", "machine": machine, "count": self._count(6)}
        if self._chance.random() < 0.2:
            pool["taints"] = [
                {"key": "example.com/dedicated", "value": "x", "effect": "NoSchedule"}
            ]
        if self._chance.random() < 0.2:
            pool["labels"] = {"example.com/tier": self._chance.choice("ab")}
        return pool

    def _count(self, most: int) -> Json:
        return {"min": 0, "max": self._chance.randint(2, most)}

    # -- workloads

    def _workload(self, name: str, feature: str, cloud: Json, profile: str) -> Iterator[Json]:
        chance = self._chance
        special = feature != "plain" and chance.random() < 0.6
        pod: Json = {
            "metadata": {"labels": {"app": name}},
            "spec": {
                "containers": [
                    {
                        "name": "main",
                        "image": "registry.example/app:1",
                        "resources": self._requests(),
                    }
                ],
                "tolerations": [dict(_TOLERATION)],
            },
        }
        if feature == "extended" and special:
            amount = str(chance.choice([1, 1, 2]))
            resources = pod["spec"]["containers"][0]["resources"]
            resources["limits"] = {"nvidia.com/gpu": amount}
            resources.setdefault("requests", {})["nvidia.com/gpu"] = amount
            yield _extended_class()
        else:
            spec = self._claim(feature if special else "plain", cloud, profile)
            shared = chance.random() < 0.1
            kind = "ResourceClaim" if shared else "ResourceClaimTemplate"
            yield {
                "apiVersion": "resource.k8s.io/v1",
                "kind": kind,
                "metadata": {"name": f"{name}-claim"},
                "spec": spec if shared else {"spec": spec},
            }
            key = "resourceClaimName" if shared else "resourceClaimTemplateName"
            pod["spec"]["resourceClaims"] = [{"name": "gpu", key: f"{name}-claim"}]
            pod["spec"]["containers"][0]["resources"]["claims"] = [{"name": "gpu"}]
        self._place(pod, name)
        yield self._owner(name, pod)

    def _requests(self) -> Json:
        chance = self._chance
        if chance.random() < 0.2:
            return {}
        return {"requests": {"cpu": f"{chance.choice([500, 1000, 3000, 7000, 20000])}m",
                             "memory": f"{chance.choice([1, 4, 12, 40, 120])}Gi"}}  # fmt: skip

    def _claim(self, feature: str, cloud: Json, profile: str) -> Json:
        chance = self._chance
        exactly: Json = {"deviceClassName": GPU}
        requests: list[Json] = [{"name": "gpu", "exactly": exactly}]
        match feature:
            case "mig":
                exactly["deviceClassName"] = MIG
                exactly["selectors"] = [_cel(f"device.attributes['{GPU}'].profile == '{profile}'")]
            case "shared":
                exactly["capacity"] = {"requests": {"memory": f"{chance.choice([2, 5, 7, 11])}Gi"}}
            case "aligned":
                requests.append(
                    {"name": "nic", "exactly": {"deviceClassName": cloud["aligned"]["class"]}}
                )
                return {
                    "devices": {
                        "requests": requests,
                        "constraints": [
                            {
                                "requests": ["gpu", "nic"],
                                "matchAttribute": "resource.kubernetes.io/pcieRoot",
                            }
                        ],
                    }
                }
            case _:
                self._plain_claim(requests[0])
        return {"devices": {"requests": requests}}

    def _plain_claim(self, request: Json) -> None:
        chance, exactly = self._chance, request["exactly"]
        roll = chance.random()
        memory = f"device.capacity['{GPU}'].memory.compareTo(quantity('40Gi'))"
        if roll < 0.25:
            exactly["count"] = chance.choice([2, 2, 4, 8])
        elif roll < 0.40:
            exactly["selectors"] = [_cel(f"{memory} {chance.choice(['>=', '<'])} 0")]
        elif roll < 0.50:
            exactly["allocationMode"] = "All"
        elif roll < 0.62:
            del request["exactly"]
            big = {"name": "big", "deviceClassName": GPU, "selectors": [_cel(f"{memory} >= 0")]}
            request["firstAvailable"] = [
                big,
                {"name": "any", "deviceClassName": GPU, "count": chance.choice([1, 2])},
            ]

    def _place(self, pod: Json, name: str) -> None:
        chance, spec = self._chance, pod["spec"]
        if chance.random() < 0.5:
            spec["tolerations"].append({"key": "example.com/dedicated", "operator": "Exists"})
        if chance.random() < 0.1:
            spec["nodeSelector"] = {"example.com/tier": chance.choice("ab")}
        own = {"matchLabels": {"app": name}}
        roll = chance.random()
        if roll < 0.08:
            term = {"labelSelector": own, "topologyKey": "kubernetes.io/hostname"}
            spec["affinity"] = {
                "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
            }
        elif roll < 0.16:
            spec["topologySpreadConstraints"] = [
                {
                    "maxSkew": 1,
                    "topologyKey": "kubernetes.io/hostname",
                    "labelSelector": own,
                    "whenUnsatisfiable": chance.choice(["DoNotSchedule", "ScheduleAnyway"]),
                }
            ]
        elif roll < 0.24:
            term = {"key": "nvidia.com/gpu.dra", "operator": "In", "values": ["true"]}
            spec["affinity"] = {
                "nodeAffinity": {
                    "preferredDuringSchedulingIgnoredDuringExecution": [
                        {"weight": 10, "preference": {"matchExpressions": [term]}}
                    ]
                }
            }

    def _owner(self, name: str, pod: Json) -> Json:
        owners: tuple[Callable[[str, Json], Json], ...] = (
            self._deployment, self._deployment, self._stateful_set, self._job, _bare
        )  # fmt: skip
        return self._chance.choice(owners)(name, pod)

    def _deployment(self, name: str, pod: Json) -> Json:
        spec = {
            "replicas": self._chance.choice([1, 2, 3, 5, 8]),
            "selector": {"matchLabels": {"app": name}},
        }
        return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name},
                "spec": {**spec, "template": pod}}  # fmt: skip

    def _stateful_set(self, name: str, pod: Json) -> Json:
        spec = {
            "replicas": self._chance.randint(1, 4),
            "selector": {"matchLabels": {"app": name}},
            "serviceName": name,
        }
        if self._chance.random() < 0.3:
            spec["podManagementPolicy"] = "Parallel"
        return {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": name},
                "spec": {**spec, "template": pod}}  # fmt: skip

    def _job(self, name: str, pod: Json) -> Json:
        pods = self._chance.randint(1, 6)
        pod["spec"]["restartPolicy"] = "Never"
        return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name},
                "spec": {"completions": pods, "parallelism": pods, "template": pod}}  # fmt: skip


def _bare(name: str, pod: Json) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, **pod["metadata"]},
        "spec": pod["spec"],
    }


def _extended_class() -> Json:
    """Return the class through which GPUs also serve an extended resource. All workloads that
    request the resource share this class.
    """
    driver = f"device.driver == '{GPU}' && device.attributes['{GPU}'].type == 'gpu'"
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": "gpu-as-resource"},
        "spec": {"extendedResourceName": "nvidia.com/gpu", "selectors": [_cel(driver)]},
    }


def _cel(expression: str) -> Json:
    return {"cel": {"expression": expression}}
