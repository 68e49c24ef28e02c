"""The guards of a plan as text, for all formats: the effect, the person or tool that must act, and
the result without each guard.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Struct

from dra_command.pens.amounts import usd
from dra_command.pens.table import Table
from dra_planner.model import GuardKind, Guards
from dra_planner.offers import Offer
from dra_planner.plan import Plan
from dra_planner.plan.judgement.demand_levels import LEVELS_BESIDE
from dra_planner.plan.judgement.guarded import Guarded
from dra_planner.releases import has_mutating_policies
from dra_planner.sizing import hourly_usd
from dra_planner.wording import counted, named, verb

_PARTS: Final = {"ceiling": "maximum replicas", "peak": "rollouts", "loss": "lost nodes"}
PULUMI: Final = "pulumi up"
_MOST_POOLS: Final = 4
_MOST_RULES: Final = 8


class GuardLine(Struct, frozen=True):
    """One guard: its number, its effect, the person or tool that must act, and the number of pods
    that stay pending without the guard.
    """

    number: int
    kind: GuardKind
    effect: str
    who_acts: str
    without: str


def guard_lines(plan: Plan) -> tuple[GuardLine, ...]:
    """Return the guards of a plan, sorted by the number of pods that stay pending without the
    guard, with the highest number first.
    """
    guarded = plan.guarded
    if guarded is None:
        return ()
    pending = guarded.pending_without
    kinds = sorted(
        guarded.guards.kinds, key=lambda kind: tuple(-each for each in reversed(pending[kind]))
    )
    return tuple(
        GuardLine(
            number=number,
            kind=kind,
            effect=_effect(kind, guarded.guards),
            who_acts=_who_acts(kind, plan, guarded.guards),
            without=_pending(pending[kind]),
        )
        for number, kind in enumerate(kinds, 1)
    )


def with_guards(plan: Plan) -> str:
    """Return ", with 2 guards" for a plan with guards, and "" for another."""
    return f", with {counted(len(plan.guards.kinds), 'guard')}" if plan.guarded is not None else ""


def without_guards(guarded: Guarded) -> str:
    """Return a sentence without a period that describes the plan for the same workloads without
    guards.
    """
    price, pending = guarded.free_hourly_usd, guarded.free_pending
    if price is not None:
        return f"without the guards, {usd(price)} per hour"
    if pending is not None:
        return f"without the guards, {_pods(pending)} {verb(pending[-1], 'stay')} pending"
    return "without the guards, the simulation doesn't find sufficient node counts"


def guards_table(plan: Plan) -> Table | None:
    """Return a row for each guard. None if the plan doesn't have guards."""
    rows = tuple(
        (f"{each.number} {each.kind}", each.effect, each.who_acts, each.without)
        for each in guard_lines(plan)
    )
    if not rows:
        return None
    heads = ("guard", "effect", "who acts", "without this guard")
    return Table("Guards", heads, rows, note=_note(plan))


def rules_table(plan: Plan) -> Table | None:
    """Return a row for each rule that steers pods. None if the plan doesn't have such rules."""
    spreads = "spread" in plan.guards.kinds
    rows: tuple[tuple[str, ...], ...] = tuple(
        (
            rule.pool,
            *([rule.spread] if spreads else []),
            _some([str(key) for key in rule.templates]),
            _some([str(ref) for ref, _ in rule.workloads]),
        )
        for rule in plan.guards.rules
    )
    heads = (
        "pool",
        *(["spread evenly with"] if spreads else []),
        "ResourceClaimTemplates",
        "workloads",
    )
    return Table("Steering rules", heads, rows) if rows else None


def comparison_table(plan: Plan) -> Table | None:
    """Return the nodes, price, and pending pods with and without guards, side by side. None without
    guards.
    """
    guarded = plan.guarded
    if guarded is None:
        return None
    found = guarded.free.simulated
    is_placed = found is not None and found.counts is not None
    packing = {size.name: size.plan for size in guarded.free.sizing.pools}
    free = dict(found.counts or packing) if found is not None else packing
    built = dict(guarded.proof.counts or {})
    rows: list[tuple[str, ...]] = []
    for pool in guarded.given.pools:
        parts = [
            part
            for part in guarded.guards.parts_of(pool.name)
            if built.get(part) or part == pool.name
        ]
        split = ", ".join(f"{part}: {built.get(part, 0)}" for part in parts if part != pool.name)
        guarded_nodes = split or str(built.get(pool.name, 0))
        rows.append((f"nodes in {pool.name}", str(free.get(pool.name, 0)), guarded_nodes))
    rows.append(("nodes in all pools", str(sum(free.values())), str(sum(built.values()))))
    rows.append(
        ("USD per hour", _price(free, guarded.free.offers), _price(built, guarded.judgement.offers))
    )
    pods = [each.pods for each in found.at_packing] if found is not None else []
    stranded = (min(pods), max(pods)) if pods else ()
    rows.append(
        (
            "pods pending",
            "none" if is_placed else _pending(stranded).removesuffix(" pending"),
            "none",
        )
    )
    note = "" if is_placed else "without guards, the nodes match the best packing"
    heads = ("value", "without guards", "with guards")
    return Table(
        "With and without guards", heads, tuple(rows), numbers=frozenset({1, 2}), note=note
    )


def _price(counts: Mapping[str, int], offers: tuple[Offer, ...]) -> str:
    price = hourly_usd(counts, offers)
    return "unknown" if price is None else usd(price)


def _effect(kind: GuardKind, guards: Guards) -> str:
    match kind:
        case "steer":
            return f"send pods to their pools ({counted(len(guards.rules), 'rule')})"
        case "split":
            pools = guards.split_pools
            pools_split = named("pool", list(pools[:_MOST_POOLS]), " and ")
            return f"split {pools_split} into {len(guards.parts)} parts"
        case "pack":
            return "fill one node in a pool before the next node"
        case "spread":
            spread = [rule for rule in guards.rules if rule.spread]
            names = sorted({rule.pool for rule in spread})
            pools_spread = named("pool", names[:_MOST_POOLS], " and ")
            rule_count = counted(len(spread), "rule")
            return f"spread pods evenly across the nodes in {pools_spread} ({rule_count})"


def _who_acts(kind: GuardKind, plan: Plan, guards: Guards) -> str:
    if kind == "split" or has_mutating_policies(plan.judgement.features.minor):
        return PULUMI
    namespaces = {key.namespace for rule in guards.rules for key in rule.templates}
    namespaces |= {ref.namespace for rule in guards.rules for ref, _ in rule.workloads}
    return f"owners of {_some(sorted(namespaces))}"


def _pending(pods: tuple[int, ...]) -> str:
    if not pods:
        return "not simulated"
    if not pods[-1]:
        return "no pending pods in any simulated order"
    return f"{_pods(pods)} pending"


def _pods(pods: tuple[int, ...]) -> str:
    least, most = pods[0], pods[-1]
    return counted(most, "pod") if least == most else f"{least} to {counted(most, 'pod')}"


def _note(plan: Plan) -> str:
    return "; ".join(_notes(plan))


def _notes(plan: Plan) -> Iterator[str]:
    guarded = plan.guarded
    assert guarded is not None  # called only for plans with guards
    orders = counted(len(guarded.proof.orders), "pod arrival order")
    yield f"proof: all pods fit, as simulated for {orders} (seeds {_seeds(guarded)})"
    if guarded.in_any_order:
        yield f"proved in any order: {named('pool', sorted(guarded.in_any_order))}"
    parts = proved_parts(plan)
    for is_proved, head in ((True, "also proved"), (False, "not proved")):
        names = [_PARTS[name] for name, proved in parts.items() if proved == is_proved]
        if names:
            yield f"{head}: {', '.join(names)}"
    if not guarded.given.redundancy.is_requested:
        yield ("to also prove that all pods fit after a node failure, set redundancy in the fleet")
    yield "pods without a guard can run in any pool"


def proved_parts(plan: Plan) -> dict[str, bool]:
    """Return the additional proofs for a plan with guards: other demands, and failed nodes if the
    fleet sets redundancy.
    """
    judgement = plan.judgement
    parts: dict[str, bool] = {}
    for level in LEVELS_BESIDE:
        found = judgement.simulations.get(level)
        fits = judgement.sizings[level].verdict == "fits"
        parts[level] = fits and found is not None and found.counts is not None
    survival = judgement.survival
    if survival is not None:
        parts["loss"] = survival.tried > 0 and not survival.losses
    return parts


def _seeds(guarded: Guarded) -> str:
    """Return the seeds of the orders, consecutive ones as a range."""
    seeds = sorted({each.seed for each in guarded.proof.orders if each.seed is not None})
    ranges: list[list[int]] = []
    for seed in seeds:
        if ranges and seed == ranges[-1][-1] + 1:
            ranges[-1].append(seed)
        else:
            ranges.append([seed])
    return ", ".join(str(each[0]) if len(each) == 1 else f"{each[0]}–{each[-1]}" for each in ranges)


def _some(names: list[str]) -> str:
    more = len(names) - _MOST_RULES
    return ", ".join(names[:_MOST_RULES]) + (f" and {more} more" if more > 0 else "")
