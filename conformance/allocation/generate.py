"""Generate random allocation cases: few devices and few values, but every feature, so that rules
interact often.

A case is what the referee reads: `features`, `classes`, `slices`, `nodes` (the node that the case
asks about), `claims`, and `allocated`, all as API objects.
"""

from __future__ import annotations

import random
from typing import Any

Json = dict[str, Any]

DRIVERS = ("a.example.com", "b.example.com")
NODE = "n1"
GATES = {
    "AdminAccess": (34, 34),
    "PrioritizedList": (34, 34),
    "PartitionableDevices": (34, 36),
    "DeviceTaints": (34, 36),
    "ConsumableCapacity": (34, 36),
    "DeviceBindingAndStatus": (34, 36),
    "ListTypeAttributes": (36, 99),
    "FractionalCapacityRange": (37, 37),
}
"""Feature of the allocator → the minor version that introduces it, and the minor version from which
it's on by default.
"""

SELECTORS = (
    "true",
    "false",
    'device.driver == "a.example.com"',
    'device.attributes["a.example.com"].x == 1',
    'device.attributes["a.example.com"].x != 1',
    'device.attributes["b.example.com"].x == 1',
    '"x" in device.attributes["a.example.com"] && device.attributes["a.example.com"].x == 2',
    'has(device.attributes["shared.example.com"].root)',
    'device.attributes["shared.example.com"].root == "r1"',
    'device.driver == "a.example.com" && device.attributes["a.example.com"].y == "v1"',
    'device.capacity["a.example.com"].memory.compareTo(quantity("4Gi")) >= 0',
    'device.attributes["a.example.com"].x > 1 || device.attributes["a.example.com"].y == "v1"',
)


def features_of(rng: random.Random, minor: int) -> Json:
    """Return the feature gates of the version: the defaults, all gates, or a random selection."""
    kind = rng.choices(("default", "all", "some"), (5, 4, 2))[0]
    chosen = {}
    for gate, (known, default) in GATES.items():
        if minor >= known:
            chosen[gate] = {
                "default": minor >= default,
                "all": gate != "ListTypeAttributes",
                "some": rng.random() < 0.7,
            }[kind]
    if minor == 34:  # 1.34 has two separate features for this gate
        status = kind != "some" or rng.random() < 0.5
        chosen |= {
            "DeviceBinding": chosen["DeviceBindingAndStatus"] and status,
            "DeviceStatus": status,
        }
    return chosen


def make_case(number: int, minor: int, seed: int) -> Json:
    """Return case `number`. The same seed gives the same case."""
    rng = random.Random(f"{seed}/{minor}/{number}")
    features = features_of(rng, minor)
    maker = _Maker(rng, minor, not _random_order(features, minor))
    slices = maker.slices()
    return {
        "id": f"{minor}-{seed}-{number}",
        "features": features,
        "classes": maker.classes(),
        "slices": slices,
        "nodes": [
            {"metadata": {"name": NODE, "labels": {"zone": "z1", "kubernetes.io/hostname": NODE}}}
        ],
        "claims": maker.claims(),
        "allocated": maker.allocated(slices),
        # before 1.36, the order of pools is random
        "samples": 80
        if _random_order(features, minor)
        and len({(s["spec"]["driver"], s["spec"]["pool"]["name"]) for s in slices}) > 1
        else 1,
    }


def _random_order(features: Json, minor: int) -> bool:
    """Return True if upstream iterates over pools in the random order of a Go map."""
    return minor < 36 or not (features["ConsumableCapacity"] or features["DeviceBindingAndStatus"])


class _Maker:
    """Generates the objects of one case. `flavour` makes some features more likely, so that they
    occur together.
    """

    def __init__(self, rng: random.Random, minor: int, ordered: bool) -> None:
        self.rng, self.minor, self.ordered = rng, minor, ordered
        self.flavour = {
            name: rng.random() < 0.35
            for name in ("counters", "shares", "taints", "bindings", "errors")
        }
        self.names = 0

    def maybe(self, chance: float) -> bool:
        return self.rng.random() < chance

    # -- slices

    def slices(self) -> list[Json]:
        rng, made = self.rng, []
        pools = rng.choices((1, 2, 3), (6, 4, 1 if self.ordered else 0))[0]
        for number in range(pools):
            driver = rng.choice(DRIVERS)
            pool = rng.choice((NODE, NODE, "net"))
            if any(
                (s["spec"]["driver"], s["spec"]["pool"]["name"]) == (driver, pool) for s in made
            ):
                continue
            made += self.pool(driver, pool, number)
        rng.shuffle(made)
        return made

    def pool(self, driver: str, pool: str, number: int) -> list[Json]:
        rng = self.rng
        sets = self.counter_sets() if self.flavour["counters"] and self.maybe(0.8) else []
        count = rng.choices((1, 2), (3, 2))[0]
        apart = bool(sets) and self.minor >= 35
        total = count + apart
        stated = total if self.maybe(0.93) else rng.randint(1, 3)
        slices, letters = [], [f"{chr(97 + number)}{chr(97 + i)}" for i in range(12)]
        for position in range(count):
            devices = [
                self.device(driver, letters[position * 4 + i], sets)
                for i in range(rng.choices((0, 1, 2, 3, 4), (1, 3, 4, 4, 3))[0])
            ]
            if position and devices and self.maybe(0.04) and slices[0]["spec"]["devices"]:
                devices[0]["name"] = slices[0]["spec"]["devices"][0]["name"]
            slices.append(self.slice(driver, pool, stated, devices, [] if apart else sets))
        if apart:
            slices.append(self.slice(driver, pool, stated, [], sets))
        if self.maybe(0.06):
            old = self.slice(driver, pool, 1, [self.device(driver, "old", [])], [])
            old["spec"]["pool"]["generation"] = rng.choice((1, 3))
            slices.append(old)
        return slices

    def slice(
        self, driver: str, pool: str, stated: int, devices: list[Json], sets: list[Json]
    ) -> Json:
        self.names += 1
        spec: Json = {
            "driver": driver,
            "pool": {"name": pool, "generation": 2, "resourceSliceCount": stated},
            "devices": devices,
        }
        if sets:
            spec["sharedCounters"] = sets
        where = self.rng.choices(
            ("node", "all", "zone", "other", "device"), (10, 3, 2, 1, 2 if devices else 0)
        )[0]
        spec |= self.selection(where, devices)
        return {"metadata": {"name": f"{self.rng.choice('pqr')}{self.names}"}, "spec": spec}

    def selection(self, where: str, devices: list[Json]) -> Json:
        zone = {"key": "zone", "operator": "In", "values": [self.rng.choice(("z1", "z1", "z2"))]}
        ways: dict[str, Json] = {
            "node": {"nodeName": NODE},
            "all": {"allNodes": True},
            "zone": {"nodeSelector": {"nodeSelectorTerms": [{"matchExpressions": [zone]}]}},
            "other": {"nodeName": "n2"},
        }
        if where != "device":
            return ways[where]
        for device in devices:
            device |= ways[self.rng.choice(("node", "node", "all", "zone", "other"))]
        return {"perDeviceNodeSelection": True}

    def counter_sets(self) -> list[Json]:
        return [
            {
                "name": f"set{i}",
                "counters": {
                    name: {"value": str(self.rng.choice((2, 3, 4)))} for name in ("c", "d")[: i + 1]
                },
            }
            for i in range(self.rng.choice((1, 1, 2)))
        ]

    def device(self, driver: str, name: str, sets: list[Json]) -> Json:
        rng = self.rng
        device: Json = {"name": name, "attributes": self.attributes(), "capacity": self.capacity()}
        if self.flavour["shares"] and self.maybe(0.6):
            device["allowMultipleAllocations"] = True
            for capacity in device["capacity"].values():
                if self.maybe(0.6):
                    capacity["requestPolicy"] = self.policy(capacity["value"])
        if sets and self.maybe(0.75):
            device["consumesCounters"] = [self.consumption(s) for s in sets if self.maybe(0.8)]
        if self.flavour["taints"] and self.maybe(0.4):
            effects = (
                ("NoSchedule", "NoExecute")
                if self.minor == 34
                else ("NoSchedule", "NoExecute", "None")
            )
            device["taints"] = [
                {
                    "key": rng.choice("kl"),
                    "value": rng.choice(("", "v")),
                    "effect": rng.choice(effects),
                }
            ]
        if self.flavour["bindings"] and self.maybe(0.3):
            device |= {"bindingConditions": ["ready"], "bindingFailureConditions": ["failed"]}
        if self.maybe(0.05):
            device["bindsToNode"] = True
        return device

    def consumption(self, counter_set: Json) -> Json:
        counters = {
            name: {"value": str(self.rng.choice((1, 1, 2, 3)))} for name in counter_set["counters"]
        }
        if self.maybe(0.01):
            counters["zz"] = {"value": "1"}
        return {"counterSet": counter_set["name"], "counters": counters}

    def attributes(self) -> Json:
        rng, made = self.rng, {}
        complete = not self.flavour["errors"]
        if complete or self.maybe(0.8):
            made["x"] = {"int": rng.randint(1, 3)} if self.maybe(0.9) else {"string": "1"}
        if complete or self.maybe(0.8):
            made["y"] = rng.choice(
                ({"string": "v1"}, {"string": "v2"}, {"version": "1.0.0"}, {"bool": True})
            )
        if complete or self.maybe(0.8):
            made["shared.example.com/root"] = {"string": rng.choice(("r1", "r2"))}
        return made

    def capacity(self) -> Json:
        return {
            name: {"value": self.rng.choice(("2Gi", "4Gi", "8Gi"))}
            for name in ("memory", "cores")
            if self.maybe(0.7)
        }

    def policy(self, value: str) -> Json:
        high = int(value[:-2])
        if self.maybe(0.5):
            return {
                "default": f"{high}Gi",
                "validValues": [f"{v}Gi" for v in (1, 2, 4, 8) if v <= high],
            }
        step = self.rng.choice((1, 1, 2)) if high > 2 else 1
        valid: Json = {"min": "1Gi", "step": f"{step}Gi"} if self.maybe(0.7) else {"min": "1Gi"}
        if self.maybe(0.4):
            valid["max"] = f"{1 + step * max(1, (high - 1) // step)}Gi" if step == 1 else "3Gi"
        return {"default": "1Gi", "validRange": valid}

    # -- claims

    def classes(self) -> list[Json]:
        rng = self.rng
        return [
            {
                "metadata": {"name": name},
                "spec": {
                    "selectors": [{"cel": {"expression": e}} for e in rng.sample(SELECTORS, number)]
                },
            }
            for name, number in (("any", 0), ("any2", 0), ("one", 1), ("two", rng.choice((1, 2))))
        ]

    def claims(self) -> list[Json]:
        number = self.rng.choices((1, 2, 3), (6, 3, 1))[0]
        return [self.claim(f"c{i}") for i in range(number)]

    def claim(self, name: str) -> Json:
        requests = [
            self.request(f"r{i}") for i in range(self.rng.choices((0, 1, 2, 3), (1, 12, 9, 4))[0])
        ]
        names = [r["name"] for r in requests]
        for r in requests:
            names += [f"{r['name']}/{s['name']}" for s in r.get("firstAvailable", ())]
        devices: Json = {"requests": requests}
        constraints = [
            self.constraint(names) for _ in range(self.rng.choices((0, 1, 2), (5, 4, 1))[0])
        ]
        if constraints:
            devices["constraints"] = constraints
        return {"metadata": {"name": name, "namespace": "ns"}, "spec": {"devices": devices}}

    def constraint(self, names: list[str]) -> Json:
        attribute = self.rng.choice(
            (
                "a.example.com/x",
                "b.example.com/x",
                "shared.example.com/root",
                "a.example.com/y",
                "a.example.com/x",
            )
        )
        made: Json = {("matchAttribute" if self.maybe(0.65) else "distinctAttribute"): attribute}
        if names and self.maybe(0.4):
            made["requests"] = self.rng.sample(names, self.rng.randint(1, min(2, len(names))))
        return made

    def request(self, name: str) -> Json:
        if self.maybe(0.3):
            return {
                "name": name,
                "firstAvailable": [
                    {"name": f"s{i}", **self.way(False)} for i in range(self.rng.randint(1, 3))
                ],
            }
        return {"name": name, "exactly": self.way(True)}

    def way(self, exact: bool) -> Json:
        rng = self.rng
        classes = ("any", "any", "any2", "one", "two")
        made: Json = {"deviceClassName": rng.choice(classes) if self.maybe(0.995) else "missing"}
        if self.maybe(0.4):
            made["selectors"] = [
                {"cel": {"expression": e}} for e in rng.sample(SELECTORS, rng.choice((1, 1, 2)))
            ]
        if self.maybe(0.2):
            made["allocationMode"] = "All"
        else:
            made["count"] = rng.choices((1, 2, 3, 5, 20, 33), (50, 30, 12, 4, 1, 1))[0]
        if exact and self.maybe(0.08):
            made["adminAccess"] = True
        if self.flavour["taints"] and self.maybe(0.5):
            made["tolerations"] = [self.toleration()]
        if self.flavour["shares"] and self.maybe(0.5):
            names = ("memory", "cores") if self.maybe(0.9) else ("memory", "other")
            made["capacity"] = {
                "requests": {
                    n: rng.choice(("1Gi", "1500Mi", "3Gi", "4Gi")) for n in names if self.maybe(0.6)
                }
            }
            if not made["capacity"]["requests"]:
                del made["capacity"]
        return made

    def toleration(self) -> Json:
        made: Json = {"operator": self.rng.choice(("Exists", "Equal"))}
        if made["operator"] == "Equal" or self.maybe(0.7):
            made["key"] = self.rng.choice("kl")
        if made["operator"] == "Equal" and self.maybe(0.5):
            made["value"] = "v"
        if self.maybe(0.4):
            made["effect"] = self.rng.choice(("NoSchedule", "NoExecute"))
        return made

    # -- devices that are already allocated

    def allocated(self, slices: list[Json]) -> list[Json]:
        results: list[Json] = []
        for item in slices:
            spec = item["spec"]
            for device in spec["devices"]:
                if self.maybe(0.8):
                    continue
                result: Json = {
                    "request": "r",
                    "driver": spec["driver"],
                    "pool": spec["pool"]["name"],
                    "device": device["name"],
                }
                if device.get("allowMultipleAllocations"):
                    result["shareID"] = f"00000000-0000-0000-0000-{len(results):012}"
                    if device["capacity"]:
                        result["consumedCapacity"] = dict.fromkeys(device["capacity"], "1Gi")
                elif self.maybe(0.1):
                    result["adminAccess"] = True
                results.append(result)
        if not results:
            return []
        return [
            {
                "metadata": {"name": "before", "namespace": "ns"},
                "spec": {},
                "status": {"allocation": {"devices": {"results": results}}},
            }
        ]
