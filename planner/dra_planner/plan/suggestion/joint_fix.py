"""One change of fleet and manifests with which all workloads fit, verified before it's reported."""

from __future__ import annotations

from collections.abc import Callable, Set
from typing import Final

from msgspec.structs import replace

from dra_planner.claims.quota import QUOTA_EXCEEDED
from dra_planner.claims.raised_quotas import (
    RaisedQuota,
    find_raised_quotas,
    with_raised_quotas,
    without_limits,
)
from dra_planner.errors import Diagnostic
from dra_planner.fleet import Fleet
from dra_planner.manifests import Manifests
from dra_planner.model import DemandLevel, Reason, WorkloadRef
from dra_planner.plan.judgement.demand_levels import find_levels_beside
from dra_planner.plan.judgement.judgement import Judgement
from dra_planner.plan.model import JointFix, Plan
from dra_planner.plan.pools.built_counts import COUNT_DOES_NOT_DIVIDE
from dra_planner.plan.pools.racks import RACKS_EXCEED_MAXIMUM
from dra_planner.plan.suggestion.joint_search import JointSearch
from dra_planner.plan.suggestion.pool_fixes import (
    raised_pools,
    raises_text,
    with_raises,
    with_reasons,
)

_UNCONFIRMED: Final = ". This is enough for the best packing, but the simulation didn't confirm it"
_RAISED: Final = frozenset({COUNT_DOES_NOT_DIVIDE, RACKS_EXCEED_MAXIMUM})
"""The codes of errors about maximums that the search raises to counts that the cloud can build."""


def with_joint_fix(plan: Plan, replan: Callable[[Manifests], Plan]) -> Plan:
    """Return the plan with one change that removes all obstacles to its workloads, if there is one.

    If the search reaches a limit, the plan gets a note. `replan` sizes the plan's fleet for other
    manifests, without a simulation or fixes. If only one workload doesn't fit, and its own fix is
    that change, the workload keeps its fix. Other workloads whose pools are too small get the
    change as their fix. There is no search if something other than capacity and quotas keeps pods
    from running. Maximums that no plan of the changed fleet confirms are marked.
    """
    judgement, fleet = plan.judgement, plan.fleet
    unfit = {size.workload for size in judgement.sizing.workloads if size.verdict != "fits"}
    if fleet is None or judgement.is_observed or not unfit:
        return plan
    raises = raises_text(judgement)
    leads_on = raises or _is_denied(plan) or _fits_no_pool(judgement, unfit)
    if len(unfit) == 1 and not leads_on:
        return plan
    found, ended_at = find_joint_fix(plan, fleet, replan)
    if found is None:
        plan = _with_raises(plan, f"{raises}{_UNCONFIRMED}")
        notes = (_ended_note(ended_at),) if ended_at else ()
        return replace(plan, diagnostics=(*plan.diagnostics, *notes))
    after = found.fleet
    assert after is not None  # the search changes this fleet
    plan = _without_fixed_racks(plan)
    # workloads on the system pool have their own fix
    of_pools = len(found.steps) - (after.system_pool.count != fleet.system_pool.count)
    is_own = _raised(fleet, after) == {
        pool.name: pool.enough for pool in raised_pools(judgement)
    } and of_pools == len(raised_pools(judgement))
    if not is_own:
        plan = _with_raises(plan, _fix_text(found), found.judgement)
    if len(unfit) == 1 and (is_own or (len(found.steps) == 1 and not _adds_nodes(after, fleet))):
        return plan
    text = raises if is_own else _fix_text(found)
    return replace(plan, joint_fix=replace(found, repeated=text))


def _with_quotas(
    plan: Plan, replan: Callable[[Manifests], Plan]
) -> tuple[Plan, tuple[RaisedQuota, ...]]:
    """Return the plan with quotas that admit all pods and claims, and the raised limits.

    Returns the unchanged plan if other limits don't help.
    """
    manifests = plan.manifests
    if manifests is None or not manifests.quotas or not _is_denied(plan):
        return plan, ()
    unlimited = replan(without_limits(manifests))
    raised = () if _is_denied(unlimited) else find_raised_quotas(manifests, unlimited.demand)
    return (replan(with_raised_quotas(manifests, raised)), raised) if raised else (plan, ())


def _is_denied(plan: Plan) -> bool:
    return any(each.reason.code == QUOTA_EXCEEDED for each in plan.demand.blocked)


def is_stopped_otherwise(plan: Plan) -> bool:
    """Return whether something other than capacity keeps pods from running."""
    return (
        bool(plan.demand.blocked)
        or any(each.verdict != "fits" for each in plan.blockers)
        or any(each.severity == "error" and each.code not in _RAISED for each in plan.diagnostics)
    )


def _adds_nodes(after: Fleet, fleet: Fleet) -> bool:
    """Return whether a change adds a pool with several nodes, whose number the fix of a workload
    doesn't state.
    """
    given = {pool.name for pool in fleet.pools}
    return any(pool.count.max > 1 for pool in after.pools if pool.name not in given)


def _without_fixed_racks(plan: Plan) -> Plan:
    """Return the plan without the errors about racks, because the change has enough nodes for
    them.
    """
    kept = tuple(each for each in plan.diagnostics if each.code != RACKS_EXCEED_MAXIMUM)
    return replace(plan, diagnostics=kept)


def _raised(before: Fleet, after: Fleet) -> dict[str, int]:
    most = {pool.name: pool.count.max for pool in before.pools}
    return {
        pool.name: pool.count.max
        for pool in after.pools
        if pool.count.max > most.get(pool.name, pool.count.max)
    }


def _fix_text(found: JointFix) -> str:
    """Return the change for all workloads as the text of one workload's fix."""
    return f"{'; '.join(found.steps)} ({found.cost})"


def _with_raises(plan: Plan, raises: str, after: Judgement | None = None) -> Plan:
    """Return the plan in which workloads with too small pools get another change as their fix.

    `after` is the judgement with this change. Demands that still don't fit then keep their own fix.
    """
    if not raises_text(plan.judgement):
        return plan

    levels = plan.judgement.sizings.keys() - {plan.level}
    short = {} if after is None else {level: _short(after, level) for level in levels}

    def changed(ref: WorkloadRef, reason: Reason, level: DemandLevel) -> Reason:
        return reason if ref in short.get(level, ()) else with_raises(reason, raises)

    plan = with_reasons(plan, changed)
    free = None if plan.guarded is None else plan.guarded.free
    # no workload has too few built nodes because of a pool that is too small
    return replace(plan, beside=tuple(find_levels_beside(plan.judgement, free)))


def _short(after: Judgement, level: DemandLevel) -> set[WorkloadRef]:
    """Return the workloads that still have pending pods at a level after a change."""
    sizing = after.sizings.get(level)
    return set() if sizing is None else {size.workload for size in sizing.workloads if size.pending}


def find_joint_fix(
    plan: Plan, fleet: Fleet, replan: Callable[[Manifests], Plan]
) -> tuple[JointFix | None, str]:
    """Return the change with which the workloads of a plan fit, even if it's one step for one
    workload.

    Also returns the limit at which the search stopped early, or "".
    """
    admitted, quotas = _with_quotas(plan, replan)
    if is_stopped_otherwise(admitted):
        return None, ""
    search = JointSearch(admitted, fleet, plan.judgement)
    found = search.run()
    if found is not None and quotas:
        demand = " (for peak demand)" if _grows(admitted) else ""
        steps = (*(f"{each.step}{demand}" for each in quotas), *found.steps)
        found = replace(found, steps=steps, quotas=quotas)
    return found, search.ended_at


def _grows(plan: Plan) -> bool:
    """Return whether autoscalers or rollouts add pods, for which quotas are also raised."""
    level = plan.judgement.level
    return any(shape.figures.at("peak") != shape.figures.at(level) for shape in plan.demand.shapes)


def _fits_no_pool(judgement: Judgement, workloads: Set[WorkloadRef]) -> bool:
    return any(
        all(answer.verdict != "fits" for answer in judgement.answers(shape))
        for shape in judgement.demand.shapes
        if any(member.workload in workloads for member in shape.members)
    )


def _ended_note(limit: str) -> Diagnostic:
    return Diagnostic(
        severity="note",
        code="search-ended",
        message=f"The search for changes that make all workloads fit reached {limit}",
    )
