"""Rehearse many pods on many nodes, and print the duration and the memory of each process.

python conformance/control_plane/scale.py --nodes 1000 --pods 5000
"""

from __future__ import annotations

import argparse
import resource
import sys
import threading
import time
from pathlib import Path
from typing import Any

import psutil
import yaml

from dra_planner.fleet import read_fleet
from dra_planner.plan import PlanRequest, make_plan
from dra_planner.sources import Source
from dra_sandbox.control_plane import Settings, control_plane
from dra_sandbox.control_plane.processes import running
from dra_sandbox.rehearsal import RehearsalRequest, rehearse
from dra_sandbox.tools.kubernetes import find_binaries

_GPU = "gpu.nvidia.com"


def main() -> int:
    """Run a rehearsal. Return 1 if a pod is pending or a difference is unexplained."""
    given = _arguments()
    sources = (
        Source("workloads.yaml", yaml.safe_dump_all(_workloads(given.pods, given.deployments))),
    )
    plan = make_plan(
        PlanRequest(sources=sources, fleet=read_fleet(_fleet(given.nodes, given.minor)), steps=0)
    )
    with control_plane(
        Settings(given.minor), find_binaries(given.minor), within_seconds=300
    ) as plane:
        watch = _Memory(plane.folder)
        began = time.monotonic()
        request = RehearsalRequest(plan=plan, sources=sources, within_seconds=given.time_limit)
        found = rehearse(plane, request)
        seconds = time.monotonic() - began
        watch.stop()
    placed = sum(row.outcome.placed for row in found.rows)
    own = resource.getrusage(resource.RUSAGE_SELF)
    print(
        f"{given.nodes} nodes, {placed} of {given.pods} pods placed, decided "
        f"{found.outcome.decided}"
    )
    print(
        f"{seconds:.0f} s in total,  {found.seconds:.0f} s from the first workload to the last decision"
    )
    for name, (memory, cpu) in watch.most.items():
        print(f"  {name:24} {memory / 2**20:6.0f} MiB  {cpu:6.0f} s CPU")
    print(
        f"  {'the rehearsal itself':24} {own.ru_maxrss / 2**10:6.0f} MiB  "
        f"{own.ru_utime + own.ru_stime:6.0f} s CPU"
    )
    print(
        "  processes of the control plane together: "
        f"{sum(memory for memory, _ in watch.most.values()) / 2**30:.1f} GiB"
    )
    for row in found.unexplained:
        print("unexplained:", row.outcome.workload, row.difference, row.deviation)
    return int(placed < given.pods or bool(found.unexplained))


class _Memory:
    """Records the maximum resident memory and the CPU seconds of each control plane process."""

    def __init__(self, folder: Path) -> None:
        self.most: dict[str, tuple[int, float]] = {}
        self._over = threading.Event()
        self._processes = running(folder)
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._over.wait(1.0):
            for name, process in self._processes.items():
                try:
                    memory, times = process.memory_info().rss, process.cpu_times()
                except psutil.Error:
                    continue
                before = self.most.get(name, (0, 0.0))[0]
                self.most[name] = max(before, memory), times.user + times.system


def _fleet(nodes: int, minor: int) -> dict[str, Any]:
    fleet: dict[str, Any] = yaml.safe_load(
        (Path(__file__).parent / "fleet.yaml").read_text(encoding="utf-8")
    )
    (pool,) = fleet["pools"]
    return {**fleet, "kubernetes": f"1.{minor}", "pools": [{**pool, "count": nodes}]}


def _workloads(pods: int, deployments: int) -> list[dict[str, object]]:
    template = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": "one"},
        "spec": {
            "spec": {
                "devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": _GPU}}]}
            }
        },
    }
    return [
        template,
        *(_deployment(f"w{number}", pods // deployments) for number in range(deployments)),
    ]


def _deployment(name: str, replicas: int) -> dict[str, object]:
    labels = {"app": name}
    resources = {"requests": {"cpu": "1", "memory": "1Gi"}, "claims": [{"name": "gpu"}]}
    spec = {
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}],
        "containers": [{"name": "main", "image": "registry.example/app:1", "resources": resources}],
        "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "one"}],
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minor", type=int, default=36)
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--pods", type=int, default=5000)
    parser.add_argument("--deployments", type=int, default=10)
    parser.add_argument("--time-limit", type=float, default=3600)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
