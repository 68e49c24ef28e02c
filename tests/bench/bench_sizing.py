"""Sizing: CPU seconds, calls of the allocator, peak memory, the gap between packing and bound, and
the prices of other tools' rules.

Each instance runs in its own process. The output contains the aims next to the measurements, and
whether they are met. The digests of the instances are pinned. `python tests/bench/bench_sizing.py
SHAPES POOLS PODS [GAP]` measures one packing instance, `… karpenter PODS TYPES` one instance of
Karpenter, and `… profile NAME` one instance of the Cluster Autoscaler.
"""

from __future__ import annotations

import gc
import json
import resource
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dra_planner.model import Demand, DeviceClass
    from dra_planner.offers import Offer

sys.path.insert(0, str(Path(__file__).parent))

CASES = {  # shapes, pools, pods, accepted gap: target CPU seconds
    (10, 5, 10**3, 0.0): 0.1,
    (10, 5, 10**6, 0.0): 0.1,
    (100, 30, 10**3, 0.0): 2.0,
    (100, 30, 10**4, 0.02): 0.5,
    (100, 30, 10**4, 0.002): 10.0,
    (100, 30, 10**9, 0.0): 2.0,
    (500, 60, 10**4, 0.02): 5.0,
}
KARPENTER = {  # pods, machine types: the same, Karpenter's kinds of pods and types
    (600, 40): 1.0,
    (5000, 400): 1.0,
}
# equal pods, 30 per node: a single division for the autoscaler and for sizing
EQUAL = 30_000
AIM_OF_ONE_POOL = 0.05  # CPU seconds for a profile of the autoscaler's benchmark
FLAT = (100, 30)  # shapes and pools for which the time must not depend on replicas
MOST_RATIO = 1.1
MOST_MIB = 300
SEED = 1
GAP = 0.02  # Karpenter's types: accepted gap above the bound


def measure_packed(shapes: int, pools: int, pods: int, gap: float) -> dict[str, float | str]:
    """Size one instance of the benchmark. `peer` is the cost of the autoscaler's rule as a multiple
    of the cost of sizing.
    """
    from autoscaler_instances import autoscaler_rule
    from pack_instances import CLASSES, MINOR, digest, pack

    from dra_planner.releases import features_of

    demand, offers = pack(shapes, pools, pods, SEED)
    found = measure(demand, offers, CLASSES, gap)
    peer = float(autoscaler_rule(demand, offers, CLASSES, features_of(MINOR))) / float(found["usd"])
    return {**found, "peer": peer, "digest": digest(demand, offers)[:16]}


def measure_profile(name: str) -> dict[str, float | str]:
    """Size one profile of the autoscaler's benchmark on new nodes, or its equal pods."""
    from autoscaler_instances import autoscaler_rule, equal_pods, profile
    from pack_instances import MINOR, digest

    from dra_planner.releases import features_of

    demand, offers, classes = (*equal_pods(EQUAL), {}) if name == "equal" else profile(name)
    found = measure(demand, offers, classes, 0.0)
    peer = float(autoscaler_rule(demand, offers, classes, features_of(MINOR))) / float(found["usd"])
    return {**found, "peer": peer, "digest": digest(demand, offers)[:16]}


def measure_karpenter(pods: int, types: int) -> dict[str, float | str]:
    """Size Karpenter's pods on its machine types. `peer` is the cost of Karpenter's rule as a
    multiple of the cost of sizing.
    """
    from karpenter_instances import draw_pods, karpenter, karpenter_rule
    from pack_instances import digest

    demand, offers = karpenter(pods, types)
    found = measure(demand, offers, {}, GAP)
    peer = float(karpenter_rule(draw_pods(pods), types)) / float(found["usd"])
    return {**found, "peer": peer, "digest": digest(demand, offers)[:16]}


def measure(
    demand: Demand, offers: Sequence[Offer], classes: Mapping[str, DeviceClass], gap: float
) -> dict[str, float | str]:
    """Size the instance. The measured time excludes imports and the creation of the instance."""
    from pack_instances import MINOR

    from dra_command.__main__ import MORE_OBJECTS
    from dra_planner.releases import features_of
    from dra_planner.sizing import Sizer
    from dra_planner.sizing.bound.solver import load_solver
    from dra_planner.sizing.packing import filling

    import_module("dra_planner.cel.compilation")
    load_solver()  # imports aren't part of the measured time
    gc.set_threshold(MORE_OBJECTS, *gc.get_threshold()[1:])  # as the command does

    calls, place = 0, filling.place

    def counted(*args: object, **options: object) -> object:
        nonlocal calls
        calls += 1
        return place(*args, **options)  # type: ignore[arg-type]

    filling.place = counted  # type: ignore[assignment]
    start = time.process_time()
    sizing = Sizer.of(demand, offers, classes, features_of(MINOR), gap=gap).size("steady")
    spent = time.process_time() - start
    assert sizing.hourly_plan is not None
    assert sizing.hourly_bound is not None
    return {
        "seconds": spent,
        "calls": calls,
        "mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "gap": float(sizing.hourly_plan / sizing.hourly_bound) - 1,
        "usd": float(sizing.hourly_plan),
    }


def run(*arguments: str | float) -> dict[str, float | str]:
    """Return the measurements of a separate process."""
    command = [sys.executable, __file__, *map(str, arguments)]
    found: dict[str, float | str] = json.loads(
        subprocess.run(command, check=True, capture_output=True, text=True).stdout
    )
    return found


def print_row(name: str, found: Mapping[str, float | str], aim: float, instance: str) -> None:
    from pack_instances import frozen

    known = frozen()[instance][:16]
    other = "" if found["digest"] == known else f" IS ANOTHER INSTANCE THAN {known}"
    print(
        f"{name:>36}{found['seconds']:9.2f}{aim:7.2f}{found['calls']:10,}{found['mib']:7.0f}{found['gap']:9.2%}"
        f"{found['peer']:7.2f}  {found['digest']}{other}",
        flush=True,
    )


def head(what: str, peer: str) -> None:
    print(f"{what:>36}{'CPU s':>9}{'aim':>7}{'place()':>10}{'MiB':>7}{'gap':>9}{peer:>7}  digest")


def calibrate() -> float:
    """Return the CPU seconds of a fixed loop, with which the times of two machines can be
    compared.
    """
    taken = []
    for _ in range(3):
        start, total = time.process_time(), 0
        for number in range(3_000_000):
            total += number * number % 7
        taken.append(time.process_time() - start)
    return min(taken)


def main() -> None:
    from autoscaler_instances import PROFILES

    print(
        f"calibration: 3,000,000 rounds of a loop take {calibrate():.2f} s of CPU on this machine"
    )
    head("shapes × pools × pods, allowed gap", "CA")
    seconds: dict[int, float] = {}
    mib: list[float] = []
    for (shapes, pools, pods, gap), aim in CASES.items():
        found = run(shapes, pools, pods, gap)
        print_row(
            f"{shapes} × {pools} × {pods:,}, {gap:.1%}",
            found,
            aim,
            f"pack {shapes} {pools} {pods} {SEED}",
        )
        mib.append(float(found["mib"]))
        if (shapes, pools) == FLAT and not gap:
            seconds[pods] = float(found["seconds"])
    head("Karpenter: types × pods", "rule")
    for (pods, types), aim in KARPENTER.items():
        found = run("karpenter", pods, types)
        print_row(f"{types} × {pods:,}", found, aim, f"karpenter {pods} {types}")
        mib.append(float(found["mib"]))
    head("Cluster Autoscaler: one node group", "CA")
    for name in ("equal", *PROFILES):
        title, instance = (
            (f"{EQUAL:,} equal pods", f"equal {EQUAL}")
            if name == "equal"
            else (name, f"profile {name}")
        )
        print_row(title, run("profile", name), AIM_OF_ONE_POOL, instance)
    print(
        "CA, rule: cost with the other autoscaler's rule (re-implemented) relative to the cost "
        "of sizing"
    )
    ratio = seconds[max(seconds)] / seconds[min(seconds)]
    print(f"from a thousand to a billion pods: {ratio:.2f} times the time, aim {MOST_RATIO}")
    print(f"maximum memory: {max(mib):.0f} MiB, aim {MOST_MIB}")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["karpenter", pods, types]:
            print(json.dumps(measure_karpenter(int(pods), int(types))))
        case ["profile", name]:
            print(json.dumps(measure_profile(name)))
        case [shapes, pools, pods, *gap]:
            print(
                json.dumps(
                    measure_packed(
                        int(shapes), int(pools), int(pods), float(gap[0]) if gap else 0.0
                    )
                )
            )
        case _:
            main()
