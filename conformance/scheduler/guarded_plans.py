"""Rehearse guided plans of generated platforms on the real scheduler, in three orders each.

    python conformance/scheduler/guarded_plans.py --minor 36 --count 60   guards as
                                                                          MutatingAdmissionPolicies
    python conformance/scheduler/guarded_plans.py --minor 34 --count 20   guards as patches of the
                                                                          manifests

The platforms are from `tests/bench/platforms.py`. Workloads are applied in document order,
reversed, and shuffled, each time all at once. No pod may be pending, and at least 99% of the pods
should be in the pools that the plan names. The exit status is 1 if a pod is pending.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from itertools import islice
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tests/bench"))

from platforms import Platform, platforms

from dra_planner.fleet import read_fleet
from dra_planner.plan import Plan, PlanRequest, make_plan
from dra_planner.sources import Source
from dra_sandbox.control_plane import Settings, control_plane
from dra_sandbox.rehearsal import Comparison, RehearsalRequest, WorkloadOrder, rehearse_in_turn
from dra_sandbox.rehearsal.cluster import planned_cluster
from dra_sandbox.tools.kubernetes import Binaries, find_binaries

_LONGEST_SECONDS = 1200


def main() -> int:
    """Rehearse the platforms. Return 1 if a pod is pending."""
    given = _arguments()
    binaries, total = find_binaries(given.minor, given.binaries), Counter[str]()
    for each in islice(platforms(given.count), given.first, None):
        found = _rehearse(each, given.minor, binaries)
        total += found
        print(f"{each.name:>16}  {_sentence(found)}", flush=True)
    print(
        f"Kubernetes {binaries.version}, {given.count - given.first} platforms: {_sentence(total)}"
    )
    return int(bool(total["pending"]))


def _rehearse(given: Platform, minor: int, binaries: Binaries) -> Counter[str]:
    """Return the number of pods that were placed, that were pending, and that were placed in the
    pools that the plan names, over all orders.
    """
    fleet = read_fleet({**given.fleet, "placement": "guided", "kubernetes": f"1.{minor}"})
    sources = (Source("workloads.yaml", given.manifests),)
    plan = make_plan(PlanRequest(sources=sources, fleet=fleet))
    orders = (WorkloadOrder(), WorkloadOrder("reversed"), WorkloadOrder("random", given.seed))
    requests = [
        RehearsalRequest(plan=plan, sources=sources, order=order, within_seconds=_LONGEST_SECONDS)
        for order in orders
    ]
    found = Counter[str]()
    with control_plane(Settings(minor), binaries, within_seconds=_LONGEST_SECONDS) as plane:
        for comparison in rehearse_in_turn(plane, requests):
            found += _counts(plan, comparison)
    return found


def _counts(plan: Plan, comparison: Comparison) -> Counter[str]:
    cluster, found = planned_cluster(plan), Counter[str]()
    planned = {each.workload: Counter(dict(each.placements)) for each in plan.workloads}
    for row in comparison.rows:
        pools = Counter(cluster.pool_of(pod.node) for pod in row.outcome.pods if pod.node)
        found["placed"] += pools.total()
        found["pending"] += row.pending
        found["as planned"] += (pools & planned[row.outcome.workload]).total()
    found["rehearsals"] += 1
    return found


def _sentence(found: Counter[str]) -> str:
    pods = found["placed"] + found["pending"]
    return (
        f"{found['rehearsals']} rehearsals, {found['placed']} of {pods} pods placed, "
        f"{found['pending']} pending, "
        f"{found['as planned']} in the planned pools"
    )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--minor", type=int, default=36, help="minor version of Kubernetes [default: 36]"
    )
    parser.add_argument(
        "--count", type=int, default=60, help="platforms, counted from the first [default: 60]"
    )
    parser.add_argument("--first", type=int, default=0, help="platforms to skip [default: 0]")
    parser.add_argument("--binaries", type=Path, help="folder with the control plane's programs")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
