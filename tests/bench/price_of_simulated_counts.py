"""The additional cost of building the simulated counts instead of the packing on random fleets,
without and with each kind of fix.

    python tests/bench/price_of_simulated_counts.py [FLEETS] [FIRST SEED]

The output covers the fleets whose packing places all pods. It contains the share of fleets whose
counts differ, and the median and 95th percentile of the price relative to the packing. The same
numbers follow with the best taint, the best affinity, or MostAllocated. If a fix doesn't help, the
simulated counts apply. For the more expensive fleets, the output states how many need the
additional nodes, because all cheaper node counts leave pods pending in some simulated order. The
output contains no times, and is the same in every run.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct, field

sys.path.insert(0, str(Path(__file__).parents[1] / "planner" / "plan"))

from random_instances import instance
from replays import planned

from dra_planner.plan import Plan

KINDS = ("taint", "affinity", "profile")


class Prices(Struct):
    """For each fleet, the price of the simulated counts relative to the packing, without and with
    each kind of fix.
    """

    simulated: list[float] = []
    fixed: dict[str, list[float]] = field(default_factory=lambda: {kind: [] for kind in KINDS})
    best: list[float] = []
    not_found: int = 0
    dearer: int = 0
    needed: int = 0

    def add(self, plan: Plan) -> None:
        found, packing = plan.judgement.simulated, {pool.name: pool.packing for pool in plan.pools}
        if found is None or not any(packing.values()):
            return
        if found.counts is None:
            self.not_found += 1
            return
        base = price(plan, packing)
        own = price(plan, found.counts) / base
        self.simulated.append(own)
        self.dearer += own > 1
        self.needed += own > 1 and found.cheapest
        for kind in KINDS:
            tried = [
                price(plan, fix.counts) / base for fix in plan.judgement.fixes if fix.kind == kind
            ]
            self.fixed[kind].append(min([own, *tried]))
        self.best.append(min(self.fixed[kind][-1] for kind in KINDS))


def price(plan: Plan, counts: Mapping[str, int]) -> float:
    return float(sum(nodes * (plan.pool(name).hourly_usd or 0) for name, nodes in counts.items()))


def percentile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def line(name: str, values: list[float]) -> str:
    dearer = sum(value > 1 for value in values) / len(values)
    return f"{name:34}{dearer:8.1%}{percentile(values, 0.5):9.2f}{percentile(values, 0.95):9.2f}{max(values):9.2f}"


def main(fleets: int, since: int) -> None:
    prices = Prices()
    for seed in range(since, since + fleets):
        prices.add(planned(instance(seed, rules=False)))
        if sys.stderr.isatty():
            print(f"\r{seed - since + 1}/{fleets}", end="", file=sys.stderr)
    print(
        f"{fleets} random fleets: {len(prices.simulated)} with counts that place all pods, "
        f"{prices.not_found} whose packing fits but whose maximums allow no such counts"
    )
    print(f"{'price relative to the packing':34}{'above 1':>8}{'median':>9}{'p95':>9}{'max':>9}")
    print(line("simulated counts", prices.simulated))
    for kind, name in zip(KINDS, ("a taint", "affinity to pools", "MostAllocated"), strict=True):
        print(line(f"with {name}", prices.fixed[kind]))
    print(line("with the cheapest fix", prices.best))
    print(
        f"for {prices.needed} of the {prices.dearer} more expensive ones, all cheaper counts were "
        "tried, and none of them is enough"
    )


if __name__ == "__main__":
    main(
        int(sys.argv[1]) if len(sys.argv) > 1 else 200, int(sys.argv[2]) if len(sys.argv) > 2 else 0
    )
