"""Generated platforms planned with and without guards: verdicts, prices as multiples of the bound,
CPU time.

`python tests/bench/bench_placement.py [PLATFORMS] [FIRST]`; the benchmark of record takes 120
platforms. Aims: 95% of the verdicts are decisive; each plan takes 10 s; the guided price is at most
1.05 times the bound in the median and 1.15 times at the 95th percentile. The run fails if a guided
plan costs more than the plan without guards. The bound applies to every fleet. `known` is relative
to the bound for known facts about the nodes, because plans use only known facts (for example, the
exact memory of nodes is unknown).
"""

from __future__ import annotations

import statistics
import sys
import time
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parent))

from platforms import Platform, platforms

from dra_planner.fleet import read_fleet
from dra_planner.plan import Plan, PlanRequest, make_plan
from dra_planner.plan.judgement.system_pods import set_aside
from dra_planner.sizing import Sizer
from dra_planner.sources import Source

PLATFORMS = 9


class Result(NamedTuple):
    """The results for one platform: the guided plan, and the plan without guards that it contains,
    with prices as multiples of the bound.
    """

    name: str
    verdict: str
    guided: float | None
    free_verdict: str
    free: float | None
    known: float | None
    seconds: float


def known_bound(plan: Plan) -> Decimal | None:
    """Return the lowest price of a fleet whose pods are known to fit."""
    free = plan.judgement if plan.guarded is None else plan.guarded.free
    on_gpus, _ = set_aside(free.demand, free.offers)
    sizer = Sizer.of(on_gpus, free.offers, free.classes, free.features, known_only=True)
    return sizer.size(free.level).hourly_bound


def measure(given: Platform) -> Result:
    """Return the results of a guided plan for a platform."""
    fleet = read_fleet({**given.fleet, "placement": "guided"})
    start = time.process_time()
    plan = make_plan(PlanRequest(sources=(Source("workloads.yaml", given.manifests),), fleet=fleet))
    seconds = time.process_time() - start
    price = (
        float(plan.cost.hourly_usd / plan.cost.bound_usd)
        if plan.cost and plan.verdict == "fits"
        else None
    )
    least = known_bound(plan)
    known = None if price is None or not least else float(plan.cost.hourly_usd / least)
    verdict, free = free_of(plan)
    kinds = " ".join(plan.guards.kinds) or "none"
    print(
        f"{given.name:>16}{given.pods:5}{len(plan.workloads):4}  "
        f"{plan.verdict:<12}{multiple(price):>7}  known {multiple(known):>5}"
        f"  free {verdict:<12}{multiple(free):>7}{seconds:6.1f} s  {kinds}",
        flush=True,
    )
    return Result(given.name, plan.verdict, price, verdict, free, known, seconds)


def free_of(plan: Plan) -> tuple[str, float | None]:
    """Return the verdict and the price without guards."""
    if plan.guarded is None:
        price = (
            float(plan.cost.hourly_usd / plan.cost.bound_usd)
            if plan.cost and plan.verdict == "fits"
            else None
        )
        return plan.verdict, price
    usd = plan.guarded.free_hourly_usd
    bound = plan.cost.bound_usd if plan.cost else None
    return plan.guarded.free.sizing.verdict, float(usd / bound) if usd and bound else None


def multiple(price: float | None) -> str:
    return "–" if price is None else f"{price:.3f}"


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else PLATFORMS
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    found = [measure(each) for each in islice(platforms(count), first, None)]
    decisive = [each for each in found if each.verdict != "cannot-tell"]
    free = [each for each in found if each.free_verdict != "cannot-tell"]
    prices = [each.guided for each in found if each.guided is not None]
    dearer = [each.name for each in found if each.guided and each.free and each.guided > each.free]
    print(
        f"plans with a definite verdict: {len(decisive)} of {len(found)} with guards, "
        f"{len(free)} of {len(found)} without guards"
    )
    if prices:
        print(
            f"price with guards: median {statistics.median(prices):.3f}, p95 "
            f"{percentile(prices, 0.95):.3f}"
        )
        known = [each.known for each in found if each.known is not None]
        print(
            f"  relative to the bound on known facts: median {statistics.median(known):.3f}, p95 "
            f"{percentile(known, 0.95):.3f}"
        )
    print(
        f"CPU: median {statistics.median([each.seconds for each in found]):.1f} s, maximum "
        f"{max(each.seconds for each in found):.1f} s; above 10 s: "
        f"{sum(each.seconds > 10 for each in found)}"
    )
    print(f"plans that cost more with guards than without: {', '.join(dearer) or 'none'}")
    assert not dearer


if __name__ == "__main__":
    main()
