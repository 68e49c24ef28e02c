r"""Let the real scheduler preempt pods that disruption budgets protect, and compare the preempted
pods with the simulation.

    python conformance/scheduler/preemptions.py --minor 36 --count 20
    python conformance/scheduler/preemptions.py --minor 36 --count 6 \
        --record tests/planner/simulation/preemptions

Each case is a small cluster that is filled with pods of low priority. Some pods are bare, the
others belong to Deployments, StatefulSets, and Jobs, and some have PodDisruptionBudgets. Then pods
of higher priority are created one after another. The cluster before these pods is read as a
snapshot and simulated. The command compares the simulation with the result of the scheduler and the
disruption controller: the preempted pods by workload, the nodes of the new pods, the final
placement, and the remaining disruptions of each budget.
"""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).parents[2] / "tests/planner/simulation"))

from preemption_comparison import Became, differences

from cluster_arguments import cluster_arguments
from cluster_records import write_case
from dra_planner.releases import RELEASES
from dra_sandbox.control_plane import ApiServer, Settings, control_plane
from dra_sandbox.rehearsal.scheduler_decisions import Decisions, PendingWork
from dra_sandbox.rehearsal.snapshot import NODES, PODS, take_cluster
from dra_sandbox.rehearsal.workload_removal import clear_workloads
from dra_sandbox.rehearsal.workloads import ANNOTATION
from dra_sandbox.tools.kubernetes import find_binaries
from quiet_control_plane import BUDGETS, wait_until_quiet

Json = dict[str, Any]
PRIORITIES: Final = {"low": 1, "mid": 50, "high": 100}
_SECOND: Final = 1.1  # start times have a resolution of one second


def main() -> int:
    """Run the cases. Return 1 if a simulation can't reach the actual result."""
    given = cluster_arguments(__doc__)
    wrong = same = 0
    for minor in given.minor or RELEASES:
        with control_plane(Settings(minor), find_binaries(minor), within_seconds=600) as plane:
            for seed in range(given.seed, given.seed + given.count):
                case = _Stage(
                    ApiServer.of(plane), PendingWork(plane), random.Random(f"preemptions/{seed}")
                ).play()
                case = {"kubernetes": plane.version, "seed": seed, **case}
                found, tries = differences(case)
                wrong += bool(found)
                same += tries == 1 and not found
                for line in found:
                    print(f"  1.{minor}, seed {seed}: {line}", flush=True)
                if given.record or found:
                    write_case(given.record or given.failures, case, f"1.{minor}-{seed}")
        total = given.count * len(given.minor or RELEASES)
    print(
        f"{total - wrong} of {total} clusters agree, {same} of them without chance; {wrong} do not"
    )
    return int(bool(wrong))


class _Stage:
    """One cluster on an empty control plane."""

    def __init__(self, server: ApiServer, load: PendingWork, chance: random.Random) -> None:
        self._server, self._chance = server, chance
        self._decisions = Decisions(server, load)

    def play(self) -> Json:
        """Return the cluster before the new pods, the new pods, and the result. All objects are
        deleted afterward.
        """
        try:
            for each in self._cluster():
                self._server.apply(each)
            for made in self._workloads():
                for each in made:
                    self._server.apply(each)
                self._settle()
                time.sleep(_SECOND)
            before = [_plain(each) for each in take_cluster(self._server) if _is_ours(each)]
            known = {*self._preempted()}
            arrivals = list(self._arrivals())
            for pod in arrivals:
                self._server.create(pod)
                self._settle()
            return {
                "cluster": before,
                "arrivals": arrivals,
                "became": self._became(arrivals, known).document(),
            }
        finally:
            self._decisions.stop()
            clear_workloads(self._server)
            for node in self._server.listed(NODES)[0]:
                self._server.delete(f"{NODES}/{node['metadata']['name']}")

    # -- the cluster

    def _cluster(self) -> Iterator[Json]:
        for name, value in PRIORITIES.items():
            yield {
                "apiVersion": "scheduling.k8s.io/v1",
                "kind": "PriorityClass",
                "metadata": {"name": name},
                "value": value,
            }
        for number in range(self._chance.randint(2, 3)):
            name, room = (
                f"n{number}",
                {"cpu": str(self._chance.choice([4, 6, 8])), "memory": "64Gi", "pods": "110"},
            )
            yield {"apiVersion": "v1", "kind": "Node",
                   "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
                   "status": {"capacity": room, "allocatable": room,
                              "conditions": [{"type": "Ready", "status": "True"}]}}  # fmt: skip

    def _workloads(self) -> Iterator[list[Json]]:
        chance = self._chance
        names = [f"w{number}" for number in range(chance.randint(4, 6))]
        for name in names:
            made = self._owner(name, chance.choice(["low", "low", "mid"]))
            yield [
                *([self._budget(f"keep-{name}", {"app": name})] if chance.random() < 0.75 else []),
                made,
            ]
        if chance.random() < 0.3:
            yield [self._budget("keep-tier", {"tier": "a"})]

    def _owner(self, name: str, priority: str) -> Json:
        chance = self._chance
        kind = chance.choice(
            ["Deployment", "Deployment", "StatefulSet", "ReplicaSet", "Job", "Pod"]
        )
        pod = self._pod(name, kind, priority, chance.choice([1, 1, 2, 3]))
        meta, pods = {"name": name, "namespace": "default"}, chance.randint(1, 5)
        if kind == "Pod":
            return {
                "apiVersion": "v1",
                "kind": kind,
                **pod,
                "metadata": {**meta, **pod["metadata"]},
            }
        if kind == "Job":
            pod["spec"]["restartPolicy"] = "Never"
            spec: Json = {
                "completions": pods,
                "parallelism": pods,
                "backoffLimit": 100,
                "template": pod,
            }
            return {"apiVersion": "batch/v1", "kind": kind, "metadata": meta, "spec": spec}
        spec = {"replicas": pods, "selector": {"matchLabels": {"app": name}}, "template": pod}
        if kind == "StatefulSet":
            spec |= {
                "serviceName": name,
                "podManagementPolicy": chance.choice(["Parallel", "OrderedReady"]),
            }
        return {"apiVersion": "apps/v1", "kind": kind, "metadata": meta, "spec": spec}

    def _pod(self, name: str, kind: str, priority: str, cpu: int) -> Json:
        labels = {"app": name, "tier": self._chance.choice("ab")}
        container = {
            "name": "main",
            "image": "registry.example/app:1",
            "resources": {"requests": {"cpu": str(cpu)}},
        }
        return {
            "metadata": {"labels": labels, "annotations": {ANNOTATION: f"{kind}/default/{name}"}},
            "spec": {"containers": [container], "priorityClassName": priority},
        }

    def _budget(self, name: str, labels: Json) -> Json:
        chance = self._chance
        field = chance.choice(["minAvailable", "maxUnavailable"])
        value = chance.choice([0, 1, 1, 2, 3, "20%", "50%", "75%"])
        return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
                "metadata": {"name": name, "namespace": "default"},
                "spec": {field: value, "selector": {"matchLabels": labels}}}  # fmt: skip

    def _arrivals(self) -> Iterator[Json]:
        chance = self._chance
        for number, priority in enumerate(
            sorted(chance.choices(["high", "mid"], k=chance.randint(1, 3)))
        ):
            pod = self._pod(f"late{number}", "Pod", priority, chance.choice([2, 2, 3, 4]))
            meta = {"name": f"late{number}", "namespace": "default", **pod["metadata"]}
            yield {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": pod["spec"]}

    # -- the result

    def _settle(self) -> None:
        wait_until_quiet(self._server, self._decisions)

    def _preempted(self) -> dict[str, str]:
        """Return the names of the preempted pods by UID. A pod can have multiple events."""
        events = [
            each
            for each in self._server.listed("/api/v1/events")[0]
            if each.get("reason") == "Preempted"
        ]
        return {each["involvedObject"]["uid"]: each["involvedObject"]["name"] for each in events}

    def _became(self, arrivals: list[Json], known: set[str]) -> Became:
        names = {each["metadata"]["name"] for each in arrivals}
        pods = [
            each
            for each in self._server.listed(PODS)[0]
            if ANNOTATION in each["metadata"].get("annotations", {})
        ]
        running: dict[str, Counter[str]] = {}
        for each in pods:
            app, node = each["metadata"]["labels"]["app"], each["spec"].get("nodeName", "")
            if node:
                running.setdefault(app, Counter())[node] += 1
        victims = Counter(
            name.partition("-")[0] for uid, name in self._preempted().items() if uid not in known
        )
        left = {
            each["metadata"]["name"]: each["status"]["disruptionsAllowed"]
            for each in self._server.listed(BUDGETS)[0]
        }
        return Became(
            came={name: next(iter(running.get(name, {})), "") for name in sorted(names)},
            victims=dict(sorted(victims.items())),
            running={app: dict(sorted(nodes.items())) for app, nodes in sorted(running.items())},
            left=dict(sorted(left.items())),
        )


_META: Final = ("name", "namespace", "labels", "uid", "ownerReferences")
_SPEC: Final = (
    "containers",
    "nodeName",
    "priority",
    "priorityClassName",
    "replicas",
    "selector",
    "template",
    "completions",
    "parallelism",
    "podManagementPolicy",
    "minAvailable",
    "maxUnavailable",
)
_STATUS: Final = (
    "phase",
    "startTime",
    "conditions",
    "allocatable",
    "disruptionsAllowed",
    "currentHealthy",
    "expectedPods",
    "desiredHealthy",
)


def _is_ours(item: Json) -> bool:
    return item["kind"] != "Namespace" or item["metadata"]["name"] == "default"


def _plain(item: Json) -> Json:
    """Return the object with only the fields that affect the result, for the record."""
    kept: Json = {"apiVersion": item["apiVersion"], "kind": item["kind"]}
    kept["metadata"] = {key: item["metadata"][key] for key in _META if key in item["metadata"]}
    if item["kind"] == "PriorityClass":
        return {**kept, "value": item["value"]}
    spec = {key: value for key, value in (item.get("spec") or {}).items() if key in _SPEC}
    template = spec.get("template")
    if template:
        meta, pod = template.get("metadata") or {}, template["spec"]
        spec["template"] = {"metadata": {"labels": meta.get("labels", {})}, "spec": _pod_spec(pod)}
    if item["kind"] == "Pod":
        spec = _pod_spec(spec)
    status = {key: value for key, value in (item.get("status") or {}).items() if key in _STATUS}
    if "conditions" in status:
        status["conditions"] = [
            {"type": each["type"], "status": each["status"]}
            for each in status["conditions"]
            if each["type"] == "Ready"
        ]
    return kept | ({"spec": spec} if spec else {}) | ({"status": status} if status else {})


def _pod_spec(spec: Json) -> Json:
    containers = [
        {"name": each["name"], "resources": each["resources"]} for each in spec["containers"]
    ]
    return {**{key: value for key, value in spec.items() if key in _SPEC}, "containers": containers}


if __name__ == "__main__":
    sys.exit(main())
