"""Apply the changes that plans without enough capacity suggest, and plan again.

    python conformance/commands/joint_fixes.py [PART OF A NAME]

The exit status is 1 if a plan has no change, or doesn't fit after its change.

The change is the joint change for all workloads. For a single workload, it can also be the only fix
of the workload, or the fix of the simulation. `changed_input.py` writes it into manifests and fleet
as a user would. Pods for a device plugin are migrated to claims first, as their findings suggest.
Inputs of `tests/fixes` that lack such a change have a hand-written change, and their tests apply
it. Some plans fail for a different reason than capacity, such as objects that the API server
rejects, or other schedulers. Their fixes address only that reason.
"""

from __future__ import annotations

import sys
from collections import Counter
from functools import partial
from pathlib import Path

from msgspec.structs import replace

sys.path.insert(0, str(Path(__file__).parents[2] / "tests/fixes"))
sys.path.insert(0, str(Path(__file__).parents[2] / "tests/command/truth"))

from changed_input import (
    NotWrittenError,
    changed_fleet,
    changed_text,
    with_replaced_texts,
)
from corpora import Input, inputs  # modules of the tests
from truth_objects import fleet

from dra_planner.errors import PlannerError
from dra_planner.fleet import Fleet, read_fleet
from dra_planner.migration.migrate import migrate
from dra_planner.migration.target_cluster import facts_of_fleet, target_of_fleet
from dra_planner.plan import Plan, PlanRequest, make_plan
from dra_planner.plan.model import MISSING_POOL
from dra_planner.plan.planning import plan_manifests
from dra_planner.plan.suggestion.joint_fix import find_joint_fix
from dra_planner.sources import Source

_BY_HAND = "lack capacity; fit or lose the finding after the change of tests/fixes"
_OTHERWISE = "stopped by a reason other than capacity"
_UNKNOWN = "can't tell, because a fact about the input is unknown"
_NO_MACHINE = "lack capacity, and report that no machine type of the region fits"
_NO_PLUGIN = "request a resource of a device plugin that can't be migrated, and report it"
_NONE = "! lack capacity, and have no suggested change"
_NOT_WRITTEN = "! have a change that isn't written into the input"


def main() -> int:
    """Print the results of the plans. Return 1 if a plan doesn't fit after its change."""
    counts: Counter[str] = Counter()
    part = sys.argv[1] if len(sys.argv) > 1 else ""
    for each in inputs():
        if each.observed or part not in each.name:  # without a fleet, there is no change
            continue
        ending, reason = _ending(each)
        counts[ending] += 1
        if ending.startswith("!") or ending == _UNKNOWN:
            print(f"{ending}: {each.name}: {reason}", flush=True)
    for ending, count in counts.most_common():
        print(f"{count:5} {ending}")
    return int(any(ending.startswith("!") for ending in counts))


def _ending(given: Input) -> tuple[str, str]:
    """Return the result of an input's plan, and the reason."""
    try:
        plan = _planned(given.manifests, read_fleet(given.on or fleet()), with_fixes=True)
    except PlannerError:
        return "have invalid input", ""
    if plan.running == "fits":
        return "fit", ""
    if any(each.severity == "error" for each in plan.diagnostics):
        return "stopped by a rejected object or an impossible fleet", ""
    assert plan.fleet is not None  # always set in a plan without a snapshot
    replan = partial(
        plan_manifests,
        fleet=plan.fleet if plan.guarded is None else plan.guarded.given,
        features=plan.judgement.features,
        level=plan.level,
        steps=0,
        with_fixes=False,
    )
    found = plan.joint_fix or find_joint_fix(plan, plan.fleet, replan)[0]
    if found is None and _is_stopped_otherwise(plan):
        return _OTHERWISE, ""
    if found is not None:
        try:
            text = changed_text(given.manifests, plan, found)
        except NotWrittenError as error:
            return _NOT_WRITTEN, f"{error}: {'; '.join(found.steps)}"
        again = _planned(text, read_fleet(found.fleet.document()))
        kind = "the change for all workloads" if plan.joint_fix else "the only fix"
        return _judged(again, f"fit after {kind}", "; ".join(found.steps))
    if plan.judgement.fixes:
        fixed = changed_fleet(plan, plan.judgement.fixes[0])
        if fixed is not None:
            return _judged(_planned(given.manifests, fixed), "fit after the simulation's fix", "")
    claimed = _migrated(given.manifests, plan.fleet)
    if claimed != given.manifests:
        ending, failure = _ending(replace(given, manifests=claimed))
        return (f"{ending}, with claims" if ending.startswith("fit") else ending), failure
    if given.name.startswith("fixes/") and " before:" in given.name:
        return _BY_HAND, ""
    if plan.verdict == "cannot-tell":
        return _UNKNOWN, _reasons(plan)
    reasons = [reason for size in plan.workloads for reason in size.reasons]
    if any(each.code == MISSING_POOL and not each.fix for each in reasons):
        return _NO_MACHINE, ""
    if any(each.code == "insufficient-resource" for each in reasons):
        return _NO_PLUGIN, ""
    rewritten = with_replaced_texts(
        given.manifests, [pair for each in reasons for pair in each.changes]
    )
    if rewritten != given.manifests:
        ending, failure = _ending(replace(given, manifests=rewritten))
        return (f"{ending}, with its selector" if ending.startswith("fit") else ending), failure
    return _NONE, _reasons(plan)


def _is_stopped_otherwise(plan: Plan) -> bool:
    return bool(plan.demand.blocked) or any(each.verdict != "fits" for each in plan.blockers)


def _planned(manifests: str, on: Fleet, *, with_fixes: bool = False) -> Plan:
    source = Source("manifests.yaml", manifests)
    return make_plan(PlanRequest(sources=(source,), fleet=on, with_fixes=with_fixes))


def _migrated(manifests: str, on: Fleet) -> str:
    source = Source("manifests.yaml", manifests)
    target = target_of_fleet(on, "", frozenset())
    (file,) = migrate((source,), target, facts_of_fleet(on)).files
    return file.text


def _judged(again: Plan, ending: str, steps: str) -> tuple[str, str]:
    if again.verdict == "fits":
        return ending, ""
    return f"! don't {ending}", f"{steps}: {_reasons(again)}"


def _reasons(plan: Plan) -> str:
    reasons = [reason for size in plan.workloads for reason in size.reasons]
    lines = [f"{each.code}: {each.message} -> {each.fix or 'no fix'}" for each in reasons]
    lines += [each.message for each in plan.findings if each.severity == "error"]
    return "; ".join(dict.fromkeys(lines))


if __name__ == "__main__":
    sys.exit(main())
