"""`suggest` for 20 sets of workloads, compared with every number of every machine in the region.

`optimum` is the price of the cheapest nodes that hold all pods. A separate search over the GPUs,
CPU, memory, and pods of each machine finds it. A suggested fleet places all pods in every simulated
pod arrival order, so it can cost more. In that case, the benchmark plans and simulates every fleet
between the two prices, with its pools in up to 24 orders, and `cheaper` is the number of these
fleets that run all pods. `python tests/bench/bench_suggest.py [SETS [FIRST]]`.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from dra_planner.plan.suggestion.suggest import suggest_fleets
from dra_planner.plan.suggestion.suggestions import SuggestRequest

sys.path.insert(0, str(Path(__file__).parent))

from suggest_instances import WHERE, draw, fleets_below, least_price, machines_for, runs

SETS = 20
AIM = 5.0  # CPU seconds of one set


def main(sets: int, first: int = 0) -> None:
    equal = packed = cheapest = 0
    most = 0.0
    for seed in range(first, first + sets):
        work, (cloud, region) = draw(seed), WHERE[seed % len(WHERE)]
        start = time.process_time()
        request = SuggestRequest(
            sources=tuple(each.source for each in work),
            cloud=cloud,
            region=region,
            kubernetes="1.34",
        )
        found = suggest_fleets(request)
        spent = time.process_time() - start
        most = max(most, spent)
        machines = machines_for(found.plan.offers, work)
        wanted = tuple(each.pods for each in work)
        best, result = least_price(machines)(wanted), "nothing runs them"
        if found.best is not None:
            usd, document = found.best.hourly_usd, found.best.document
            between = list(fleets_below(machines, wanted, usd))
            cheaper = sum(runs(document, nodes, work) for nodes in between)
            equal += usd == best
            cheapest += not cheaper
            result = f"suggested {usd}, {cheaper} of {len(between)} cheaper fleets run everything"
        else:
            equal, cheapest = equal + (best is None), cheapest + (best is None)
        packing = found.plan.judgement.sizing.hourly_plan
        packed += best is None or packing == best
        kinds = " + ".join(
            f"{each.pods}×({each.gpus} GPU, {each.cpu} cpu, {each.gib} GiB)" for each in work
        )
        print(
            f"{cloud:>4} {spent:6.2f} s  {result}, packing {packing}, optimum {best}: {kinds}",
            flush=True,
        )
    print(
        f"cheapest fleet that runs all pods in {cheapest} of {sets} sets, at most as expensive as "
        f"the optimum of packings in {equal}; packing = optimum in {packed}; maximum {most:.2f} s "
        f"of CPU, aim {AIM}"
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3] or [SETS]))
