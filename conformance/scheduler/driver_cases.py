"""Generate random fleets over all drivers, and claims for their devices."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import yaml

from dra_planner.releases import Features
from generate import Case, Json

TABLE: Final[Mapping[str, Any]] = yaml.safe_load(
    (Path(__file__).parent / "driver_cases.yaml").read_text(encoding="utf-8")
)
_DRIVERS: Final[Mapping[str, Any]] = TABLE["drivers"]


def make_driver_case(seed: int, features: Features) -> Case:
    """Return the case of a seed. The drivers are used in turn. The case is always the same for the
    same seed and Kubernetes version.
    """
    names = list(TABLE["drivers"])
    return _Maker(random.Random(f"drivers/{seed}"), features).make(seed, names[seed % len(names)])


class _Maker:
    def __init__(self, chance: random.Random, features: Features) -> None:
        self._chance, self._features = chance, features

    def make(self, seed: int, name: str) -> Case:
        chance = self._chance
        pairs = [each for each in TABLE["pairs"] if name in each["drivers"]]
        pair = chance.choice(pairs) if pairs and chance.random() < 0.5 else None
        machines = _DRIVERS[name]["machines"]
        cloud = pair["cloud"] if pair else chance.choice(list(machines))
        drivers = list(pair["drivers"]) if pair else [name]
        pools = [pair["machine"] if pair else chance.choice(machines[cloud])]
        others = [each for each in _DRIVERS if cloud in _DRIVERS[each]["machines"]]
        if chance.random() < 0.6 and (other := chance.choice(others)) not in drivers:
            drivers.append(other)
            pools.append(chance.choice(_DRIVERS[other]["machines"][cloud]))
        workloads = [
            self._workload(f"w{number}", cloud, drivers, pair)
            for number in range(chance.randint(1, 4))
        ]
        documents = [document for workload in workloads for document in workload]
        return Case(seed, name, self._fleet(cloud, drivers, pools), documents)

    def _fleet(self, cloud: str, drivers: list[str], machines: list[str]) -> Json:
        facts, rows = TABLE["clouds"][cloud], {each: _DRIVERS[each] for each in drivers}
        learned = [row["learned"] for row in rows.values() if "learned" in row]
        installed = {
            each: row.get("options", True) for each, row in rows.items() if "learned" not in row
        }
        fleet: Json = {
            "cloud": cloud,
            "region": facts["region"],
            "kubernetes": self._features.version,
            "network": {"zones": [facts["zone"]]},
            "systemPool": {"machine": facts["system"]},
            "drivers": installed,
            "pools": [
                self._pool(f"p{number}", machine)
                for number, machine in enumerate(dict.fromkeys(machines))
            ],
        }
        return {**fleet, "catalog": learned} if learned else fleet

    def _pool(self, name: str, machine: str) -> Json:
        return {
            "name": name,
            "machine": machine,
            "count": {"min": 0, "max": self._chance.randint(2, 6)},
        }

    def _workload(
        self, name: str, cloud: str, drivers: list[str], pair: Json | None
    ) -> Iterator[Json]:
        chance = self._chance
        is_paired = pair is not None and chance.random() < 0.6
        devices = self._paired(cloud, pair) if is_paired else self._single(cloud, drivers)
        yield {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceClaimTemplate",
            "metadata": {"name": f"{name}-claim"},
            "spec": {"spec": {"devices": devices}},
        }
        pods = chance.randint(1, 3)
        pod = {
            "metadata": {"labels": {"app": name}},
            "spec": {
                "restartPolicy": "Never",
                "tolerations": [{"operator": "Exists"}],
                "resourceClaims": [{"name": "devices", "resourceClaimTemplateName": f"{name}-claim"}],
                "containers": [{
                    "name": "main",
                    "image": "registry.example/app:1",
                    "resources": {
                        "requests": {"cpu": chance.choice(["500m", "1", "3"]), "memory": "1Gi"},
                        "claims": [{"name": "devices"}],
                    },
                }],
            },
        }  # fmt: skip
        spec = {"completions": pods, "parallelism": pods, "template": pod}
        yield {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": spec}

    def _paired(self, cloud: str, pair: Json) -> Json:
        counts = self._chance.choice(pair["counts"])
        requests = [
            {"name": each, "exactly": {"deviceClassName": _class(each, cloud), "count": count}}
            for each, count in zip(pair["drivers"], counts, strict=True)
        ]
        if "same" not in pair or self._chance.random() < 0.2:
            return {"requests": requests}
        joined = {"requests": pair["drivers"], "matchAttribute": pair["same"]}
        return {"requests": requests, "constraints": [joined]}

    def _single(self, cloud: str, drivers: list[str]) -> Json:
        chance, name = self._chance, self._chance.choice(drivers)
        exactly = self._request(name, cloud)
        roll = chance.random()
        if roll < 0.15:
            del exactly["count"]
            return {"requests": [{"name": "all", "exactly": {**exactly, "allocationMode": "All"}}]}
        if roll < 0.3:
            other = self._request(chance.choice(drivers), cloud)
            return {"requests": [{"name": "any", "firstAvailable": [
                {"name": "first", **exactly}, {"name": "second", **other}]}]}  # fmt: skip
        return {"requests": [{"name": "device", "exactly": exactly}]}

    def _request(self, name: str, cloud: str) -> Json:
        chance = self._chance
        row = _DRIVERS[name]
        request: Json = {
            "deviceClassName": _class(name, cloud),
            "count": chance.choice(row["counts"]),
        }
        if chance.random() < 0.3:
            selector = chance.choice(row["selectors"])
            request["selectors"] = [{"cel": {"expression": selector}}]
        return request


def _class(driver: str, cloud: str) -> str:
    named = _DRIVERS[driver]["class"]
    return named[cloud] if isinstance(named, dict) else named
