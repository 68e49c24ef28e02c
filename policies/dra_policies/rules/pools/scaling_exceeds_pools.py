"""Workloads that fit with their declared replicas, but not after scalers or a rollout add pods."""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.claims.quota import QUOTA_EXCEEDED
from dra_planner.fleet import Fleet
from dra_planner.model import DemandLevel
from dra_planner.plan.judgement.demand_levels import counting_autoscaler
from dra_planner.plan.judgement.judgement import Judgement
from dra_planner.plan.judgement.rollouts.findings import why_it_finishes
from dra_planner.sizing import POOL_TOO_SMALL, Sizing, WorkloadSize
from dra_planner.wording import counted
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.stack_view import StackView
from dra_policies.view.stalled_rollouts import checked_rollouts, plan_allows, stalled_rollouts

MOST_NAMES = 3
LEVELS: tuple[DemandLevel, ...] = ("ceiling", "peak")
PLANNED_NODES: dict[str, DemandLevel] = {f"{level}-exceeds-nodes": level for level in LEVELS}
"""The demand of each of the plan's findings about pods that stay pending on the planned nodes."""


def check(view: StackView) -> Iterator[Finding]:
    judgement = view.judgement
    if judgement is None or judgement.sizing.verdict != "fits":
        return  # another rule reports workloads that don't fit without scaling
    places = {
        member.workload: member.place
        for shape in judgement.demand.shapes
        for member in shape.members
    }
    reported = stalled_rollouts(view)  # another rule reports these
    for level in LEVELS:
        sizing = judgement.sizings.get(level)
        if sizing is None:
            continue  # existing nodes of a snapshot, for which only the steady demand is evaluated
        crowded = [
            size
            for size in sizing.workloads
            if size.verdict == "does-not-fit"
            and size.pending
            and not (level == "peak" and size.workload in reported)
        ]
        if crowded:
            denied = [each for each in crowded[0].reasons if each.code == QUOTA_EXCEEDED]
            reason = f", because {denied[0].message}" if denied else ""
            anyway = _why_rollouts_finish(judgement, crowded) if level == "peak" else ""
            yield Finding(
                message=f"{_sentence(crowded[0], level)}{_others(crowded[1:])}{reason}{anyway}",
                fix=denied[0].fix if denied else _fix(view, sizing, level, crowded[0]),
                urn=view.judged_urn,
                place=places[crowded[0].workload],
                about=str(crowded[0].workload),
                remark=bool(anyway),
            )
            return  # the message for the ceiling also covers a rollout at the ceiling
    yield from _without_nodes(view)


def _without_nodes(view: StackView) -> Iterator[Finding]:
    """Yield the plan's findings about pods that fit the maximums of the pools, but stay pending
    because nothing increases the planned node counts. A Pulumi stack declares its own counts.
    Without a stack, there is no saved plan, which would set the demand of the check.
    """
    plan = view.plan() if view.plan is not None and not view.expects_record else None
    if plan is None or plan.fleet is None:
        return
    for each in plan.beside:
        if each.code in PLANNED_NODES:
            fix = _more_nodes(plan.fleet, PLANNED_NODES[each.code])
            yield Finding(
                message=each.message,
                fix=each.fix if view.stack else fix,
                urn=view.judged_urn,
                place=each.place,
                about=each.subject,
                remark=each.severity == "note",
            )


def _why_rollouts_finish(judgement: Judgement, crowded: list[WorkloadSize]) -> str:
    """Return the sentence that rollouts finish although their pods don't all fit at the same time,
    or "" if one might not finish.
    """
    rollouts = checked_rollouts(judgement)
    doubtful = rollouts.names.union(rollouts.unchecked)
    reasons = [why_it_finishes(judgement, size.workload, doubtful) for size in crowded]
    return f". {reasons[0]}" if all(reasons) else ""


def _more_nodes(fleet: Fleet, level: DemandLevel) -> str:
    """Return how a fleet whose maximums are large enough gets the nodes for a demand."""
    autoscaler = counting_autoscaler(fleet)
    return (
        f"set autoscaler to {autoscaler} in the fleet"
        if level == "ceiling"
        else f"set autoscaler to {autoscaler} in the fleet, or set maxSurge to 0 and "
        "maxUnavailable to 1"
    )


def _others(sizes: list[WorkloadSize]) -> str:
    """Return the other workloads for which the same pools are too small, as the end of a
    sentence.
    """
    if not sizes:
        return ""
    named = ", ".join(str(size.workload) for size in sizes[:MOST_NAMES])
    more = f" and {len(sizes) - MOST_NAMES} more" if len(sizes) > MOST_NAMES else ""
    pods = counted(sum(size.pending for size in sizes), "pod")
    return f", and so would {pods} of {named}{more}"


def _sentence(size: WorkloadSize, level: DemandLevel) -> str:
    pods = counted(size.wanted or 0, "pod")
    when = f"at its maximum ({pods})" if level == "ceiling" else f"during a rollout ({pods})"
    return (
        f"{size.workload} fits the pools now, but {when}, {counted(size.pending, 'pod')} would "
        "stay pending"
    )


def _fix(view: StackView, sizing: Sizing, level: DemandLevel, size: WorkloadSize) -> str:
    """Return the plan's fix for a larger maximum, with its cost, or another change."""
    short = [pool for pool in sizing.pools if pool.enough > pool.maximum]
    record = view.record.plan_file if view.record is not None else None
    if record and short and plan_allows(view, tuple(short)):
        more = _more_nodes(record.fleet, level)
        return f"save a plan for {level} demand (plan --demand {level}), or {more}"
    raises = [each.fix for each in size.reasons if each.code == POOL_TOO_SMALL and each.fix]
    roomier = next(iter(raises), "") or " and ".join(
        f'raise the maximum of pool "{pool.name}" to {pool.enough}' for pool in short
    )
    other = (
        "lower the autoscaler's maximum replica count"
        if level == "ceiling"
        else "set the rollout's maxSurge to 0 and maxUnavailable to 1"
    )
    if roomier:
        return f"{roomier}, or {other}"
    # more nodes and fewer pods don't help pods that no node accepts
    return next((each.fix for each in size.reasons if each.fix), other)


RULE = Rule(
    id="scaling-exceeds-pools",
    description="Autoscalers and rollouts can add more pods than the pools can run at their "
    "maximum size or, without a node autoscaler, at their planned size.",
    why="If a workload scales to its maximum, some pods stay pending. A rollout that needs an "
    "additional node stalls until that node is added.",
    fix="Raise a pool's maximum, save a plan for more demand (`plan --demand`), lower the "
    "autoscaler's maximum, or let rollouts remove old pods before they add new pods.",
    level="advisory",
    needs="pools",
    check=check,
)
