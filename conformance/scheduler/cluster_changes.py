"""Generate random changes to a running cluster: changed and new workloads, and other quotas."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator
from typing import Any, Final

from msgspec import Struct

from cluster_objects import NAMESPACES, budget, claims_of, limit_range, quota
from cluster_workloads import WorkloadMaker, strategy
from dra_sandbox.rehearsal.workloads import template_of

Json = dict[str, Any]
Changed = list[Json]
_ROLLING: Final = ("Deployment", "StatefulSet", "DaemonSet")
_SCALED: Final = ("Deployment", "StatefulSet")


class Manifests(Struct):
    """The latest manifests of a cluster, and changes to them. A change consists of a name and a
    list of objects to apply in order.
    """

    chance: random.Random
    maker: WorkloadMaker
    workloads: dict[str, Json] = {}
    quotas: dict[str, Json] = {}
    rolled: int = 0

    def first(self) -> Iterator[Json]:
        """Yield the rules and workloads of the cluster at its start."""
        chance = self.chance
        if chance.random() < 0.4:
            self.quotas["team"] = quota(chance, "team")
            yield self.quotas["team"]
        if chance.random() < 0.15:
            yield limit_range(chance, "team")
        for _ in range(chance.randint(2, 5)):
            made = self._new(None)
            if chance.random() < 0.25:
                yield budget(chance, made)
            yield from (*claims_of(made), made)

    def change(self) -> tuple[str, list[Json]]:
        """Return the name of a change, and the objects to apply. Objects on which others depend
        come first.
        """
        known = [each for each in self._changes() if each[2]]
        name, act, subjects = self.chance.choices(known, [_WEIGHTS[each[0]] for each in known])[0]
        subject = copy.deepcopy(self.chance.choice(subjects))
        made = act(subject)
        for each in made:
            if each["metadata"]["name"] in self.workloads:
                self.workloads[each["metadata"]["name"]] = each
        return name, [*self._needed(made), *made]

    def forget(self) -> Json:
        """Return the manifest of a workload that is deleted."""
        return self.workloads.pop(self.chance.choice(list(self.workloads)))

    def _needed(self, made: list[Json]) -> list[Json]:
        needed = [claim for each in made if each["kind"] in _KINDS for claim in claims_of(each)]
        return [each for number, each in enumerate(needed) if each not in needed[:number]]

    def _changes(self) -> list[tuple[str, Callable[[Json], Changed], list[Json]]]:
        workloads = list(self.workloads.values())
        scaled = [each for each in workloads if each["kind"] in _SCALED]
        rolling = [each for each in workloads if each["kind"] in _ROLLING]
        deployments = [each for each in workloads if each["kind"] == "Deployment"]
        sets = [each for each in workloads if each["kind"] == "StatefulSet"]
        jobs = [each for each in workloads if each["kind"] == "Job"]
        return [
            ("again", lambda each: [each], workloads),
            ("more", self._more, scaled),
            ("fewer", self._fewer, scaled),
            ("uncounted", self._uncounted, scaled),
            ("image", self._image, rolling),
            ("claims", self._claims, rolling),
            ("requests", self._requests, rolling),
            ("rules", self._rules, rolling),
            ("pause", self._pause, deployments),
            ("strategy", self._strategy, deployments),
            ("partition", self._partition, sets),
            ("job", self._job, jobs),
            ("new", lambda _: [self._new(None)], [{}]),
            (
                "urgent",
                lambda _: [self._new(self.chance.choice(["high", "high", "patient"]))],
                [{}],
            ),
            ("guarded", self._guarded, workloads),
            ("quota", self._quota, [{"space": name} for name in NAMESPACES]),
            ("limits", lambda _: [limit_range(self.chance, "team")], [{}]),
            ("all", lambda _: copy.deepcopy(workloads), [{}]),
        ]

    def _new(self, priority: str | None) -> Json:
        made = self.maker.make(priority)
        self.workloads[made["metadata"]["name"]] = made
        return made

    # -- replicas

    def _more(self, each: Json) -> Changed:
        each["spec"]["replicas"] = each["spec"].get("replicas", 1) + self.chance.randint(1, 3)
        return [each]

    def _fewer(self, each: Json) -> Changed:
        each["spec"]["replicas"] = max(
            0, each["spec"].get("replicas", 1) - self.chance.randint(1, 2)
        )
        return [each]

    def _uncounted(self, each: Json) -> Changed:
        each["spec"].pop("replicas", None)
        return [each]

    # -- templates

    def _image(self, each: Json) -> Changed:
        self.rolled += 1
        for container in template_of(each)["spec"]["containers"]:
            container["image"] = f"registry.example/app:{self.rolled + 1}"
        if self.chance.random() < 0.25 and each["kind"] in _SCALED:
            return self._more(each)
        return [each]

    def _claims(self, each: Json) -> Changed:
        spec = template_of(each)["spec"]
        spec["resourceClaims"] = [
            {"name": "gpu", "resourceClaimTemplateName": self.maker.random_claim()}
        ]
        spec["containers"][0]["resources"]["claims"] = [{"name": "gpu"}]
        spec["tolerations"] = [
            {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
        ]
        return [each]

    def _requests(self, each: Json) -> Changed:
        resources = template_of(each)["spec"]["containers"][0]["resources"]
        resources["requests"] = {"cpu": self.chance.choice(["500m", "1", "2", "4"])}
        return [each]

    def _rules(self, each: Json) -> Changed:
        """Remove a rule, or change which pods are preempted."""
        spec = template_of(each)["spec"]
        for key in ("affinity", "topologySpreadConstraints", "nodeSelector"):
            if key in spec:
                del spec[key]
                return [each]
        spec["priorityClassName"] = self.chance.choice(["low", "high", "patient"])
        return [each]

    # -- rollout settings

    def _pause(self, each: Json) -> Changed:
        if each["spec"].pop("paused", False):
            return [each]
        each["spec"]["paused"] = True
        return self._image(each) if self.chance.random() < 0.7 else self._more(each)

    def _strategy(self, each: Json) -> Changed:
        each["spec"].pop("strategy", None)
        each["spec"] |= strategy(self.chance)
        return self._image(each) if self.chance.random() < 0.7 else [each]

    def _partition(self, each: Json) -> Changed:
        rolling = {"partition": self.chance.randint(0, 3)}
        each["spec"]["updateStrategy"] = {"type": "RollingUpdate", "rollingUpdate": rolling}
        return self._image(each)

    def _job(self, each: Json) -> Changed:
        if self.chance.random() < 0.3:
            return [each]
        each["spec"]["parallelism"] += self.chance.choice([-1, 1, 2])
        each["spec"]["parallelism"] = max(0, each["spec"]["parallelism"])
        return [each]

    # -- rules

    def _guarded(self, each: Json) -> Changed:
        return [budget(self.chance, each), self._new("high")]

    def _quota(self, where: Json) -> Changed:
        made = self.quotas[where["space"]] = quota(self.chance, where["space"])
        beside = [
            each
            for each in self.workloads.values()
            if each["metadata"]["namespace"] == where["space"]
        ]
        if not beside or self.chance.random() < 0.3:
            return [made, self._new(None)]
        return [made, copy.deepcopy(self.chance.choice(beside))]


_KINDS: Final = (*_ROLLING, "Job", "Pod")
_WEIGHTS: Final = {
    "again": 1,
    "more": 4,
    "fewer": 3,
    "uncounted": 2,
    "image": 4,
    "claims": 4,
    "requests": 3,
    "rules": 2,
    "pause": 2,
    "strategy": 3,
    "partition": 3,
    "job": 2,
    "new": 3,
    "urgent": 4,
    "guarded": 3,
    "quota": 3,
    "limits": 1,
    "all": 1,
}
