"""Random objects that an API server should accept: claims, templates, classes, slices, and pods
that use them.
"""

from __future__ import annotations

import random
from typing import Any, Final

from field_values import pick, pick_key

from vocabulary import QUALIFIED

Json = dict[str, Any]
_NAMESPACES: Final = (
    "",
    "default",
    "admin",
    "not-admin",
    "limited",
    "full",
    "restricted",
    "baseline",
)
_FEW: Final = (1, 1, 1, 2, 2, 3)


class Maker:
    """Generates objects from one random source."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def make(self) -> Json:
        """Return any kind of object, most often a DRA object."""
        often = (self.claim, self.slice)
        return self.rng.choice(
            (*often, *often, self.template, self.device_class, self.pod, self.workload)
        )()

    def claim(self) -> Json:
        return self._object("resource.k8s.io/v1", "ResourceClaim", spec=self.claim_spec())

    def template(self) -> Json:
        spec: Json = {"spec": self.claim_spec()}
        if self._maybe():
            spec["metadata"] = {
                "labels": {"a": "b"},
                "annotations": {pick_key(self.rng, "labels"): "x"},
            }
        return self._object("resource.k8s.io/v1", "ResourceClaimTemplate", spec=spec)

    def device_class(self) -> Json:
        spec: Json = {}
        self._sometimes(spec, "selectors", self._selectors)
        self._sometimes(spec, "config", lambda: [self._opaque() for _ in range(self._few())])
        self._sometimes(
            spec, "extendedResourceName", lambda: pick(self.rng, "extendedResourceName"), 0.3
        )
        return self._object("resource.k8s.io/v1", "DeviceClass", namespaced=False, spec=spec)

    def claim_spec(self) -> Json:
        requests = [self._request(f"r{index}") for index in range(self._few())]
        devices: Json = {"requests": requests}
        references = [request["name"] for request in requests]
        references += [
            f"{r['name']}/{s['name']}" for r in requests for s in r.get("firstAvailable", ())
        ]
        self._sometimes(
            devices,
            "constraints",
            lambda: [self._constraint(references) for _ in range(self._few())],
        )
        self._sometimes(
            devices,
            "config",
            lambda: [self._named(self._opaque(), references) for _ in range(self._few())],
            0.25,
        )
        return {"devices": devices}

    def _request(self, name: str) -> Json:
        if self.rng.random() < 0.65:
            exactly = self._exactly()
            self._sometimes(exactly, "adminAccess", lambda: self._maybe(), 0.1)
            return {"name": name, "exactly": exactly}
        return {
            "name": name,
            "firstAvailable": [{"name": f"a{n}", **self._exactly()} for n in range(self._few())],
        }

    def _exactly(self) -> Json:
        made: Json = {
            "deviceClassName": self.rng.choice(("gpu.example.com", "gpu.world.example", "mig"))
        }
        self._sometimes(made, "selectors", self._selectors)
        if self._maybe(0.3):
            made["allocationMode"] = "All"
        elif self._maybe():
            made["count"] = self.rng.choice((1, 2, 3))
        self._sometimes(
            made, "tolerations", lambda: [self._toleration() for _ in range(self._few())], 0.25
        )
        self._sometimes(
            made,
            "capacity",
            lambda: {"requests": {pick_key(self.rng, "capacity"): pick(self.rng, "min")}},
            0.25,
        )
        return made

    def _selectors(self) -> list[Json]:
        return [{"cel": {"expression": pick(self.rng, "expression")}} for _ in range(self._few())]

    def _toleration(self) -> Json:
        made: Json = {"key": pick(self.rng, "key"), "operator": "Exists"}
        if self._maybe():
            made = {"key": pick(self.rng, "key"), "value": pick(self.rng, "value")}
        self._sometimes(made, "effect", lambda: self.rng.choice(("NoSchedule", "NoExecute")))
        self._sometimes(made, "tolerationSeconds", lambda: pick(self.rng, "tolerationSeconds"), 0.2)
        return made

    def _constraint(self, references: list[str]) -> Json:
        field = self.rng.choice(("matchAttribute", "matchAttribute", "distinctAttribute"))
        return self._named({field: pick(self.rng, field)}, references)

    def _named(self, made: Json, references: list[str]) -> Json:
        if self._maybe() and references:
            made["requests"] = self.rng.sample(references, self.rng.randint(1, len(references)))
        return made

    def _opaque(self) -> Json:
        return {
            "opaque": {
                "driver": pick(self.rng, "driver"),
                "parameters": pick(self.rng, "parameters"),
            }
        }

    def slice(self) -> Json:
        spec: Json = {
            "driver": pick(self.rng, "driver"),
            "pool": {
                "name": self.rng.choice(("pool", "a/b")),
                "generation": 1,
                "resourceSliceCount": self._few(),
            },
        }
        how = self.rng.choice(
            ("nodeName", "nodeName", "nodeSelector", "allNodes", "perDeviceNodeSelection")
        )
        spec[how] = self._place(how)
        kind = self.rng.random()
        if kind < 0.15:
            spec["sharedCounters"] = [self._counter_set(f"set{n}") for n in range(self._few())]
        else:
            per_device = how == "perDeviceNodeSelection"
            spec["devices"] = [self._device(f"gpu-{n}", per_device) for n in range(self._few())]
            if kind < 0.3:
                spec["sharedCounters"] = [self._counter_set(f"set{n}") for n in range(self._few())]
        return self._object("resource.k8s.io/v1", "ResourceSlice", namespaced=False, spec=spec)

    def _place(self, how: str) -> Any:
        if how == "nodeSelector":
            operator = self.rng.choice(("In", "NotIn", "Exists", "Gt"))
            values = {"In": ["a"], "NotIn": ["a", "b"], "Gt": ["5"]}.get(operator)
            expression = {
                "key": pick(self.rng, "key"),
                "operator": operator,
                **({"values": values} if values else {}),
            }
            term: Json = {"matchExpressions": [expression]}
            if self._maybe(0.2):
                term["matchFields"] = [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]
            return {"nodeSelectorTerms": [term]}
        return "n1" if how == "nodeName" else True

    def _counter_set(self, name: str) -> Json:
        return {
            "name": name,
            "counters": {key: {"value": pick(self.rng, "min")} for key in ("memory", "slice-0")},
        }

    def _device(self, name: str, per_device: bool) -> Json:
        made: Json = {"name": name}
        shared = self._maybe(0.3)
        if shared:
            made["allowMultipleAllocations"] = True
        self._sometimes(made, "attributes", self._attributes, 0.7)
        self._sometimes(
            made,
            "capacity",
            lambda: {pick_key(self.rng, "capacity"): self._capacity(shared) for _ in range(2)},
            0.6,
        )
        self._sometimes(made, "taints", lambda: [self._taint() for _ in range(self._few())], 0.2)
        if self._maybe(0.25):
            made["consumesCounters"] = [
                {"counterSet": "set0", "counters": {"memory": {"value": "1Gi"}}}
            ]
        if self._maybe(0.15):
            made |= {
                "bindingConditions": ["a"],
                "bindingFailureConditions": ["b"],
                "bindsToNode": self._maybe(),
            }
        if per_device:
            how = self.rng.choice(("nodeName", "nodeSelector", "allNodes"))
            made[how] = self._place(how)
        return made

    def _attributes(self) -> Json:
        kinds = (
            "string",
            "int",
            "bool",
            "version",
            "string",
            "int",
            "strings",
            "ints",
            "bools",
            "versions",
        )
        found = {}
        for _ in range(self._few()):
            kind = kinds[self.rng.randrange(6 if self._maybe(0.9) else 10)]
            value: Any = self._maybe() if kind.startswith("bool") else pick(self.rng, kind)
            found[pick_key(self.rng, "attributes")] = {
                kind: [value] if kind.endswith("s") else value
            }
        return found

    def _capacity(self, shared: bool) -> Json:
        made: Json = {"value": self.rng.choice(("10Gi", "100", "1.5", "40"))}
        if shared and self._maybe():
            policy: Json = {"default": "1"}
            if self._maybe():
                policy["validValues"] = ["1", "2", "4"]
            elif self._maybe():
                policy["validRange"] = {"min": "1", "step": "1", "max": "10"}
            made["requestPolicy"] = policy
        return made

    def _taint(self) -> Json:
        made: Json = {
            "key": self.rng.choice(QUALIFIED),
            "effect": self.rng.choice(("NoSchedule", "NoExecute")),
        }
        self._sometimes(made, "value", lambda: pick(self.rng, "value"))
        self._sometimes(made, "timeAdded", lambda: pick(self.rng, "timeAdded"), 0.3)
        return made

    def pod(self) -> Json:
        return self._object("v1", "Pod", spec=self.pod_spec())

    def workload(self) -> Json:
        version, kind = self.rng.choice(
            (
                ("apps/v1", "Deployment"),
                ("batch/v1", "Job"),
                ("apps/v1", "StatefulSet"),
                ("apps/v1", "DaemonSet"),
            )
        )
        spec: Json = {"template": {"metadata": {"labels": {"app": "a"}}, "spec": self.pod_spec()}}
        if kind == "Job":
            spec["template"]["spec"]["restartPolicy"] = "Never"
        else:
            spec["selector"] = {"matchLabels": {"app": "a"}}
        if kind == "StatefulSet":
            spec["serviceName"] = "a"
        return self._object(version, kind, spec=spec)

    def pod_spec(self) -> Json:
        claims = []
        for name in ("gpu", "nic", "tpu")[: self.rng.choice((0, 1, 1, 2, 3))]:
            field = self.rng.choice(("resourceClaimName", "resourceClaimTemplateName"))
            claims.append({"name": name, field: pick(self.rng, field)})
        names = [claim["name"] for claim in claims]
        spec: Json = {"containers": [self._container(f"c{n}", names) for n in range(self._few())]}
        if claims:
            spec["resourceClaims"] = claims
        self._sometimes(spec, "initContainers", lambda: [self._container("init", names)], 0.2)
        self._sometimes(spec, "priorityClassName", lambda: pick(self.rng, "priorityClassName"), 0.1)
        return spec

    def _container(self, name: str, claims: list[str]) -> Json:
        resources: Json = {}
        if claims and self._maybe(0.7):
            used = self.rng.sample(claims, self.rng.randint(1, len(claims)))
            resources["claims"] = [
                {"name": c, **({"request": "r0"} if self._maybe(0.3) else {})} for c in used
            ]
        if self._maybe(0.4):
            amount = self.rng.choice(("1", 1, "2", 4))
            resources["limits"] = {"example.com/gpu": amount, "cpu": "500m"}
            if self._maybe():
                resources["requests"] = {"example.com/gpu": amount, "memory": "1Gi"}
        made: Json = {"name": name, "image": "registry.example/app:1"}
        return {**made, "resources": resources} if resources else made

    def _object(self, version: str, kind: str, *, namespaced: bool = True, **fields: Any) -> Json:
        metadata: Json = {"generateName": "a-"} if self._maybe(0.1) else {"name": "a"}
        namespace = self.rng.choice(_NAMESPACES) if self._maybe(0.35) else ""
        if namespaced and namespace:
            metadata["namespace"] = namespace
        self._sometimes(
            metadata, "labels", lambda: {pick_key(self.rng, "labels"): pick(self.rng, "value")}, 0.2
        )
        return {"apiVersion": version, "kind": kind, "metadata": metadata, **fields}

    def _few(self) -> int:
        return self.rng.choice(_FEW)

    def _maybe(self, chance: float = 0.5) -> bool:
        return self.rng.random() < chance

    def _sometimes(self, made: Json, field: str, value: Any, chance: float = 0.5) -> None:
        if self.rng.random() < chance:
            made[field] = value()
