"""Sizing: CPU seconds, calls of the allocator, peak memory, and the gap between packing and bound.

Each instance runs in a process of its own. Aims stand beside what is measured, whether they are met or not; digests of
the instances are pinned. `python tests/bench/bench_sizing.py SHAPES POOLS PODS` measures one of the instances that are
packed, `… karpenter PODS TYPES` one of Karpenter's.
"""

from __future__ import annotations

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

CASES = {  # shapes, pools, pods: CPU seconds aimed at, and how the instance's digest begins
    (10, 5, 10**3): (0.1, "7723d8a2faae4523"),
    (10, 5, 10**6): (0.1, "e8cc5e09520e2d0e"),
    (100, 30, 10**3): (0.5, "3d913ce82e98cb3a"),
    (100, 30, 10**4): (0.5, "ce1a62a2092a2093"),
    (100, 30, 10**9): (0.5, "cd162b25eb1812d7"),
    (500, 60, 10**4): (5.0, "aa8eb886eb9ab687"),
}
KARPENTER = {  # pods, machine types: the same
    (600, 40): (1.0, "99fac4f73297831a"),
    (5000, 400): (1.0, "347bd5d585a5cf05"),
}
FLAT = (100, 30)  # shapes and pools of which the time must not depend on replicas
MOST_RATIO = 1.1
MOST_MIB = 300
SEED = 1
GAP = 0.02  # Karpenter's types: so much over the bound is left alone


def measure_packed(shapes: int, pools: int, pods: int) -> dict[str, float | str]:
    """Size one instance of the benchmark."""
    from pack_instances import CLASSES, digest, pack

    demand, offers = pack(shapes, pools, pods, SEED)
    return {**measure(demand, offers, CLASSES, 0.0), "digest": digest(demand, offers)[:16]}


def measure_karpenter(pods: int, types: int) -> dict[str, float | str]:
    """Size Karpenter's pods on its machine types; `peer` is what its rule pays for what sizing pays 1 for."""
    from karpenter_instances import draw_pods, karpenter, karpenter_rule
    from pack_instances import digest

    demand, offers = karpenter(pods, types)
    found = measure(demand, offers, {}, GAP)
    peer = float(karpenter_rule(draw_pods(pods), types)) / float(found["usd"])
    return {**found, "peer": peer, "digest": digest(demand, offers)[:16]}


def measure(
    demand: Demand, offers: Sequence[Offer], classes: Mapping[str, DeviceClass], gap: float
) -> dict[str, float | str]:
    """Size; the time is that of sizing, imports and the instance's making aside."""
    from pack_instances import MINOR

    from dra_planner.releases import features_of
    from dra_planner.sizing import Sizer, filling
    from dra_planner.sizing.proof import load_solver

    import_module("dra_planner.cel.compilation")
    load_solver()  # imports are no part of the time

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


def run(*arguments: str | int) -> dict[str, float | str]:
    """Return what a process of its own measures."""
    command = [sys.executable, __file__, *map(str, arguments)]
    found: dict[str, float | str] = json.loads(
        subprocess.run(command, check=True, capture_output=True, text=True).stdout
    )
    return found


def tell(name: str, found: Mapping[str, float | str], aim: float, frozen: str) -> None:
    peer = f"  {found['peer']:.2f} × our cost by Karpenter's rule" if "peer" in found else ""
    other = "" if found["digest"] == frozen else f" IS ANOTHER INSTANCE THAN {frozen}"
    print(
        f"{name:>26}{found['seconds']:9.2f}{aim:7.1f}{found['calls']:10,}{found['mib']:7.0f}{found['gap']:9.2%}"
        f"  {found['digest']}{other}{peer}",
        flush=True,
    )


def main() -> None:
    print(f"{'shapes × pools × pods':>26}{'CPU s':>9}{'aim':>7}{'place()':>10}{'MiB':>7}{'gap':>9}  digest")
    seconds: list[float] = []
    mib: list[float] = []
    for (shapes, pools, pods), (aim, frozen) in CASES.items():
        found = run(shapes, pools, pods)
        tell(f"{shapes} × {pools} × {pods:,}", found, aim, frozen)
        mib.append(float(found["mib"]))
        if (shapes, pools) == FLAT:
            seconds.append(float(found["seconds"]))
    print(f"{'Karpenter: types × pods':>26}")
    for (pods, types), (aim, frozen) in KARPENTER.items():
        found = run("karpenter", pods, types)
        tell(f"{types} × {pods:,}", found, aim, frozen)
        mib.append(float(found["mib"]))
    ratio = seconds[-1] / seconds[0]
    print(f"from a thousand to a thousand million pods: {ratio:.2f} times the time, aim {MOST_RATIO}")
    print(f"most memory: {max(mib):.0f} MiB, aim {MOST_MIB}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["karpenter"]:
        print(json.dumps(measure_karpenter(*map(int, sys.argv[2:]))))
    elif len(sys.argv) > 1:
        print(json.dumps(measure_packed(*map(int, sys.argv[1:]))))
    else:
        main()
