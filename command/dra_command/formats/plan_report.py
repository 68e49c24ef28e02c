"""A plan as rows and sentences, before any format: what the text, Markdown and HTML reports share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from dra_planner.errors import Diagnostic
from dra_planner.model import DemandLevel, Reason, Verdict
from dra_planner.plan import Plan, PlannedWorkload
from dra_planner.plan.values import MISSING_POOL
from dra_planner.wording import counted

if TYPE_CHECKING:  # only simulating needs the simulation
    from dra_planner.simulation import SimulatedCounts

VERDICT_WORDS: dict[Verdict, str] = {
    "fits": "fits",
    "does-not-fit": "does not fit",
    "cannot-tell": "cannot tell",
}
VERDICT_AFTER_A_NAME: dict[Verdict, str] = {**VERDICT_WORDS, "cannot-tell": "cannot be judged"}
MOST_POOL_COLUMNS = 6
MOST_REASONS = 3
_BESIDE: tuple[DemandLevel, ...] = ("ceiling", "peak")


@dataclass(frozen=True, slots=True)
class Table:
    """A title, column heads, and rows of text; columns in `numbers` are right-aligned."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: frozenset[int] = frozenset()
    note: str = ""


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why something does not fit, and what would fix it."""

    subject: str
    verdict: Verdict
    lines: tuple[tuple[str, str], ...]  # what, what would fix it


def claims_table(plan: Plan) -> Table:
    """Return which device each request of each claim would get, a row for each."""
    from dra_planner.plan import detail_claims  # only with --detail

    rows = (
        (f"{claim.namespace}/{claim.name}", claim.pod, device.request, device.node, f"{device.driver}/{device.device}")
        for claim in detail_claims(plan)
        for device in claim.devices
    )
    return Table("Claims", ("claim", "pod", "request", "node", "device"), tuple(rows))


def headline(plan: Plan) -> str:
    """Return the verdict in one sentence."""
    pending = sum(workload.pending for workload in plan.workloads)
    level = "" if plan.level == "steady" else f" at {plan.level} demand"
    errors = sum(finding.severity == "error" for finding in plan.diagnostics)
    if not plan.workloads and not errors:
        return "Nothing to place: the manifests hold no workload."
    if plan.verdict == "fits":
        beside = [name for name in _BESIDE if any(each.code == f"{name}-does-not-fit" for each in plan.beside)]
        return f"Everything fits{level}{f', but not at {beside[0]} demand' if beside else ''}."
    wrong = f"{errors} error{'s' if errors != 1 else ''}" if errors else ""
    simulated = _simulated_pending(plan)
    counted_once = pending and not (simulated and plan.judgement.is_observed)
    said = ", ".join(filter(None, (f"{_pods(pending)} pending" if counted_once else "", simulated, wrong)))
    waiting = f": {said}" if said else ""
    if plan.verdict == "does-not-fit":
        return f"Does not fit{level}{waiting}."
    return f"Cannot tell{level}{waiting}."


def _simulated_pending(plan: Plan) -> str:
    """Return how many pods the simulation leaves pending, where no counts were found that place everything."""
    found = plan.judgement.simulated
    if found is None or found.counts is not None:
        return ""
    strandings = found.at_maximum or found.at_packing
    most = max(each.pods for each in strandings)
    return f"up to {_pods(most)} pending in {len(strandings)} of {len(found.orders)} simulated orders of arrival"


def setting(plan: Plan) -> str:
    """Return where this was planned: cloud, region and release, or a snapshot."""
    if plan.fleet is None:
        plural = "s" if len(plan.pools) != 1 else ""
        return f"{len(plan.pools)} observed node{plural} · Kubernetes {plan.kubernetes}"
    there = f" · {counted(len(plan.offers), 'observed node')}" if plan.judgement.is_observed else ""
    return f"{plan.fleet.cloud} {plan.fleet.region}{there} · Kubernetes {plan.kubernetes}"


def pools_table(plan: Plan) -> Table:
    """Return nodes, devices and price per pool; each of the three numbers is named as such."""
    if plan.fleet is None:
        return _nodes_table(plan)
    if plan.judgement.is_observed:
        return _growth_table(plan)
    rows = tuple(
        (
            pool.name,
            pool.machine,
            f"{pool.minimum}" if pool.minimum == pool.maximum else f"{pool.minimum}–{pool.maximum}",
            str(pool.bound),
            str(pool.packing),
            "–" if pool.simulated is None else str(pool.simulated),
            f"{pool.devices.used}/{pool.devices.total}",
            str(pool.devices.stranded),
            "unknown" if pool.hourly_usd is None else f"{pool.hourly_usd:,.2f}",
        )
        for pool in plan.pools
    )
    heads = ("pool", "machine", "allowed", "bound", "packing", "simulated", "devices", "stranded", "USD/h each")
    note = (
        "bound: provably needed of this pool even with every other at its maximum · packing: the best found · "
        "simulated: with how many the default scheduler places everything in every order tried"
    )
    return Table("Node pools", heads, rows, frozenset(range(2, 9)), note)


def _growth_table(plan: Plan) -> Table:
    rows = tuple(
        (
            pool.name,
            pool.machine,
            f"{pool.minimum}–{pool.maximum}",
            str(pool.existing),
            str(pool.nodes.desired - (pool.existing or 0)),
            f"{pool.devices.used}/{pool.devices.total}",
            "unknown" if pool.hourly_usd is None else f"{pool.hourly_usd:,.2f}",
        )
        for pool in plan.pools
    )
    heads = ("pool", "machine", "allowed", "existing", "more", "devices", "USD/h each")
    note = "more: so many beside those that exist, and the default scheduler places everything in every order tried"
    return Table("Node pools", heads, rows, frozenset(range(2, 7)), note)


def _nodes_table(plan: Plan) -> Table:
    rows = tuple(
        (node.name, node.machine or "?", *map(str, (node.devices.total, node.devices.used, node.devices.stranded)))
        for node in plan.pools
    )
    return Table("Nodes", ("node", "machine", "devices", "used", "stranded"), rows, frozenset({2, 3, 4}))


def workloads_table(plan: Plan) -> Table:
    """Return workloads against pools: pods placed there, or whether they could run there at all."""
    pools = _pool_columns(plan)
    beside = tuple(level for level in _BESIDE if level != plan.level) if not plan.judgement.is_observed else ()
    by_pool = 0 < len(pools) <= MOST_POOL_COLUMNS
    rows = []
    for workload in plan.workloads:
        where = _cells(workload, pools) if by_pool else (_places(workload),)
        others = (VERDICT_WORDS[workload.verdicts[each]] for each in beside)
        rows.append(
            (
                f"{workload.workload.kind} {workload.workload.namespace}/{workload.workload.name}",
                _figure(workload.figures.at(plan.level)),
                *where,
                str(workload.pending) if workload.pending else "",
                VERDICT_WORDS[workload.verdicts[plan.level]],
                *others,
            )
        )
    heads = ("workload", "pods", *(pools if by_pool else ("runs on",)), "pending", plan.level, *beside)
    numbers = frozenset({1, *(range(2, 2 + len(pools)) if by_pool else ()), 2 + (len(pools) if by_pool else 1)})
    note = "pods per pool · ok: would fit · –: does not fit · ?: cannot tell" if by_pool else ""
    return Table("Workloads", heads, tuple(rows), numbers, note)


def obstacles(plan: Plan, *, every: bool = False) -> Iterator[Obstacle]:
    """Yield what keeps workloads from running; a few reasons each unless `every` is wanted."""
    for workload in plan.workloads:
        verdict = workload.verdicts[plan.level]
        if verdict == "fits" or not workload.reasons:
            continue
        told = tuple(_together(reason for reason in workload.reasons if reason.code != MISSING_POOL))
        lines = told if every else told[:MOST_REASONS]
        hidden = len(told) - len(lines)
        if hidden:
            lines += ((f"and {hidden} more (--verbose shows them)", ""),)
        lines += tuple(_together(reason for reason in workload.reasons if reason.code == MISSING_POOL))
        yield Obstacle(str(workload.workload), verdict, lines)


def diagnostics(plan: Plan) -> tuple[Diagnostic, ...]:
    """Return findings about objects, errors first."""
    order = {"error": 0, "warning": 1, "note": 2}
    found = (*plan.diagnostics, *plan.beside)
    return tuple(sorted(found, key=lambda each: (order[each.severity], each.place, each.code)))


def costs(plan: Plan) -> tuple[str, ...]:
    """Return what the planned nodes cost, with the date of the prices, or that it is unknown."""
    if plan.fleet is None:
        return ()
    if plan.judgement.is_observed:
        return _growth_costs(plan)
    nodes = sum(pool.recommended for pool in plan.pools)
    if not nodes:
        return ("No GPU node is needed.",) if plan.verdict == "fits" else ()
    counted = f"{nodes} GPU node{'s' if nodes != 1 else ''}"
    if plan.verdict == "fits" and plan.nodes_bound == nodes:
        counted += " (provably the fewest)"
    if plan.cost is None:
        if plan.verdict == "fits" and plan.nodes_bound < nodes:
            counted += f" (fewest devices first, without prices; no plan takes fewer than {plan.nodes_bound} nodes)"
        missing = ", ".join(pool.name for pool in plan.pools if pool.recommended and pool.hourly_usd is None)
        return (f"{counted}; cost unknown: no price for {missing or 'a pool'} (give it pricePerHour)",)
    when = f", prices of {plan.cost.priced_on}" if plan.cost.priced_on else ", prices of the fleet"
    least = ""
    if plan.verdict == "fits":
        bound, gap = plan.cost.bound_usd, plan.cost.gap
        least = f"; no plan costs less than {_usd(bound)} (gap {gap:.2%})" if gap else "; no plan costs less"
    return (f"{counted}, {_usd(plan.cost.hourly_usd)} per hour{when}{least}",)


def _growth_costs(plan: Plan) -> tuple[str, ...]:
    more = sum(pool.nodes.desired - (pool.existing or 0) for pool in plan.pools)
    if not more:
        return ("No node more is needed.",) if plan.verdict == "fits" else ()
    if plan.cost is None:
        return (f"{counted(more, 'node')} more; cost unknown: no price for a pool (give it pricePerHour)",)
    when = f", prices of {plan.cost.priced_on}" if plan.cost.priced_on else ", prices of the fleet"
    return (f"{counted(more, 'node')} more, {_usd(plan.cost.hourly_usd)} per hour more{when}",)


def simulation(plan: Plan) -> tuple[str, ...]:
    """Return what the simulation found, in a sentence, or why there is nothing to say."""
    found = plan.judgement.simulated
    if plan.fleet is None or found is None:
        return ()
    tried = len(found.orders)
    scale = f", at a scale of 1:{found.scale}" if found.scale > 1 else ""
    said = f"Simulated in {counted(tried, 'order')} of arrival{scale}: "
    if plan.judgement.is_observed:
        return _growth_simulation(said, found)
    if not found.at_packing:
        return (f"{said}the packing places everything in each.",)
    most = max(each.pods for each in found.at_packing)
    said += f"the packing leaves up to {_pods(most)} pending in {len(found.at_packing)} of them"
    if found.counts is not None:
        more = sum(pool.simulated or 0 for pool in plan.pools) - sum(pool.packing for pool in plan.pools)
        kept = "; the packing is built, as the fleet says" if plan.fleet.sizing == "packing" else ""
        return (f"{said}, {more} more node{'s' if more != 1 else ''} in none{kept}.", *_cheaper(plan))
    if not found.complete:
        return (f"{said}; how many nodes place everything was not found in the time given (--simulate SECONDS).",)
    return (f"{said}, and no counts within the maxima were found that leave none.",)


def _growth_simulation(said: str, found: SimulatedCounts) -> tuple[str, ...]:
    if not found.at_packing:
        return (f"{said}the existing nodes place everything in each.",)
    most = max(each.pods for each in found.at_packing)
    said += f"the existing nodes leave up to {_pods(most)} pending in {len(found.at_packing)} of them"
    if found.counts is not None:
        return (f"{said}, those with the new nodes in none.",)
    if not found.complete:
        return (f"{said}; how many more nodes it takes was not found in the time given (--simulate SECONDS).",)
    return (f"{said}, and no counts within the maxima were found that leave none.",)


def _cheaper(plan: Plan) -> tuple[str, ...]:
    """Return the change that would place everything on cheaper nodes, and what it saves against what is built."""
    if not plan.judgement.fixes:
        return ()
    from dra_planner.plan.fixes import fix_sentence, saved_usd  # loads the simulation

    fix = plan.judgement.fixes[0]
    built = {pool.name: pool.recommended for pool in plan.pools}
    fewer = sum(built.values()) - sum(fix.counts.values())
    saved = saved_usd(fix, built, plan.offers)
    if fewer <= 0 and not saved:
        return ()
    worth = [f"{counted(fewer, 'node')} fewer"] if fewer > 0 else []
    worth += [f"{_usd(saved)} per hour less"] if saved else []
    sentence = fix_sentence(fix)
    return (f"{sentence[0].upper()}{sentence[1:]}: {', '.join(worth)}, and everything is placed too (simulated).",)


def _pool_columns(plan: Plan) -> list[str]:
    """Return the pools, and the system pool where pods without claims are meant for it."""
    if plan.fleet is None:
        return []
    sized = [pool.name for pool in plan.pools]
    meant = {pool for workload in plan.workloads for pool, _ in (*workload.fits, *workload.placements)}
    return [*sized, *sorted(meant - set(sized))]


def _cells(workload: PlannedWorkload, pools: list[str]) -> tuple[str, ...]:
    placed, fits = dict(workload.placements), dict(workload.fits)
    words = {"fits": "ok", "does-not-fit": "–", "cannot-tell": "?"}
    return tuple(str(placed[pool]) if placed.get(pool) else words.get(fits.get(pool, ""), "") for pool in pools)


def _places(workload: PlannedWorkload) -> str:
    return ", ".join(f"{pool} ×{pods}" if pods > 1 else pool for pool, pods in workload.placements)


def _together(reasons: Iterable[Reason]) -> Iterator[tuple[str, str]]:
    """Yield each reason with its fix; what several pools say alike is said once, with their names."""
    pools: dict[tuple[str, str], list[str]] = {}
    for reason in reasons:
        named = pools.setdefault((reason.message, reason.fix), [])
        if reason.pool and f'"{reason.pool}"' not in reason.message and reason.pool not in named:
            named.append(reason.pool)
    for (message, fix), names in pools.items():
        yield (f"{', '.join(names)}: {message}" if names else message), fix


def _pods(count: int) -> str:
    return f"{count} pod{'s' if count != 1 else ''}"


def _figure(figure: int | None) -> str:
    return "unbounded" if figure is None else str(figure)


def _usd(amount: Decimal) -> str:
    return f"USD {amount:,.2f}"
