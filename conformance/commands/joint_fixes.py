"""Count what plans of the corpora that lack capacity offer: a change for all workloads, fixes of
single workloads, or nothing.

    python conformance/commands/joint_fixes.py      exits 1 if a change that a plan offers doesn't
                                                    make it fit

The search judges a change for all workloads before it offers the change. This script reads that
judgement, and doesn't plan again. Plans that something else than capacity stops (objects that the
API server rejects, other schedulers, quotas) have fixes that `tests/fixes` applies one by one.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tests/fixes"))
sys.path.insert(0, str(Path(__file__).parents[2] / "tests/command/truth"))

from corpora import Input, inputs  # of the tests
from truth_objects import fleet

from dra_planner.errors import PlannerError
from dra_planner.fleet import read_fleet
from dra_planner.plan import Plan, PlanRequest, make_plan
from dra_planner.sources import Source


def main() -> int:
    """Print how the plans end; return 1 if an offered change doesn't make its plan fit."""
    counts: Counter[str] = Counter()
    wrong: list[str] = []
    for given in inputs():
        if given.observed:
            continue  # a cluster that runs has no fleet to change
        try:
            plan = _planned(given)
        except PlannerError:
            counts["input that is wrong"] += 1
            continue
        ending = _ending(plan)
        counts[ending] += 1
        if ending.startswith("!"):
            wrong.append(f"{given.name}: {ending}")
        if ending == _NONE:
            print(f"  no change: {given.name}: {_why(plan)}")
    for ending, count in counts.most_common():
        print(f"{count:5} {ending}")
    print("\n".join(wrong), file=sys.stderr)
    return int(bool(wrong))


_NONE = "lack capacity, and no single change of fleet and pods was found"


def _planned(given: Input) -> Plan:
    source = Source("manifests.yaml", given.manifests)
    return make_plan(PlanRequest(sources=(source,), fleet=read_fleet(given.on or fleet())))


def _ending(plan: Plan) -> str:
    if plan.verdict == "fits":
        return "fit"
    if plan.joint_fix is not None:
        fits = plan.joint_fix.judgement.sizing.verdict == "fits"
        return "fit after the joint fix" if fits else "! the joint fix doesn't fit"
    if any(each.severity == "error" for each in plan.diagnostics):
        return "stopped by a rejected object or an impossible fleet"
    if plan.judgement.demand.blocked or any(each.verdict != "fits" for each in plan.blockers):
        return "stopped by something else than capacity"
    unfit = [size for size in plan.judgement.sizing.workloads if size.verdict != "fits"]
    if any(reason.fix for size in unfit for reason in size.reasons) or plan.judgement.fixes:
        return "have fixes of single workloads" if len(unfit) == 1 else _NONE
    return _NONE


def _why(plan: Plan) -> str:
    unfit = [size for size in plan.judgement.sizing.workloads if size.verdict != "fits"]
    codes = sorted({reason.code for size in unfit for reason in size.reasons})
    return f"{len(unfit)} workloads, {', '.join(codes)}"


if __name__ == "__main__":
    sys.exit(main())
