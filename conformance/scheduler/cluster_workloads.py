"""Generate random workloads: the controllers that create the pods, and the requests of the pods."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, Final

from cluster_objects import NAMESPACES, POOL, RESOURCE, TAINT
from dra_sandbox.rehearsal.workloads import ANNOTATION

Json = dict[str, Any]

_CLAIMS: Final = {"one": 8, "two": 3, "three": 1, "large": 2, "all": 1, "small": 1, "ranked": 1}
_HOST: Final = "kubernetes.io/hostname"


class WorkloadMaker:
    """Generates workloads. If `extended` is True, some workloads request GPUs as an extended
    resource.
    """

    def __init__(self, chance: random.Random, *, extended: bool) -> None:
        self._chance, self._extended = chance, extended
        self._made = 0

    def make(self, priority: str | None = None) -> Json:
        """Return a new workload. If a priority is given, the workload has it."""
        chance, name = self._chance, f"w{self._made}"
        self._made += 1
        makers: tuple[Callable[[str, str, Json], Json], ...] = (
            self._deployment,
            self._deployment,
            self._deployment,
            self._stateful_set,
            self._stateful_set,
            self._job,
            self._daemon_set,
            _bare,
        )
        space = NAMESPACES[chance.random() < 0.45]
        pod = self._pod(
            name,
            chance.choice(["", "", "", "low", "high", "patient"]) if priority is None else priority,
        )
        made = chance.choice(makers)(name, space, pod)
        mark = {ANNOTATION: f"{made['kind']}/{space}/{name}"}
        pod["metadata"]["annotations"] = mark
        return made

    def random_claim(self) -> str:
        """Return the name of a random template."""
        return self._chance.choices(list(_CLAIMS), list(_CLAIMS.values()))[0]

    def _pod(self, name: str, priority: str) -> Json:
        chance = self._chance
        container: Json = {
            "name": "main",
            "image": "registry.example/app:1",
            "resources": self._requests(),
        }
        spec: Json = {"containers": [container], "terminationGracePeriodSeconds": 0}
        roll = chance.random()
        if roll < 0.62:
            spec["resourceClaims"] = [
                {"name": "gpu", "resourceClaimTemplateName": self.random_claim()}
            ]
            container["resources"]["claims"] = [{"name": "gpu"}]
        elif roll < 0.68:
            spec["resourceClaims"] = [
                {"name": "gpu", "resourceClaimName": chance.choice(["shared", name])}
            ]
            container["resources"]["claims"] = [{"name": "gpu"}]
        elif roll < 0.8 and self._extended:
            container["resources"]["limits"] = {RESOURCE: str(chance.choice([1, 1, 2]))}
        if priority:
            spec["priorityClassName"] = priority
            if chance.random() < 0.06:
                spec["preemptionPolicy"] = "Never"
        if "resourceClaims" in spec or chance.random() < 0.5:
            spec["tolerations"] = [
                {"key": TAINT["key"], "operator": "Exists", "effect": "NoSchedule"}
            ]
        self._place(name, spec)
        return {"metadata": {"labels": {"app": name}}, "spec": spec}

    def _requests(self) -> Json:
        chance = self._chance
        if chance.random() < 0.15:
            return {}
        requests = {"cpu": chance.choice(["250m", "500m", "1", "1", "2", "3"])}
        if chance.random() < 0.5:
            requests["memory"] = chance.choice(["512Mi", "2Gi", "6Gi"])
        return {"requests": requests}

    def _place(self, name: str, spec: Json) -> None:
        chance, roll = self._chance, self._chance.random()
        own = {"matchLabels": {"app": name}}
        term = {"labelSelector": own, "topologyKey": _HOST}
        if roll < 0.08:
            spec["nodeSelector"] = {POOL: chance.choice(["p0", "p1"])}
        elif roll < 0.14:
            spec["affinity"] = {
                "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
            }
        elif roll < 0.18:
            spec["affinity"] = {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
                {"weight": 50, "podAffinityTerm": term}]}}  # fmt: skip
        elif roll < 0.28:
            key = chance.choice([_HOST, "topology.kubernetes.io/zone"])
            spec["topologySpreadConstraints"] = [
                {
                    "maxSkew": 1,
                    "topologyKey": key,
                    "labelSelector": own,
                    "whenUnsatisfiable": chance.choice(["DoNotSchedule", "ScheduleAnyway"]),
                }
            ]

    # -- owners

    def _deployment(self, name: str, space: str, pod: Json) -> Json:
        chance = self._chance
        spec: Json = {"selector": {"matchLabels": {"app": name}}, "template": pod}
        if chance.random() < 0.92:
            spec["replicas"] = chance.choice([1, 2, 2, 3, 4, 5])
        spec |= strategy(chance)
        return _owner("apps/v1", "Deployment", name, space, spec)

    def _stateful_set(self, name: str, space: str, pod: Json) -> Json:
        chance = self._chance
        spec: Json = {"replicas": chance.randint(1, 4), "selector": {"matchLabels": {"app": name}},
                      "serviceName": name, "template": pod}  # fmt: skip
        if chance.random() < 0.4:
            spec["podManagementPolicy"] = "Parallel"
        if chance.random() < 0.1:
            spec["updateStrategy"] = {"type": "OnDelete"}
        return _owner("apps/v1", "StatefulSet", name, space, spec)

    def _job(self, name: str, space: str, pod: Json) -> Json:
        chance = self._chance
        pod["spec"]["restartPolicy"] = "Never"
        pods = chance.randint(1, 5)
        spec: Json = {
            "completions": pods,
            "parallelism": min(pods, chance.randint(1, 5)),
            "template": pod,
        }
        if chance.random() < 0.3:
            spec["completionMode"] = "Indexed"
        return _owner("batch/v1", "Job", name, space, spec)

    def _daemon_set(self, name: str, space: str, pod: Json) -> Json:
        chance = self._chance
        spec: Json = {"selector": {"matchLabels": {"app": name}}, "template": pod}
        roll = chance.random()
        if roll < 0.25:
            spec["updateStrategy"] = {
                "type": "RollingUpdate",
                "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0},
            }
        elif roll < 0.35:
            spec["updateStrategy"] = {"type": "OnDelete"}
        for key in ("topologySpreadConstraints", "affinity"):
            pod["spec"].pop(key, None)
        return _owner("apps/v1", "DaemonSet", name, space, spec)


def strategy(chance: random.Random) -> Json:
    """Return the field `strategy` of a Deployment, or nothing."""
    roll = chance.random()
    if roll < 0.4:
        return {}
    if roll < 0.55:
        return {"strategy": {"type": "Recreate"}}
    surge, unavailable = chance.choice([(0, 1), (1, 0), (1, 1), (2, 0), ("50%", 0), ("0%", "50%")])
    return {
        "strategy": {
            "type": "RollingUpdate",
            "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable},
        }
    }


def _bare(name: str, space: str, pod: Json) -> Json:
    meta = pod["metadata"]
    meta |= {"name": name, "namespace": space}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": pod["spec"]}


def _owner(version: str, kind: str, name: str, space: str, spec: Json) -> Json:
    return {
        "apiVersion": version,
        "kind": kind,
        "metadata": {"name": name, "namespace": space},
        "spec": spec,
    }
