"""Rehearse random fleets and workloads on the real scheduler, in several orders each, and fail on
unexplained differences.

    python conformance/scheduler/run.py --minor 36 --count 200      seeds starting at --seed
    python conformance/scheduler/run.py --minor 36 --rules          the instances of the tests of
                                                                    whole plans
    python conformance/scheduler/run.py --minor 36 --drivers        fleets over all drivers
    python conformance/scheduler/run.py --minor 36 --admission      RuntimeClasses, priorities,
                                                                    missing references
    python conformance/scheduler/run.py --minor 36 --record FOLDER  write every case and its result

Each case is a fleet on one cloud, planned as `pulumi-dra rehearse` plans it. Its workloads arrive
one by one in document order, reversed, and shuffled (with --orders, in fewer orders). Plan,
simulation, and outcome are compared for each workload. A plan that fits must not leave a pod
pending.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import yaml
from msgspec import Struct, field
from msgspec.structs import replace

from dra_planner.errors import PlannerError
from dra_planner.fleet import read_fleet
from dra_planner.plan import Plan, PlanRequest, make_plan
from dra_planner.releases import RELEASES, features_of
from dra_planner.sources import Source
from dra_sandbox.control_plane import ApiRejection, ControlPlaneError, Settings, control_plane
from dra_sandbox.rehearsal import RehearsalRequest, WorkloadOrder, rehearse_in_turn
from dra_sandbox.tools.kubernetes import Binaries, find_binaries

sys.path.insert(0, str(Path(__file__).parents[2] / "tests/planner/plan"))

from random_instances import instance  # from the folder of the tests that use these instances

from admission_cases import make_admission_case
from driver_cases import make_driver_case
from generate import Case, make_case
from records import Json, record_of

# A case is repeated once, because a control plane can fail if it gets too little CPU time.
_TRIES = 2


class Table(Struct):
    """Counts the comparisons, and the reasons for differences between plan and outcome, and between
    simulation and outcome.
    """

    cases: Counter[str] = field(default_factory=Counter[str])
    skipped: Counter[str] = field(default_factory=Counter[str])
    rehearsals: int = 0
    workloads: int = 0
    pods: int = 0
    placed: int = 0
    verdicts: Counter[str] = field(default_factory=Counter[str])
    plan: Counter[str] = field(default_factory=Counter[str])
    simulation: Counter[str] = field(default_factory=Counter[str])
    # fleets with the verdict *cannot tell*, by the codes of their reasons
    undecided: Counter[str] = field(default_factory=Counter[str])
    unexplained: list[str] = []

    def add(self, record: Json) -> None:
        """Count one case with its rehearsals."""
        self.cases[record["feature"]] += 1
        if record["undecided"]:
            self.undecided[", ".join(record["undecided"])] += 1
        for each in record["rehearsals"]:
            self.rehearsals += 1
            pending = sum(row["pending"] for row in each["outcome"].values())
            self.verdicts[
                f"{record['verdict']}, {'some pods pending' if pending else 'all placed'}"
            ] += 1
            if pending and record["verdict"] == "fits":
                self.unexplained.append(
                    f"seed {record['seed']}, {each['order']}: fits, and {pending} pods are pending"
                )
            for name, row in each["outcome"].items():
                self.workloads += 1
                self.pods += row["placed"] + row["pending"]
                self.placed += row["placed"]
                self.plan[row.get("difference", {}).get("reason", "same")] += 1
                self.simulation[row.get("deviation", {}).get("reason", "same")] += 1
                for found in (row.get("difference"), row.get("deviation")):
                    if found and found["reason"] == "unexplained":
                        where = (
                            f"seed {record['seed']} ({record['feature']}), {each['order']}, {name}"
                        )
                        self.unexplained.append(f"{where}: {found['message']}")

    def lines(self) -> Iterator[str]:
        """Yield the table as Markdown."""
        cases = ", ".join(f"{name} {count}" for name, count in sorted(self.cases.items()))
        yield (
            f"{self.cases.total()} fleets ({cases}), {self.rehearsals} rehearsals, "
            f"{self.workloads} workloads, "
        )
        yield f"{self.placed} of {self.pods} pods placed"
        yield "; ".join(
            f"{count} rehearsals: {verdict}" for verdict, count in sorted(self.verdicts.items())
        )
        if self.undecided:
            yield "cannot tell, by reason: " + "; ".join(
                f"{count} {codes}" for codes, count in self.undecided.most_common()
            )
        if self.skipped:
            yield "left out: " + ", ".join(
                f"{count} {explanation}" for explanation, count in sorted(self.skipped.items())
            )
        yield ""
        yield "| Reason | plan and outcome | simulation and outcome |"
        yield "| --- | --- | --- |"
        for reason in sorted(
            self.plan | self.simulation, key=lambda each: -self.plan[each] - self.simulation[each]
        ):
            yield f"| {reason} | {self.plan[reason]} | {self.simulation[reason]} |"
        yield from ("", *self.unexplained)


def main() -> int:
    """Run the cases. Return 1 if a difference is unexplained."""
    given = _arguments()
    table = Table()
    for minor in given.minor or RELEASES:
        binaries = find_binaries(minor, given.binaries)
        started = time.monotonic()
        with ProcessPoolExecutor(given.parallel, get_context("spawn")) as workers:
            seeds = range(given.seed, given.seed + given.count)
            attempt = partial(_try, given.kind, given.placement, given.orders, minor, binaries)
            for record in workers.map(attempt, seeds):
                if isinstance(record, str):
                    table.skipped[record] += 1
                    continue
                before = len(table.unexplained)
                table.add(record)
                if given.record or len(table.unexplained) > before:
                    _write(given.record or given.failures, record, minor)
                for line in table.unexplained[before:]:
                    print(f"  {line}", flush=True)
        print(f"Kubernetes {binaries.version}: {time.monotonic() - started:.0f} s", flush=True)
    print("\n".join(table.lines()))
    return int(bool(table.unexplained))


def _try(
    kind: str, placement: str, orders: int, minor: int, binaries: Binaries, seed: int
) -> Json | str:
    """Return the record of a case, or the reason why there is none."""
    case = _placed(_case(kind, seed, minor), placement)
    try:
        plan, sources = _plan(case)
    except PlannerError as error:
        return f"rejected as a fleet ({type(error).__name__})"
    if not any(pool.nodes.desired for pool in plan.pools):
        return "without a node"
    requests = [
        RehearsalRequest(
            plan=plan, sources=sources, order=order, one_by_one=True, within_seconds=600
        )
        for order in (
            WorkloadOrder(),
            WorkloadOrder("reversed"),
            WorkloadOrder("random", seed),
        )[:orders]
    ]
    for attempt in range(1, _TRIES + 1):
        try:
            with control_plane(Settings(minor), binaries, within_seconds=600) as plane:
                return record_of(case, list(rehearse_in_turn(plane, requests)))
        except ApiRejection as refused:
            return f"rejected by the API server: {str(refused)[:120]}"
        except ControlPlaneError as error:
            if attempt == _TRIES:
                return f"control plane: {str(error)[:120]}"
    raise AssertionError


def _case(kind: str, seed: int, minor: int) -> Case:
    if kind == "rules":
        return _ruled(seed, minor)
    make = {"drivers": make_driver_case, "admission": make_admission_case}.get(kind, make_case)
    return make(seed, features_of(minor))


def _placed(case: Case, placement: str) -> Case:
    return replace(case, fleet={**case.fleet, "placement": placement})


def _ruled(seed: int, minor: int) -> Case:
    """Return a fleet with multiple zones, and workloads with rules between pods, priorities, and
    quotas, for a minor version.
    """
    made = instance(seed)
    fleet = {**made.fleet, "kubernetes": RELEASES[minor].version}
    return Case(seed, "rules", fleet, list(made.objects))


def _plan(case: Case) -> tuple[Plan, tuple[Source, ...]]:
    sources = (Source("workloads.yaml", yaml.safe_dump_all(case.workloads, sort_keys=False)),)
    return make_plan(PlanRequest(sources=sources, fleet=read_fleet(case.fleet))), sources


def _write(folder: Path, record: Json, minor: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"1.{minor}-{record['seed']}.yaml"
    path.write_text(yaml.safe_dump(record, sort_keys=False, width=120), encoding="utf-8")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--minor", type=int, action="append", choices=tuple(RELEASES), help="can be repeated"
    )
    parser.add_argument(
        "--count", type=int, default=200, help="cases for each minor version; default: %(default)s"
    )
    parser.add_argument("--seed", type=int, default=1, help="first seed; default: %(default)s")
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument(
        "--rules",
        dest="kind",
        action="store_const",
        const="rules",
        default="",
        help="spread, affinity, priorities and quotas",
    )
    kind.add_argument(
        "--drivers",
        dest="kind",
        action="store_const",
        const="drivers",
        help="fleets over all drivers, and claims of one or two of them",
    )
    kind.add_argument(
        "--admission",
        dest="kind",
        action="store_const",
        const="admission",
        help="RuntimeClasses, priorities, other schedulers, and references to missing objects",
    )
    parser.add_argument(
        "--placement", choices=("free", "guided"), default="free", help="placement of the fleets"
    )
    parser.add_argument(
        "--orders", type=int, choices=(1, 2, 3), default=3, help="orders, default: %(default)s"
    )
    parser.add_argument(
        "--parallel",
        type=int,
        default=2,
        help="control planes that run in parallel, default: %(default)s",
    )
    parser.add_argument("--binaries", type=Path, help="folder with the four binaries")
    parser.add_argument(
        "--record", type=Path, metavar="FOLDER", help="folder for the records of all cases"
    )
    parser.add_argument(
        "--failures", type=Path, default=Path("scheduler-failures"), metavar="FOLDER"
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
