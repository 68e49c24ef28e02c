"""Run one cluster on a control plane: wait until it settles, apply changes, and read the result."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable
from typing import Any, Final

from cluster_changes import Manifests
from cluster_objects import cluster_objects
from cluster_workloads import WorkloadMaker
from dra_planner.releases import features_of
from dra_sandbox.control_plane import ApiRejection, ApiServer
from dra_sandbox.rehearsal.controller_delays import wait_for_quotas
from dra_sandbox.rehearsal.scheduler_decisions import Decisions, PendingWork
from dra_sandbox.rehearsal.snapshot import CLAIMS, NODES, PODS, SLICES, take_cluster
from dra_sandbox.rehearsal.workload_removal import clear_workloads
from dra_sandbox.rehearsal.workloads import ANNOTATION
from kubectl_apply import apply
from quiet_control_plane import wait_until_quiet

Json = dict[str, Any]

_CLASSES: Final = "/apis/resource.k8s.io/v1/deviceclasses"
_QUOTAS: Final = "/api/v1/resourcequotas"
_MAKERS: Final = (
    "/apis/apps/v1/replicasets",
    "/apis/apps/v1/statefulsets",
    "/apis/apps/v1/daemonsets",
    "/apis/batch/v1/jobs",
)
_ROWS: Final = ("Deployment", "StatefulSet", "DaemonSet", "Job", "Pod")
_ENDED: Final = ("Succeeded", "Failed")
_TRIED: Final = "pulumi-dra/tried"
_SECONDS: Final = 30.0
_TRIES: Final = 3


class Stage:
    """An empty control plane, and the cluster that one seed creates on it."""

    def __init__(self, server: ApiServer, load: PendingWork, minor: int, seed: int) -> None:
        self._server, self._minor = server, minor
        self._chance = random.Random(f"clusters/{seed}")
        self._decisions = Decisions(server, load)
        self._tried = 0
        self.is_quiet = True

    def play(self) -> Json:
        """Return the cluster before the changes, the changes with their objects, and the result.
        All objects are deleted afterward.
        """
        try:
            return self._play()
        finally:
            self._decisions.stop()
            clear_workloads(self._server)
            for path in (SLICES, NODES, _CLASSES):
                for each in self._server.listed(path)[0]:
                    self._server.delete(f"{path}/{each['metadata']['name']}")

    def _play(self) -> Json:
        chance, features = self._chance, features_of(self._minor)
        extended = features.extended_resource and chance.random() < 0.4
        for each in cluster_objects(chance, features, extended=extended):
            self._server.apply(each)
        manifests = Manifests(chance, WorkloadMaker(chance, extended=extended))
        self._apply(manifests.first(), {})
        for _ in range(chance.choice([0, 0, 1, 1, 2])):
            self._apply(manifests.change()[1], {})
        if len(manifests.workloads) > 2 and chance.random() < 0.2:
            self._server.delete(self._server.path(manifests.forget()))
            self._settle()
        if chance.random() < 0.5:
            self._end_pods()
        before, known = take_cluster(self._server), self._preempted()
        names, applied = list[str](), list[Json]()
        refused: dict[str, str] = {}
        for _ in range(chance.choice([1, 1, 2, 3])):
            name, objects = manifests.change()
            names.append(name)
            applied += [each for each in objects if each not in applied]
        applied = _in_turn(applied)
        self._apply(applied, refused, one_by_one=True)
        return {
            "changes": names,
            "cluster": before,
            "applied": applied,
            "became": self._became(applied, refused, known),
        }

    # -- apply changes, and wait

    def _apply(
        self, objects: Iterable[Json], refused: dict[str, str], *, one_by_one: bool = False
    ) -> None:
        for each in objects:
            try:
                apply(self._server, each)
            except ApiRejection as refusal:
                refused[
                    f"{each['kind']}/{each['metadata']['namespace']}/{each['metadata']['name']}"
                ] = str(refusal)
                continue
            wait_for_quotas(self._server, [each], _SECONDS)
            if one_by_one and each["kind"] in (*_ROWS, "ResourceQuota"):
                self._settle()
        if not one_by_one:
            self._settle()

    def _settle(self) -> None:
        """Wait until nothing changes. Pods that quotas rejected are retried earlier than usual."""
        self.is_quiet &= wait_until_quiet(self._server, self._decisions)
        spaces = {each["metadata"]["namespace"] for each in self._server.listed(_QUOTAS)[0]}
        for _ in range(_TRIES if spaces else 0):
            before = self._seen()
            self._try_again(spaces)
            self.is_quiet &= wait_until_quiet(self._server, self._decisions)
            if self._seen() == before:
                return

    def _try_again(self, spaces: set[str]) -> None:
        self._tried += 1
        for path in (*_MAKERS, PODS):
            for each in self._server.listed(path)[0]:
                is_waiting = each["kind"] != "Pod" or not each["spec"].get("nodeName")
                if each["metadata"]["namespace"] in spaces and is_waiting:
                    patch = {"metadata": {"annotations": {_TRIED: str(self._tried)}}}
                    self._server.call(
                        "PATCH", self._server.path(each), patch, "application/merge-patch+json"
                    )

    def _seen(self) -> list[tuple[str, str]]:
        pods = [
            (each["metadata"]["uid"], each["spec"].get("nodeName", ""))
            for each in self._server.listed(PODS)[0]
        ]
        return sorted(
            [*pods, *((each["metadata"]["uid"], "") for each in self._server.listed(CLAIMS)[0])]
        )

    def _end_pods(self) -> None:
        """Let some bare pods and some pods of Jobs complete.

        Pods that share a claim are excepted, because kube-controller-manager 1.36.3 removes such a
        pod from the claim's reservations and adds it again, endlessly.
        """
        running = [
            each
            for each in self._decisions.pods
            if each["spec"].get("nodeName")
            and _owner(each).partition("/")[0] in ("Job", "Pod")
            and not any(
                "resourceClaimName" in entry for entry in each["spec"].get("resourceClaims", ())
            )
        ]
        for pod in running:
            if self._chance.random() < 0.5:
                path = f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}"
                self._server.patch_status(path, {"phase": "Succeeded"})
        self._settle()

    # -- the result

    def _preempted(self) -> dict[str, str]:
        """Return the names of the preempted pods by UID."""
        events = [
            each
            for each in self._server.listed("/api/v1/events")[0]
            if each.get("reason") == "Preempted"
        ]
        return {each["involvedObject"]["uid"]: each["involvedObject"]["name"] for each in events}

    def _became(self, applied: list[Json], refused: dict[str, str], known: dict[str, str]) -> Json:
        pods = [
            each
            for each in self._server.listed(PODS)[0]
            if each["status"].get("phase") not in _ENDED
        ]
        given = {_name(each): each for each in applied if _name(each).partition("/")[0] in _ROWS}
        rows: dict[str, Json] = {}
        for name in (*given, *sorted({_owner(each) for each in pods} - {*given, ""})):
            own = [each for each in pods if _owner(each) == name]
            on = Counter(each["spec"]["nodeName"] for each in own if each["spec"].get("nodeName"))
            row = {
                "placed": on.total(),
                "pending": len(own) - on.total(),
                "nodes": dict(sorted(on.items())),
            }
            rows[name.partition("/")[2]] = row
        gone = [name for uid, name in self._preempted().items() if uid not in known]
        # workload names don't contain "-"
        victims = Counter(name.partition("-")[0] for name in gone)
        short = [
            name for name, each in given.items() if name in refused or not self._is_complete(each)
        ]
        return {
            "outcome": {name.partition("/")[2]: rows.pop(name.partition("/")[2]) for name in given},
            "beside": rows,
            "preempted": dict(sorted(victims.items())),
            "incomplete": [name.partition("/")[2] for name in short],
            "refused": refused,
        }

    def _is_complete(self, manifest: Json) -> bool:
        """Return True if a workload has all its pods with its current template, as far as its
        limits allow.
        """
        there = self._server.call("GET", self._server.path(manifest))
        return is_complete(there)


def is_complete(there: Json) -> bool:
    """Return True if a workload in a settled cluster has everything that its manifest requests."""
    spec, status = there["spec"], there["status"]
    match there["kind"]:
        case "Pod":
            return bool(spec.get("nodeName"))
        case "Job":
            if any(
                each["type"] in ("Complete", "Failed") for each in status.get("conditions") or ()
            ):
                return True
            left = spec["completions"] - status.get("succeeded", 0)
            return (
                int(status.get("active", 0))
                == min(spec["parallelism"], left)
                == int(status.get("ready", 0))
            )
        case "DaemonSet":
            pods, new = status["desiredNumberScheduled"], status.get("updatedNumberScheduled", 0)
            is_new = new == pods or spec["updateStrategy"]["type"] == "OnDelete"
            return is_new and pods == status.get("numberReady", 0)
        case "StatefulSet":
            rolling = spec["updateStrategy"].get("rollingUpdate") or {}
            new = max(0, spec["replicas"] - rolling.get("partition", 0))
            is_new = (
                status.get("updatedReplicas", 0) >= new
                or spec["updateStrategy"]["type"] == "OnDelete"
            )
            return is_new and status["replicas"] == spec["replicas"] == status.get(
                "readyReplicas", 0
            )
        case _:
            is_new = (
                spec.get("paused", False) or status.get("updatedReplicas", 0) == spec["replicas"]
            )
            return is_new and status.get("replicas", 0) == spec["replicas"] == status.get(
                "readyReplicas", 0
            )


def _in_turn(objects: list[Json]) -> list[Json]:
    """Return the latest version of each object. Objects that affect pods come before objects that
    create pods.
    """
    last = {_name(each): each for each in objects}
    return sorted(last.values(), key=lambda each: _name(each).partition("/")[0] in _ROWS)


def _name(item: Json) -> str:
    return f"{item['kind']}/{item['metadata'].get('namespace', '')}/{item['metadata']['name']}"


def _owner(pod: Json) -> str:
    """Return the workload of a pod: kind, namespace, and name."""
    return str((pod["metadata"].get("annotations") or {}).get(ANNOTATION, ""))
