"""A plan as rows and sentences, shared by the text, Markdown, and HTML reports."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from dra_command.claim_report.shares import share_cells
from dra_command.pens.amounts import usd
from dra_command.pens.table import Table
from dra_command.pens.verdict_words import VERDICT_AFTER_A_NAME
from dra_command.plan_report.guards import with_guards
from dra_planner.catalog import cloud_titles
from dra_planner.errors import Diagnostic
from dra_planner.model import DEMAND_LEVELS, Reason, Verdict, WorkloadRef
from dra_planner.plan import Plan, detail_claims
from dra_planner.plan.judgement.lost_nodes import lost
from dra_planner.plan.judgement.shared_cause import shared_cause
from dra_planner.plan.judgement.simulated_fixes import fix_sentence, saved_usd
from dra_planner.plan.model import MISSING_POOL, LimitUse
from dra_planner.wording import counted, named, verb

if TYPE_CHECKING:  # needed only for type checking, because importing the simulation takes time
    from dra_planner.simulation import SimulatedCounts

MOST_REASONS = 3
_FEWEST_ALIKE = 3  # number of workloads with equal reasons that are listed together
_MOST_NAMES = 5
# maximum number of pools in a list of pools that share a limit, or of workloads that don't fit any
# pool
MOST_NAMED = 4


class Obstacle(Struct, frozen=True):
    """The reasons why something doesn't fit, and the fixes."""

    subject: str
    verdict: Verdict
    state: str  # the number of pending pods, or the verdict
    lines: tuple[tuple[str, str], ...]  # the reason, and its fix
    # for selectors: the current text, and the replacement
    changes: tuple[tuple[str, str], ...] = ()
    pending: int = 0
    pods: int = 0


def claims_table(plan: Plan) -> Table:
    """Return the device that each request of each claim would get, with one row for each device."""
    given = [(claim, device) for claim in detail_claims(plan) for device in claim.devices]
    shares = [share for _, device in given for share in device.shares]
    is_shared = bool(shares)
    is_short = is_shared and len({device.driver for _, device in given}) == 1
    capacities = {share.capacity for share in shares}
    capacity = next(iter(capacities)) if len(capacities) == 1 else ""
    rows = (
        (
            f"{claim.namespace}/{claim.name}",
            claim.pod,
            device.request,
            device.node,
            device.device if is_short else f"{device.driver}/{device.device}",
            *(share_cells(device.shares, capacity) if is_shared else ()),
        )
        for claim, device in given
    )
    note = (
        ""
        if plan.judgement.is_observed
        else "devices from the packing; the scheduler may choose other devices"
    )
    heads = (
        "claim",
        "pod",
        "request",
        "node",
        "device",
        *((capacity or "share", "left") if is_shared else ()),
    )
    return Table("Claims", heads, tuple(rows), note=note)


def headline(plan: Plan) -> str:
    """Return the verdict in one sentence, without a full stop."""
    verdict, level, said = verdict_parts(plan)
    return f"{verdict}{level}{': ' if said else ''}{said}"


def verdict_parts(plan: Plan) -> tuple[str, str, str]:
    """Return the verdict, the demand if it isn't the steady one (" at peak demand"), and further
    remarks.
    """
    level = "" if plan.level == "steady" else f" at {plan.level} demand"
    apart = [each.diagnostic for each in plan.blockers if not each.workloads]
    errors = sum(finding.severity == "error" for finding in (*plan.diagnostics, *apart))
    if not plan.workloads and not errors and not plan.blockers:
        return "Nothing to place", "", "the manifests don't contain a workload"
    if plan.verdict == "fits":
        number = len(plan.workloads)
        workloads = f"all {number} workloads" if number > 1 else "1 workload"
        beside = [
            name
            for name in DEMAND_LEVELS
            if any(each.code == f"{name}-does-not-fit" for each in plan.beside)
        ]
        but = f"; not at {beside[0]} demand" if beside else ""
        return "Fits", level, f"{workloads}{_on_nodes(plan)}{with_guards(plan)}{but}"
    wrong = counted(errors, "error") if errors else ""
    simulated = _simulated_pending(plan)
    pending = "" if simulated and plan.judgement.is_observed else _pending(plan)
    hindered = _hindered(plan, is_pending_counted=bool(pending or simulated))
    said = ", ".join(filter(None, (pending, simulated, *hindered, wrong)))
    verdict = "Does not fit" if plan.verdict == "does-not-fit" else "Cannot tell"
    return verdict, level, said


def _hindered(plan: Plan, *, is_pending_counted: bool) -> Iterator[str]:
    """Yield the number of workloads that never run although their devices fit, and the number of
    unknown or unreadable objects.
    """
    certain = {ref for each in plan.blockers if each.is_certain for ref in each.workloads}
    doubtful = {
        ref for each in plan.blockers if each.verdict == "cannot-tell" for ref in each.workloads
    } - certain
    unread = sum(each.verdict == "cannot-tell" and not each.workloads for each in plan.blockers)
    if certain and not is_pending_counted:
        yield f"{counted(len(certain), 'workload')} can't run"
    if doubtful:
        yield f"{counted(len(doubtful), 'workload')} may not run"
    if unread:
        yield f"{counted(unread, 'object')} {'isn' if unread == 1 else 'aren'}'t read"


def _on_nodes(plan: Plan) -> str:
    if plan.fleet is None:
        return f" on {counted(len(plan.pools), 'observed node')}"
    is_growth = plan.judgement.is_observed
    nodes = sum(pool.nodes.desired - (pool.existing or 0) for pool in plan.pools)
    if not nodes:
        return f"; no {'additional' if is_growth else 'GPU'} node is needed"
    more = " more" if is_growth else ""
    cost = "" if plan.cost is None else f", {usd(plan.cost.hourly_usd)} per hour{more}"
    return f" on {counted(nodes, 'additional GPU node' if is_growth else 'GPU node')}{cost}"


def _pending(plan: Plan) -> str:
    """Return the number of pending pods and of their workloads. "" if no pod is pending."""
    waiting = [workload.pending for workload in plan.workloads if workload.pending]
    if not waiting:
        return ""
    said = f"{sum(waiting)} of {counted(plan.pods, 'pod')} pending"
    return (
        f"{said} in {len(waiting)} of {len(plan.workloads)} workloads"
        if len(plan.workloads) > 1
        else said
    )


def _simulated_pending(plan: Plan) -> str:
    """Return the number of pods that stay pending in the simulation if the search didn't find node
    counts at which all pods fit.
    """
    found = plan.judgement.simulated
    if found is None or found.counts is not None:
        return ""
    strandings = found.at_maximum or found.at_packing
    most = max(each.pods for each in strandings)
    # a DaemonSet also has pods on nodes of pools that the plan doesn't use
    of_all = found.scale == 1 and most <= plan.pods
    pods = f"{most} of {counted(plan.pods, 'pod')}" if of_all else counted(most, "pod")
    where = " even with every pool at its maximum" if found.at_maximum else ""
    return f"up to {pods} pending in {len(strandings)} of {len(found.orders)} pod arrival orders{where}"


def setting(plan: Plan) -> str:
    """Return the target of the plan: cloud, region, and Kubernetes version, or a snapshot."""
    if plan.fleet is None:
        return f"{counted(len(plan.pools), 'observed node')} · Kubernetes {plan.kubernetes}"
    there = f" · {counted(len(plan.offers), 'observed node')}" if plan.judgement.is_observed else ""
    return (
        f"{cloud_titles()[plan.fleet.cloud]} {plan.fleet.region}{there} · Kubernetes "
        f"{plan.kubernetes}"
    )


def decisive_assumptions(plan: Plan) -> tuple[str, ...]:
    """Return the assumptions about pools that might fit a workload (with an unknown result), or
    that have a schedule.
    """
    doubtful = {
        pool for each in plan.workloads for pool, verdict in each.fits if verdict == "cannot-tell"
    }
    told = {text for offer in plan.offers if offer.name in doubtful for text in offer.assumptions}
    told |= {
        pool.schedule_sentence for pool in (plan.fleet.pools if plan.fleet else ()) if pool.schedule
    }
    return tuple(each for each in plan.assumptions if any(each.endswith(text) for text in told))


def obstacles(plan: Plan, *, every: bool = False) -> Iterator[Obstacle]:
    """Yield the reasons why workloads can't run. Unless `every` is set, yield only a few reasons
    for each workload, and workloads with equal reasons together. Their common fix isn't repeated,
    because reports print the plan's joint fix below them.
    """
    repeated = "" if plan.joint_fix is None else plan.joint_fix.repeated
    cause = shared_cause(
        ((each.workload, each.reasons) for each in plan.workloads), plan.judgement.simulated
    )
    if cause is not None:
        subject = f"{counted(len(cause.workloads), 'workload')} with one cause"
        state = VERDICT_AFTER_A_NAME["cannot-tell"]
        yield Obstacle(subject, "cannot-tell", state, ((cause.message, cause.fix),))
    grouped = () if cause is None else cause.workloads
    found = _workload_obstacles(plan, grouped, repeated=repeated, every=every)
    yield from found if every else _with_equal_lines(found)


def _with_equal_lines(obstacles: Iterable[Obstacle]) -> Iterator[Obstacle]:
    """Yield the obstacles, with those of several workloads with equal reasons and fixes as one."""
    groups: dict[object, list[Obstacle]] = {}
    for each in obstacles:
        groups.setdefault((each.verdict, each.lines, each.changes), []).append(each)
    for group in groups.values():
        if len(group) < _FEWEST_ALIKE:
            yield from group
            continue
        subjects = [each.subject for each in group]
        more = len(subjects) - MOST_NAMED
        names = subjects if more <= 0 else [*subjects[:MOST_NAMED], f"{more} more"]
        pending = sum(each.pending for each in group)
        state = (
            f"{pending} of {counted(sum(each.pods for each in group), 'pod')} pending"
            if pending
            else group[0].state
        )
        yield replace(group[0], subject=f"{', '.join(names[:-1])} and {names[-1]}", state=state)


def _workload_obstacles(
    plan: Plan, grouped: Collection[WorkloadRef], *, repeated: str, every: bool
) -> Iterator[Obstacle]:
    for workload in plan.workloads:
        verdict = workload.verdicts[plan.level]
        if verdict == "fits" or not workload.reasons or workload.workload in grouped:
            continue
        told = tuple(
            _together(reason for reason in workload.reasons if reason.code != MISSING_POOL)
        )
        told = tuple((what, "" if fix and fix == repeated else fix) for what, fix in told)
        lines = told if every else told[:MOST_REASONS]
        hidden = len(told) - len(lines)
        if hidden:
            lines += ((f"and {hidden} more (--verbose shows them)", ""),)
        missing = tuple(
            _together(reason for reason in workload.reasons if reason.code == MISSING_POOL)
        )
        lines = (
            (*missing, *lines) if workload.reasons[0].code == MISSING_POOL else (*lines, *missing)
        )
        pods = counted(workload.placed + workload.pending, "pod")
        state = (
            f"{workload.pending} of {pods} pending"
            if workload.pending
            else VERDICT_AFTER_A_NAME[verdict]
        )
        yield Obstacle(
            str(workload.workload),
            verdict,
            state,
            lines,
            _changes(workload.reasons),
            workload.pending,
            workload.placed + workload.pending,
        )


def _changes(reasons: Iterable[Reason]) -> tuple[tuple[str, str], ...]:
    """Return the changes to selectors for the nearest pool. Changes for other pools might
    contradict these changes.
    """
    changing = [reason for reason in reasons if reason.changes]
    nearest = [reason for reason in changing if reason.pool == changing[0].pool]
    return tuple(dict.fromkeys(change for reason in nearest for change in reason.changes))


def diagnostics(plan: Plan) -> tuple[Diagnostic, ...]:
    """Return findings about objects, errors first."""
    order = {"error": 0, "warning": 1, "note": 2}
    # these findings are printed together with the reasons
    told = {each.workload for each in plan.workloads}
    apart = (
        each.diagnostic
        for each in plan.blockers
        if each.verdict == "fits" or told.isdisjoint(each.workloads)
    )
    found = (*plan.diagnostics, *apart, *plan.beside)
    return tuple(sorted(found, key=lambda each: (order[each.severity], each.place, each.code)))


def costs(plan: Plan) -> tuple[str, ...]:
    """Return the cost of the planned nodes with the date of the prices (or that the cost is
    unknown), and the shared limits.
    """
    return (*_costs(plan), *_spares(plan), *map(_limit, plan.limits))


def _spares(plan: Plan) -> tuple[str, ...]:
    """Return the number of spare nodes for node failures, and the setting that requires them."""
    survival = plan.judgement.survival
    if survival is None or plan.verdict != "fits":
        return ()
    spare = sum(survival.spare.values())
    tried = (
        f"{counted(survival.tried, 'case')} simulated"
        if survival.tried
        else "by the packing; not simulated"
    )
    nodes = (
        "None of these nodes is spare. If"
        if not spare
        else f"{spare} of these nodes {verb(spare, 'are')} spare. If"
    )
    return (f"{nodes} {lost(survival.asked)}, every pod can be placed again ({tried})",)


def _limit(use: LimitUse) -> str:
    limit = use.limit
    users = f"{_listed(limit.takes)}{' and the system pool' if limit.beside else ''}"
    return (
        f"{limit.name}: {use.used + limit.beside} of "
        f"{counted(limit.most + limit.beside, limit.unit)} used by {users}"
    )


def _listed(names: Iterable[str]) -> str:
    known = list(names)
    if len(known) > MOST_NAMED:
        return f"{', '.join(known[:MOST_NAMED])} and {len(known) - MOST_NAMED} more pools"
    return named("pool", known)


def _costs(plan: Plan) -> tuple[str, ...]:
    if plan.fleet is None:
        return ()
    if plan.judgement.is_observed:
        return _growth_costs(plan)
    nodes = sum(pool.nodes.desired for pool in plan.pools)
    if not nodes:
        return ()
    said = counted(nodes, "GPU node")
    if plan.verdict == "fits" and plan.nodes_bound == nodes:
        said += " (provably the fewest)"
    if plan.cost is None:
        if plan.verdict == "fits" and plan.nodes_bound < nodes:
            fewest = counted(plan.nodes_bound, "node")
            said += f" ({_compared_by(plan)}; every plan needs at least {fewest})"
        missing = ", ".join(
            pool.name for pool in plan.pools if pool.recommended and pool.hourly_usd is None
        )
        return (
            f"{said}; cost unknown, because {missing or 'a pool'} doesn't have a price (set "
            "pricePerHour)",
        )
    when = _price_source(plan)
    least = ""
    open_prices = [pool.name for pool in plan.pools if pool.hourly_usd is None]
    if plan.verdict == "fits" and open_prices:
        least = (
            "; it's unknown whether another plan costs less, because the price of "
            f"{_listed(open_prices)} is unknown"
        )
    elif plan.verdict == "fits":
        bound, gap = plan.cost.bound_usd, plan.cost.gap
        least = (
            f"; no plan costs less than {usd(bound)} (gap {gap:.2%}{_looser()})"
            if gap
            else "; no plan costs less"
        )
    return (f"{said}, {usd(plan.cost.hourly_usd)} per hour{when}{least}",)


def _compared_by(plan: Plan) -> str:
    """Return the value that the plan minimizes if the price of a used pool is unknown."""
    if all(pool.hourly_usd is None for pool in plan.pools):
        return "fewest devices first, without prices"
    return "pools without a price count as the most expensive"


def _price_source(plan: Plan) -> str:
    """Return the origin of the prices as the end of a sentence; "" if nothing has a price."""
    if plan.cost is not None and plan.cost.priced_on:
        return f", prices as of {plan.cost.priced_on}"
    pools = plan.fleet.pools if plan.fleet is not None else []
    return ", prices from the fleet" if any(p.price_per_hour is not None for p in pools) else ""


def _looser() -> str:
    """Return why the proven minimum might be too low, or "" if the solver is installed."""
    return (
        "" if find_spec("highspy") else (" without the `solver` extra, which gives tighter bounds")
    )


def _growth_costs(plan: Plan) -> tuple[str, ...]:
    more = sum(pool.nodes.desired - (pool.existing or 0) for pool in plan.pools)
    if not more:
        return ("No additional nodes are needed.",) if plan.verdict == "fits" else ()
    if plan.cost is None:
        return (
            (
                f"{counted(more, 'additional node')}; cost unknown, because a pool doesn't have a "
                "price (set pricePerHour)"
            ),
        )
    when = _price_source(plan)
    return (
        (f"{counted(more, 'additional node')}, {usd(plan.cost.hourly_usd)} per hour more{when}"),
    )


def simulation(plan: Plan) -> tuple[str, ...]:
    """Return the simulation's results as sentences, and whether a search ended at its limit."""
    found = plan.judgement.simulated
    said = _simulation_result(plan)
    if said and found is not None and found.complete and not plan.judgement.tried_all_fixes:
        return (
            *said,
            "The search for fixes reached its simulation limit. To raise the limit, use --simulate "
            "SECONDS.",
        )
    return said


def _simulation_result(plan: Plan) -> tuple[str, ...]:
    found = plan.judgement.simulated
    if plan.fleet is None or found is None:
        return ()
    tried = len(found.orders)
    scale = f", at a scale of 1:{found.scale}" if found.scale > 1 else ""
    without, placed = "", "all pods"
    if found.left_out:
        names = ", ".join(map(str, found.left_out[:MOST_NAMED]))
        more = len(found.left_out) - MOST_NAMED
        without = (
            " without workloads that don't fit any pool "
            f"({names}{f' and {more} more' if more > 0 else ''})"
        )
        placed = "all other pods"
    said = f"Simulated in {counted(tried, 'pod arrival order')}{scale}{without}: "
    if plan.judgement.is_observed:
        return _growth_simulation(said, found)
    if not found.at_packing:
        return (f"{said}{placed} fit on the packing's nodes in every order.",)
    pods = counted(max(each.pods for each in found.at_packing), "pod")
    said += f"the packing leaves up to {pods} pending in {counted(len(found.at_packing), 'order')}"
    if found.counts is not None:
        kept = (
            "; the fleet sets sizing: packing, so Pulumi builds the packing"
            if plan.fleet.sizing == "packing"
            else ""
        )
        return (f"{said}, {_beyond_packing(plan)} in none{kept}.", *_cheaper(plan))
    if not found.complete:
        return (
            (
                f"{said}; the simulation reached its time limit before it found enough nodes "
                f"for {placed} (to raise the limit, use --simulate SECONDS)."
            ),
        )
    return (
        (
            f"{said}, and the search didn't find node counts within the maximums that place "
            "all pods."
        ),
    )


def _beyond_packing(plan: Plan) -> str:
    """Return how the simulated counts differ from the packing, which can have more nodes in some
    pools.
    """
    simulated = {pool.name: pool.simulated or 0 for pool in plan.pools}
    more = sum(simulated.values()) - sum(pool.packing for pool in plan.pools)
    if all(simulated[pool.name] >= pool.packing for pool in plan.pools):
        return counted(more, "more node")
    nodes = ", ".join(f"{count} × {name}" for name, count in simulated.items() if count)
    return f"other nodes ({nodes})"


def _growth_simulation(said: str, found: SimulatedCounts) -> tuple[str, ...]:
    if not found.at_packing:
        return (f"{said}all pods fit on the existing nodes in every order.",)
    pods = counted(max(each.pods for each in found.at_packing), "pod")
    said += f"the existing nodes leave up to {pods} pending in {counted(len(found.at_packing), 'order')}"
    if found.counts is not None:
        return (f"{said}, but with the new nodes, no pods stay pending.",)
    if not found.complete:
        return (
            (
                f"{said}; the simulation reached its time limit before it found the number of "
                "additional nodes (to raise the limit, use --simulate SECONDS)."
            ),
        )
    return (
        (
            f"{said}, and the search didn't find node counts within the maximums that place "
            "all pods."
        ),
    )


def _cheaper(plan: Plan) -> tuple[str, ...]:
    """Return the change with which all pods fit on cheaper nodes, and the savings compared with the
    planned nodes.
    """
    if not plan.judgement.fixes:
        return ()
    fix = plan.judgement.fixes[0]
    built = {pool.name: pool.recommended - pool.spare for pool in plan.pools}
    fewer = sum(built.values()) - sum(fix.counts.values())
    saved = saved_usd(fix, built, plan.offers)
    if fewer <= 0 and not saved:
        return ()
    worth = [f"{counted(fewer, 'fewer node')}"] if fewer > 0 else []
    worth += [f"{usd(saved)} per hour less"] if saved else []
    sentence = fix_sentence(fix)
    return (
        (
            f"{sentence[0].upper()}{sentence[1:]}: {', '.join(worth)}, and all pods still fit "
            "(simulated)."
        ),
    )


def _together(reasons: Iterable[Reason]) -> Iterator[tuple[str, str]]:
    """Yield each reason with its fix. If several pools have the same reason, it appears once, with
    the names of the pools.
    """
    pools: dict[tuple[str, str], list[str]] = {}
    for reason in reasons:
        named = pools.setdefault((reason.message, reason.fix), [])
        if reason.pool and f'"{reason.pool}"' not in reason.message and reason.pool not in named:
            named.append(reason.pool)
    for (message, fix), names in pools.items():
        yield (f"{_pool_names(names)}: {message}" if names else message), fix


def _pool_names(names: Sequence[str]) -> str:
    """Return names separated by commas. If there are many names, return only the first few."""
    if len(names) <= _MOST_NAMES + 1:
        return ", ".join(names)
    return f"{', '.join(names[:_MOST_NAMES])} and {len(names) - _MOST_NAMES} more pools"
