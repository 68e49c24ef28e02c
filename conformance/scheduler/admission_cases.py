"""Generate random fleets whose workloads have RuntimeClasses, priorities, other schedulers, and
references to objects that don't exist. DeviceTaintRules taint some of the devices.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any, Final

from dra_planner.releases import Features
from generate import GPU, Case, Json, make_case

_PODS: Final = ("Deployment", "StatefulSet", "Job", "Pod")
_TAINT: Final = {"key": "example.com/broken", "effect": "NoSchedule"}
_DEDICATED: Final = {"key": "example.com/dedicated", "operator": "Exists"}
_SHARE: Final = 0.4
"""Share of workloads with such a feature."""
_PARTIAL: Final = 0.2
"""Share of fleets whose manifests are partial. The rehearsed cluster contains only the objects of
the manifests, so the others are complete.
"""


def make_admission_case(seed: int, features: Features) -> Case:
    """Return the case of a seed, which is a case of `generate.py` with features of admission."""
    case = make_case(seed, features)
    return _Maker(random.Random(f"admission/{seed}"), features).make(case)


class _Maker:
    def __init__(self, chance: random.Random, features: Features) -> None:
        self._chance, self._features = chance, features
        self._first: list[Json] = []

    def make(self, case: Case) -> Case:
        for document in case.workloads:
            if document["kind"] in _PODS and self._chance.random() < _SHARE:
                spec = document["spec"]
                pod = spec if document["kind"] == "Pod" else spec["template"]["spec"]
                self._change(pod, document["metadata"]["name"])
        self._first += self._taint_rules(case)
        manifests = "partial" if self._chance.random() < _PARTIAL else "complete"
        self._first += self._namespaces(case)
        return Case(
            case.seed,
            f"admission, {manifests} manifests",
            {**case.fleet, "manifests": manifests},
            [*self._first, *case.workloads],
        )

    @staticmethod
    def _namespaces(case: Case) -> Iterator[Json]:
        """Yield the namespaces of a case, because complete manifests define them."""
        for name in sorted({each["metadata"].get("namespace", "") for each in case.workloads}):
            if name not in ("", "default"):
                yield _object("v1", "Namespace", name)

    def _change(self, pod: Json, name: str) -> None:
        match self._chance.choice(["overhead", "nodes", "tolerations", "priority", "missing"]):
            case "overhead":
                amount = {"cpu": self._chance.choice(["250m", "2", "8"]), "memory": "1Gi"}
                self._runtime(pod, name, overhead={"podFixed": amount})
            case "nodes":
                tier = self._chance.choice("ab")
                self._runtime(pod, name, scheduling={"nodeSelector": {"example.com/tier": tier}})
            case "tolerations":
                self._runtime(pod, name, scheduling={"tolerations": [dict(_DEDICATED)]})
            case "priority":
                value = self._chance.choice([10, 1_000])
                self._first.append(
                    _object("scheduling.k8s.io/v1", "PriorityClass", name, value=value)
                )
                pod["priorityClassName"] = name
            case _:
                key = self._chance.choice(
                    ["runtimeClassName", "priorityClassName", "schedulerName"]
                )
                pod[key] = f"{name}-missing"

    def _runtime(self, pod: Json, name: str, **keys: Any) -> None:
        self._first.append(_object("node.k8s.io/v1", "RuntimeClass", name, handler="runc", **keys))
        pod["runtimeClassName"] = name

    def _taint_rules(self, case: Case) -> Iterator[Json]:
        """Yield a rule that taints every GPU, which some claims tolerate."""
        if not self._features.device_taint_rules or self._chance.random() >= _SHARE:
            return
        for document in case.workloads:
            for request in _requests(document):
                if self._chance.random() < 0.5:
                    request["tolerations"] = [{"key": _TAINT["key"], "operator": "Exists"}]
        spec = {"deviceSelector": {"driver": GPU}, "taint": dict(_TAINT)}
        yield _object("resource.k8s.io/v1", "DeviceTaintRule", "broken", spec=spec)


def _requests(document: Json) -> Iterator[Json]:
    """Yield the requests of a claim or template."""
    if not document["kind"].startswith("ResourceClaim"):
        return
    spec = document["spec"]
    for request in spec.get("spec", spec)["devices"]["requests"]:
        yield from request.get("firstAvailable", ())
        if "exactly" in request:
            yield request["exactly"]


def _object(version: str, kind: str, name: str, **more: Any) -> Json:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name}, **more}
