"""`suggest` for 5 to 80 workloads, with all machine types of a region: CPU time, gap, and fleets.

`gap` is the maximum savings of another fleet whose pods are known to fit. `unknown` is the same
with the best values for unknown facts. `python tests/bench/bench_suggest_platforms.py [PLATFORMS
[FIRST]]`. Aims: 10 s of CPU time, and a gap of 5%.
"""

from __future__ import annotations

import sys
import time
from itertools import islice
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from platforms import Platform, platforms

from dra_planner.plan.suggestion.suggest import suggest_fleets
from dra_planner.plan.suggestion.suggestions import SuggestRequest
from dra_planner.sources import Source

PLATFORMS = 9


def measure(given: Platform) -> None:
    """Print the suggestion for the workloads of a platform."""
    start = time.process_time()
    found = suggest_fleets(
        SuggestRequest(
            sources=(Source("workloads.yaml", given.manifests),),
            cloud=given.cloud,
            region=given.fleet["region"],
            kubernetes=given.fleet["kubernetes"],
        )
    )
    seconds = time.process_time() - start
    fleets = () if found.best is None else (found.best, *found.others)
    result = ", ".join(
        [
            *(f"{len(each.machines)} types {each.hourly_usd:.2f}" for each in fleets),
            *(f"{len(each.machines)} types at least {each.bound_usd:.2f}" for each in found.packed),
        ]
    )
    print(
        f"{given.name:>16}{len(found.plan.workloads):4} workloads{given.pods:5} pods"
        f"{seconds:7.1f} s  gap {float(found.gap):6.1%}  unknown {float(found.gap_of_unknown):6.1%}"
        f"  {result or found.plan.verdict}",
        flush=True,
    )


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else PLATFORMS
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    for each in islice(platforms(count), first, None):
        measure(each)


if __name__ == "__main__":
    main()
