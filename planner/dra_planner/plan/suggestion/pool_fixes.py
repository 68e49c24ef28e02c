"""Fixes for pools that are too small: the probable intent of the author, and enough nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from dra_planner.model import DEMAND_LEVELS, DemandLevel, Reason, Shape, WorkloadRef
from dra_planner.offers import SYSTEM_POOL
from dra_planner.plan.blockers.idle_configuration import divides_claim, use_one_claim
from dra_planner.plan.judgement.judgement import Judgement
from dra_planner.plan.suggestion.missing.driver_changes import sharing_change
from dra_planner.plan.suggestion.system_machine import needed_system_nodes
from dra_planner.sizing import POOL_TOO_SMALL, PoolSize, Sizing
from dra_planner.sizing.reasons import with_alternative
from dra_planner.wording import counted, price_change

if TYPE_CHECKING:
    from dra_planner.plan.model import Plan

_TOO_SMALL: Final = frozenset({POOL_TOO_SMALL, "packing-too-large"})
_LIMITED: Final = frozenset({"limit-too-small", "packing-exceeds-limit"})
_WHEN: Final[Mapping[DemandLevel, str]] = {
    "floor": "at minimum replicas",
    "steady": "at declared replicas",
    "ceiling": "at maximum replicas",
    "peak": "during a rollout",
}


def with_pool_fixes(judgement: Judgement) -> Judgement:
    """Return the judgement with fixes that resolve the shortages of all demands at once, with their
    cost.
    """
    if not any(_has_shortage(sizing) for sizing in judgement.sizings.values()):
        return judgement
    intents = dict(_intents(judgement))
    done: dict[int, Sizing] = {}
    for sizing in judgement.sizings.values():
        if id(sizing) not in done:
            done[id(sizing)] = _with_fixes(sizing, judgement, intents)
    return replace(
        judgement, sizings={level: done[id(sizing)] for level, sizing in judgement.sizings.items()}
    )


def _has_shortage(sizing: Sizing) -> bool:
    return any(is_too_small(reason) for size in sizing.workloads for reason in size.reasons)


def _with_fixes(sizing: Sizing, judgement: Judgement, intents: Mapping[WorkloadRef, str]) -> Sizing:
    raises, nodes = raises_text(judgement), _system_nodes(judgement)
    now = 0 if judgement.fleet is None else judgement.fleet.system_pool.count
    workloads = tuple(
        replace(
            size,
            reasons=tuple(
                with_intent(
                    _with_system_nodes(
                        _with_limit(with_raises(reason, raises), size.workload, judgement),
                        now,
                        nodes,
                    ),
                    intents.get(size.workload, ""),
                )
                for reason in size.reasons
            ),
        )
        for size in sizing.workloads
    )
    return replace(sizing, workloads=workloads)


def _with_limit(reason: Reason, ref: WorkloadRef, judgement: Judgement) -> Reason:
    """Return a reason in which the fix also raises a limit that is too low for a larger demand, for
    example for rollouts.
    """
    if not is_too_small(reason):
        return reason
    fixes = (
        other.fix
        for level in reversed(_levels(judgement))
        for size in judgement.sizings[level].workloads
        for other in size.reasons
        if size.workload == ref and other.code in _LIMITED
    )
    return replace(reason, fix=next(fixes, reason.fix))


def _system_nodes(judgement: Judgement) -> int:
    """Return the number of system nodes that suffices for rollouts, or 0 without system pods."""
    fleet = judgement.fleet
    if fleet is None or not judgement.on_system:
        return 0
    return needed_system_nodes(fleet, judgement, "peak")


def _with_system_nodes(reason: Reason, now: int, nodes: int) -> Reason:
    """Return a reason in which the fix for too few system nodes is a sufficient number."""
    if reason.code not in _TOO_SMALL or reason.pool != SYSTEM_POOL or nodes <= now:
        return reason
    more = counted(nodes - now, "more node")
    return replace(reason, fix=f'set the count of pool "{SYSTEM_POOL}" to {nodes} ({more})')


def with_raises(reason: Reason, raises: str) -> Reason:
    """Return a reason in which the fix for a pool that is too small is a change for all workloads.

    `raises` is the text of this change, or "" if there is no such change. It doesn't help pods on
    the system pool, which keep their own fix.
    """
    if reason.code not in _TOO_SMALL or not raises or reason.pool == SYSTEM_POOL:
        return reason
    fix = with_alternative(raises, reason.alternative)
    return replace(reason, fix=_joined(reason.intent, fix))


def with_reasons(plan: Plan, change: Callable[[WorkloadRef, Reason, DemandLevel], Reason]) -> Plan:
    """Return the plan with changed reasons of its workloads at every level."""

    def changed(
        ref: WorkloadRef, reasons: tuple[Reason, ...], level: DemandLevel
    ) -> tuple[Reason, ...]:
        return tuple(change(ref, each, level) for each in reasons)

    done: dict[int, Sizing] = {}
    for level, sizing in plan.judgement.sizings.items():
        sizes = (
            replace(each, reasons=changed(each.workload, each.reasons, level))
            for each in sizing.workloads
        )
        done.setdefault(id(sizing), replace(sizing, workloads=tuple(sizes)))
    sizings = {level: done[id(sizing)] for level, sizing in plan.judgement.sizings.items()}
    return replace(
        plan,
        judgement=replace(plan.judgement, sizings=sizings),
        workloads=tuple(
            replace(each, reasons=changed(each.workload, each.reasons, plan.level))
            for each in plan.workloads
        ),
    )


def is_too_small(reason: Reason) -> bool:
    """Return whether a pool, or a limit of pools, is too small."""
    return reason.code in _TOO_SMALL | _LIMITED


def with_intent(reason: Reason, intent: str) -> Reason:
    """Return a reason in which the probable intent of the author is the first fix for a pool that
    is too small.
    """
    if not is_too_small(reason):
        return reason
    return replace(reason, intent=intent, fix=_joined(intent, reason.fix))


def _joined(intent: str, fix: str) -> str:
    return f"{intent}. If each pod needs its own device, {fix}" if intent and fix else intent or fix


def raised_pools(judgement: Judgement) -> tuple[PoolSize, ...]:
    """Return the pools whose maximum is too low for the evaluated demand or a larger one.

    Each pool has a maximum that suffices for all these demands.
    """
    enough = {pool.name: pool for pool in judgement.sizing.pools}
    for level in _levels(judgement):
        for pool in judgement.sizings[level].pools:
            if pool.enough > enough[pool.name].enough:
                enough[pool.name] = pool
    return tuple(pool for pool in enough.values() if pool.enough > pool.maximum)


def raises_text(judgement: Judgement) -> str:
    """Return the text of the maximums that suffice for the evaluated demand and all larger ones,
    with their cost, or "".
    """
    raised = raised_pools(judgement)
    if not raised:
        return ""
    costs = _costs(judgement)
    return f"{' and '.join(map(_step, raised))}{f' ({costs})' if costs else ''}"


def _levels(judgement: Judgement) -> list[DemandLevel]:
    return [
        level
        for level in DEMAND_LEVELS[DEMAND_LEVELS.index(judgement.level) :]
        if level in judgement.sizings
    ]


def _step(pool: PoolSize) -> str:
    verb = "set the count" if pool.minimum == pool.maximum else "raise the maximum"
    return f'{verb} of pool "{pool.name}" to {pool.enough}'


def _costs(judgement: Judgement) -> str:
    """Return the additional nodes of the evaluated demand, and of larger demands if they
    use more or cost more.
    """
    parts: list[tuple[DemandLevel, list[str]]] = []
    most, highest = 0, Decimal(0)
    for level in _levels(judgement):
        nodes, hourly = _more(judgement, level)
        if nodes <= most and (hourly is None or hourly <= highest):
            continue
        most, highest = max(most, nodes), max(highest, hourly or Decimal(0))
        more = [counted(nodes, "more node")] if nodes > 0 else []
        parts.append((level, [*more, price_change(hourly)]))
    if len(parts) > 1:  # alternatives, which don't add up
        return "; ".join(", ".join((_WHEN[level], *changes)) for level, changes in parts)
    if not parts:
        return ""
    ((level, (change, *others)),) = parts
    when = "" if level == judgement.level else f" {_WHEN[level]}"
    return ", ".join((f"{change}{when}", *others))


def _more(judgement: Judgement, level: DemandLevel) -> tuple[int, Decimal | None]:
    """Return the number of additional nodes that a level uses with sufficient maximums, compared
    with the current nodes of the evaluated demand.

    Also returns their price per hour, or None if a price is unknown. If the number of pods of a
    workload is unlimited, the level doesn't size the workload, so its nodes aren't missing.
    """
    sizing = judgement.sizings[level]
    now = {pool.name: pool.plan for pool in judgement.sizing.pools}
    is_partial = any(size.wanted is None for size in sizing.workloads)
    changes = ((pool.used_with_enough - now[pool.name], pool) for pool in sizing.pools)
    more = [(max(count, 0) if is_partial else count, pool) for count, pool in changes]
    nodes = sum(count for count, _ in more)
    if any(count and pool.hourly_usd is None for count, pool in more):
        return nodes, None
    return nodes, sum((count * (pool.hourly_usd or Decimal(0)) for count, pool in more), Decimal(0))


def _intents(judgement: Judgement) -> Iterator[tuple[WorkloadRef, str]]:
    """Yield the probable intent of a workload's author, if a pool is too small for the claims in
    the manifests.
    """
    sizings = [judgement.sizing, *judgement.sizings.values()]
    short = {
        size.workload
        for sizing in sizings
        for size in sizing.workloads
        if any(map(is_too_small, size.reasons))
    }
    for shape in judgement.demand.shapes:
        refs = [member.workload for member in shape.members if member.workload in short]
        if not refs:
            continue
        most = max(
            sum(size.wanted or 0 for size in each.workloads if size.workload in refs)
            for each in sizings
        )
        text = _one_claim(shape) or sharing_change(judgement, shape, most)
        if text:
            yield from ((ref, text) for ref in refs)


def _one_claim(shape: Shape) -> str:
    """Return the fix for pods that have separate claims with a sharing configuration: use one
    claim.

    Returns "" if no claim configures sharing.
    """
    for claim in shape.claims:
        if claim.shared is None and divides_claim(claim.spec):
            return use_one_claim(claim.name)
    return ""
