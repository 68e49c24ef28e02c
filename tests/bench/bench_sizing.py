"""Sizing: CPU seconds, calls of the allocator, peak memory, and the gap between packing and bound.

Each instance runs in a process of its own. Aims stand beside what is measured; digests of the instances are pinned.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

CASES = {  # shapes, pools, pods: CPU seconds aimed at, and how the instance's digest begins
    (10, 5, 10**3): (0.1, "7723d8a2faae4523"),
    (10, 5, 10**6): (0.1, "e8cc5e09520e2d0e"),
    (100, 30, 10**3): (0.5, "3d913ce82e98cb3a"),
    (100, 30, 10**4): (0.5, "ce1a62a2092a2093"),
    (100, 30, 10**9): (0.5, "cd162b25eb1812d7"),
    (500, 60, 10**4): (5.0, "aa8eb886eb9ab687"),
}
SEED = 1


def measure(shapes: int, pools: int, pods: int, seed: int) -> dict[str, float | str]:
    """Size one instance; the time is that of sizing, imports and the instance's making aside."""
    from pack_instances import CLASSES, MINOR, digest, pack

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
    demand, offers = pack(shapes, pools, pods, seed)
    start = time.process_time()
    sizing = Sizer.of(demand, offers, CLASSES, features_of(MINOR)).size("steady")
    spent = time.process_time() - start
    assert sizing.hourly_plan is not None
    assert sizing.hourly_bound is not None
    return {
        "seconds": spent,
        "calls": calls,
        "mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "gap": float(sizing.hourly_plan / sizing.hourly_bound) - 1,
        "digest": digest(demand, offers)[:16],
    }


def main() -> None:
    heads = f"{'shapes × pools × pods':>24}{'CPU s':>9}{'aim':>7}{'place()':>10}{'MiB':>7}{'gap':>9}  digest"
    print(heads)
    for (shapes, pools, pods), (aim, frozen) in CASES.items():
        arguments = [sys.executable, __file__, *map(str, (shapes, pools, pods, SEED))]
        found = json.loads(subprocess.run(arguments, check=True, capture_output=True, text=True).stdout)
        print(
            f"{f'{shapes} × {pools} × {pods:,}':>24}{found['seconds']:9.2f}{aim:7.1f}{found['calls']:10,}"
            f"{found['mib']:7.0f}{found['gap']:9.2%}  {found['digest']}"
            f"{'' if found['digest'] == frozen else ' IS ANOTHER INSTANCE THAN ' + frozen}",
            flush=True,
        )


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(measure(*map(int, sys.argv[1:]))))
    else:
        main()
