"""Run the steps of generated migrations on the real scheduler. A step that the plan calls safe must
not leave a pod pending.

    .venv/bin/python conformance/migration/fleets.py --fleets 50 [--first 0] [--minor 36]

The command prints a line for each step, and a summary. The exit status is 1 if a step that the plan
calls safe has pending pods.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from functools import partial
from typing import Any

import yaml

from dra_planner.clouds.eks import CLOUD
from dra_planner.fleet import Fleet, read_fleet
from dra_planner.migration import plan_steps
from dra_planner.sources import Source
from dra_sandbox.control_plane import Settings, control_plane
from dra_sandbox.rehearsal import rehearse_steps
from dra_sandbox.tools.kubernetes import find_binaries

_POOLS = {
    "l4": ("g6.12xlarge", 4, {}),
    "a10g": ("g5.12xlarge", 4, {}),
    "t4": ("g4dn.12xlarge", 4, {}),
    "mig": ("p4d.24xlarge", 8, {"mig": "all-3g.20gb"}),
}
_KINDS = ("Deployment", "Deployment", "StatefulSet", "Job")


def generated(seed: int, minor: int = 36) -> tuple[Fleet, Source]:
    """Return a fleet of device-plugin and DRA pools, and workloads of both kinds."""
    rng = random.Random(seed)
    names = rng.sample(sorted(_POOLS), rng.randint(1, 2))
    pools = []
    for name in names:
        machine, _, extra = _POOLS[name]
        count = {"min": 0, "max": 6}
        pools.append(
            {
                "name": name,
                "machine": machine,
                "count": count,
                "allocation": "device-plugin",
                **extra,
            }
        )
        if rng.random() < 0.3:
            pools.append({"name": f"{name}-new", "machine": machine, "count": count, **extra})
    document: dict[str, Any] = {
        "cloud": CLOUD.name,
        "region": "us-east-1",
        "kubernetes": f"1.{minor}",
        "systemPool": {"machine": "m7i.large"},
        "drivers": {
            "nvidia": {"version": rng.choice(("25.8.1", "0.4.1") if minor >= 36 else ("25.8.1",))}
        },
        "devicePlugin": {"version": "0.20.0"},
        "pools": pools,
    }
    objects: list[dict[str, Any]] = []
    for number in range(rng.randint(2, 3)):
        objects += _workload(rng, f"w{number}", rng.choice(names))
    text = "---\n".join(yaml.safe_dump(each, sort_keys=False) for each in objects)
    return read_fleet(document), Source(f"fleet-{seed}.yaml", text)


def _workload(rng: random.Random, name: str, pool: str) -> list[dict[str, Any]]:
    machine, gpus, _ = _POOLS[pool]
    kind = rng.choice(_KINDS)
    resource = "nvidia.com/mig-3g.20gb" if pool == "mig" else "nvidia.com/gpu"
    count = rng.choice([each for each in (1, 1, 2, 4) if each <= gpus])
    pod = {
        "nodeSelector": {"node.kubernetes.io/instance-type": machine},
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}],
        "containers": [
            {"name": "main", "image": "example/main:1", "resources": {"limits": {resource: count}}}
        ],
    }
    template = {"metadata": {"labels": {"app": name}}, "spec": pod}
    spec: dict[str, Any] = {"template": template}
    if kind == "Job":
        pod["restartPolicy"] = "Never"
        spec["parallelism"] = spec["completions"] = rng.randint(1, 3)
    else:
        spec |= {"replicas": rng.randint(1, 4), "selector": {"matchLabels": {"app": name}}}
    if kind == "StatefulSet":
        spec |= {"serviceName": name, "podManagementPolicy": "Parallel"}
    api = "batch/v1" if kind == "Job" else "apps/v1"
    return [
        {
            "apiVersion": api,
            "kind": kind,
            "metadata": {"name": name, "namespace": "ml"},
            "spec": spec,
        }
    ]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--fleets", type=int, default=50)
    parser.add_argument("--first", type=int, default=0, help="seed of the first fleet")
    parser.add_argument("--minor", type=int, default=36)
    given = parser.parse_args()
    settings = Settings(given.minor, tolerates_extended_resources=True)
    start = partial(control_plane, settings, find_binaries(given.minor), within_seconds=600)
    found: Counter[str] = Counter()
    for seed in range(given.first, given.first + given.fleets):
        steps = plan_steps([(planned := generated(seed, given.minor))[1]], planned[0]).steps
        for each in rehearse_steps(start, steps, within_seconds=300):
            outcome = "pending" if each.pending else "placed" if each.decided else "undecided"
            found[f"{'safe' if each.step.is_safe else 'not proven'}, {outcome}"] += 1
            print(
                f"fleet {seed} {each.step.folder}: {outcome}, {each.placed} pods, "
                f"{each.pending} pending, {'safe' if each.step.is_safe else 'not proven'}",
                flush=True,
            )
        found["fleets"] += 1
        print(dict(found), flush=True)
    return 1 if found["safe, pending"] else 0


if __name__ == "__main__":
    sys.exit(main())
