"""Count plans that fit, but leave pods pending in pod arrival orders that the plan didn't try.

    python conformance/scheduler/fresh_orders.py --minor 36 --count 300  fleets of run.py
    python conformance/scheduler/fresh_orders.py --rules --count 100     fleets of run.py --rules

Each plan is simulated in 40 other orders: workloads one after another, shuffled, or all at once,
with random tie-breaking between nodes. Each order is tried twice: pods become ready and end
immediately, or at random moments. No control plane runs, so this program can try many more plans
than `run.py` can rehearse. It prints the verdicts, the seeds of plans whose pods stay pending, and
the price and CPU time of all plans together.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from decimal import Decimal
from pathlib import Path

import yaml

sys.path.insert(0, str(Path(__file__).parents[2] / "tests/planner/plan"))

from random_instances import instance

from dra_planner.errors import PlannerError
from dra_planner.fleet import read_fleet
from dra_planner.plan import Plan, PlanRequest, make_plan
from dra_planner.releases import RELEASES, features_of
from dra_planner.simulation import ArrivalOrder, Simulator, predicted_nodes
from dra_planner.sources import Source
from generate import make_case

_FRESH = (
    *(ArrivalOrder("shuffled", seed) for seed in range(1_000, 1_024)),
    *(ArrivalOrder("random", seed) for seed in range(1_000, 1_008)),
    *(ArrivalOrder("at-once", seed) for seed in range(1_000, 1_008)),
)


def main() -> int:
    """Plan the fleets and try the orders. Return 1 if a plan that fits leaves pods pending."""
    given = _arguments()
    verdicts, broken, usd, started = Counter[str](), list[str](), Decimal(0), time.process_time()
    seconds = 0.0
    for seed in range(given.seed, given.seed + given.count):
        before = time.process_time()
        plan = _plan(seed, given.minor, rules=given.rules)
        seconds += time.process_time() - before
        if plan is None:
            continue
        verdicts[plan.running] += 1
        if plan.running != "fits":
            continue
        usd += Decimal(0) if plan.cost is None else plan.cost.hourly_usd
        simulator = _simulator(plan)
        failed = [
            each
            for lags in (False, True)
            for each in _FRESH
            if not simulator.run(each, lags=lags).places_everything
        ]
        if failed:
            broken.append(
                f"seed {seed}: {len(failed)} of {2 * len(_FRESH)} runs, such as {failed[0]}"
            )
    print(", ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items())))
    print(f"{len(broken)} plans that fit leave pods pending in other orders", *broken, sep="\n  ")
    total = time.process_time() - started
    print(f"USD {usd} per hour for all that fit; {seconds:.0f} s to plan, {total:.0f} s in all")
    return int(bool(broken))


def _plan(seed: int, minor: int, *, rules: bool) -> Plan | None:
    """Return the plan of a case, or None if the planner rejects its fleet."""
    if rules:
        made = instance(seed)
        fleet = {**made.fleet, "kubernetes": RELEASES[minor].version}
        objects = list(made.objects)
    else:
        case = make_case(seed, features_of(minor))
        fleet, objects = case.fleet, case.workloads
    sources = (Source("workloads.yaml", yaml.safe_dump_all(objects, sort_keys=False)),)
    try:
        return make_plan(PlanRequest(sources=sources, fleet=read_fleet(fleet)))
    except PlannerError:
        return None


def _simulator(plan: Plan) -> Simulator:
    judgement = plan.judgement
    counts = {pool.name: pool.nodes.desired for pool in plan.pools}
    nodes = predicted_nodes(judgement.offers, counts)
    return Simulator.of(plan.demand, nodes, judgement.classes, judgement.features)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minor", type=int, default=36, choices=tuple(RELEASES))
    parser.add_argument("--count", type=int, default=300, help="fleets [default: 300]")
    parser.add_argument("--seed", type=int, default=1, help="first seed [default: 1]")
    parser.add_argument("--rules", action="store_true", help="fleets of the tests of whole plans")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
