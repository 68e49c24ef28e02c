"""A plan as an HTML page that contains all figures, no scripts, and no external resources."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

from dra_command.claim_report.joint_fix import joint_fix_title
from dra_command.pens.html.line_breaks import with_unbroken_counts
from dra_command.pens.html.page import fold, render_page
from dra_command.pens.signs import DRAWN
from dra_command.pens.table import Table
from dra_command.pens.visible_text import short
from dra_command.plan_report.alternatives import alternative_lines
from dra_command.plan_report.cost_detail import detail_tables
from dra_command.plan_report.cost_sentences import costs
from dra_command.plan_report.difference import difference_line, difference_table
from dra_command.plan_report.figures import has_many, is_shared
from dra_command.plan_report.guards import (
    comparison_table,
    guards_table,
    rules_table,
    without_guards,
)
from dra_command.plan_report.headline import setting, verdict_parts
from dra_command.plan_report.html.parts import (
    MOST_SHARES,
    Drawer,
    claim_tree,
    report_entries,
)
from dra_command.plan_report.pod_requests import pod_requests, requests_sentence
from dra_command.plan_report.simulation_sentences import simulation
from dra_command.plan_report.tables.pools import NOT_SIMULATED, is_left_unsimulated, pool_table
from dra_command.plan_report.tables.view import MOST_ROWS, PlanView
from dra_command.plan_report.tables.workloads import pools_of
from dra_command.plan_report.workload_order import listed_workloads, pending_pods
from dra_planner.model import DEMAND_LEVELS
from dra_planner.plan import Plan
from dra_planner.plan.explanation.claims import explain_failing
from dra_planner.plan.nodes.cost_shares import cost_shares
from dra_planner.plan.nodes.devices import NIC, SLICE
from dra_planner.plan.nodes.groups import FilledNodes
from dra_planner.plan.nodes.order_outcomes import order_outcomes
from dra_planner.plan.saved.difference import PlanDifference
from dra_planner.wording import counted

_MOST_FINDINGS: Final = 10
_MOST_CLAIMS: Final = 6
_MOST_OUTCOMES: Final = 6
_MOST_DRAWN: Final = 6
_MOST_DETAILS: Final = 40  # rows of a table that the page doesn't collapse
_MEANINGS: Final = (
    ("fits", "every pod gets a node, in every simulated pod arrival order"),
    ("does not fit", "proven: a claim doesn't fit on any node, or the bound exceeds the maximum"),
    (
        "cannot tell",
        "a fact that affects the result is unknown, or the scheduler might not find the packing",
    ),
    (
        "floor, steady, ceiling, peak",
        "the autoscaler's minimum, the replicas in the manifests, the autoscaler's maximum, "
        "and that maximum plus the rollout surge",
    ),
    ("bound", "proven minimum number of nodes"),
    ("packing", "number of nodes in the best packing that the plan found"),
    (
        "simulated",
        (
            "number of nodes with which the default scheduler places all pods in every "
            "simulated pod arrival order"
        ),
    ),
    (
        "recommended",
        "number of nodes to create: the simulated number, or the packing's number if the fleet "
        "sets sizing: packing",
    ),
    ("used, free, stranded", "stranded devices are free, but no pod can use them"),
    ("pending", "a pod without a node"),
)


def plan_html(
    plan: Plan, *, stack: str = "", detail: bool = False, difference: PlanDifference | None = None
) -> str:
    """Return the plan as an HTML document; `detail` adds the devices of each claim."""
    context = _context(plan, detail=detail, difference=difference)
    words, level, remarks = verdict_parts(plan)
    decision = (
        f"{remarks[:1].upper()}{remarks[1:]}{level}"
        if remarks
        else f"Checked{level or ' at steady demand'}"
    )
    if difference is not None:
        decision = f"{decision}; {difference_line(difference)}"
    where = f"pulumi-dra plan{f' · stack {stack}' if stack else ''}"
    return render_page(
        "plan_report/html/plan.html.j2",
        where=where,
        verdict=plan.verdict,
        headline=words if plan.stalled else "",
        decision=f"{decision}.",
        **context,
    )


def _context(plan: Plan, *, detail: bool, difference: PlanDifference | None) -> dict[str, Any]:
    view = PlanView.of(plan, DRAWN, width=200)
    drawer = Drawer(plan, view.filled, view.letters)
    has_levels = bool(plan.workloads) and not plan.judgement.is_observed
    is_changed = difference is not None and not difference.is_empty
    context: dict[str, Any] = {
        "facts": list(_facts(plan)),
        "levels": [(level, plan.verdict_at(level)) for level in DEMAND_LEVELS if has_levels],
        "difference": difference_table(difference) if difference and is_changed else None,
        **_reasons(plan, drawer),
        **_workloads(plan, view, drawer),
        **_pools(plan, view, drawer),
        **_prices(plan, view.filled, drawer),
        "simulation": (*alternative_lines(plan), *simulation(plan)),
        "guards": guards_table(plan),
        "comparison": comparison_table(plan),
        "rules": rules_table(plan),
        "without_guards": "" if plan.guarded is None else f"W{without_guards(plan.guarded)[1:]}.",
        "strip": _strip(plan),
        "details": _details(plan, view.filled) if detail else [],
        "most_rows": _MOST_DETAILS,
        "assumptions": plan.assumptions,
        "assumptions_title": counted(len(plan.assumptions), "assumption"),
        "meanings": _MEANINGS,
    }
    context["sections"] = list(_sections(context))
    return context


def _reasons(plan: Plan, drawer: Drawer) -> dict[str, Any]:
    """Return the findings, the claims that don't fit any pool, and the pod arrival orders in which
    pods stay pending.
    """
    findings, more_findings = fold(list(report_entries(plan)), _MOST_FINDINGS)
    trees = (
        claim_tree(each)
        for each in (explain_failing(plan.judgement) if plan.running != "fits" else ())
    )
    found = plan.judgement.simulated
    has_outcomes = found is not None and found.counts is None and found.at_maximum
    ends = order_outcomes(plan) if has_outcomes else ()
    return {
        "findings": findings,
        "more_findings": more_findings,
        "joint_fix": plan.joint_fix,
        "joint_fix_title": "" if plan.joint_fix is None else joint_fix_title(plan.joint_fix),
        "claims": list(islice((each for each in trees if each is not None), _MOST_CLAIMS)),
        "outcomes": [drawer.outcome(end) for end in ends[:_MOST_OUTCOMES]],
        "orders": len(found.orders) if found is not None else 0,
        "outcomes_on": "with every pool at its maximum",
    }


def _node_source(filled: FilledNodes) -> str:
    """Return which number of nodes the figures show, or "" for the nodes of a snapshot."""
    if filled.source == "simulated":
        return f"as simulated, order {filled.order}"
    return "from the packing" if filled.source == "packing" else ""


def _pools(plan: Plan, view: PlanView, drawer: Drawer) -> dict[str, Any]:
    """Return the table of pools, and the figures of their nodes and devices."""
    filled = view.filled
    pools = [
        drawer.pool(pool)
        for pool in plan.pools
        if filled.of_pool(pool.name) or not plan.judgement.is_observed
    ]
    used = [pool for pool in pools if pool.groups]
    drawn, folded = fold(used, _MOST_DRAWN)
    kinds = {kind.kind for group in filled.groups for kind in group.kinds}
    return {
        "place": "node" if plan.fleet is None else "pool",
        "pools_title": "Nodes" if plan.fleet is None else "Pools",
        "pools": _pools_table(plan, filled),
        "drawn": drawn,
        "folded": folded,
        "node_source": _node_source(filled),
        "shared": is_shared(filled),
        "many": has_many(filled, view.letters),
        "stranded": any(kind.stranded for group in filled.groups for kind in group.kinds),
        "charted": any(pool.chart for pool in used),
        "nics": NIC in kinds,
        "slices": SLICE in kinds,
    }


def _prices(plan: Plan, filled: FilledNodes, drawer: Drawer) -> dict[str, Any]:
    """Return the cost of each pool, and the share of each workload."""
    shares = cost_shares(plan, filled)
    is_long = len(shares) > MOST_SHARES + 3
    hidden = shares[MOST_SHARES:] if is_long else ()
    sentences = " ".join(f"{line}." for line in costs(plan))
    return {
        "costs": _costs(plan),
        "cost_note": f"{sentences} The cost of a workload is its devices' share of the node price. NICs "
        "don't have a separate cost.",
        "shares": drawer.shares(shares[:MOST_SHARES] if is_long else shares),
        "hidden_shares": f"{len(hidden)} more" if hidden else "",
        "hidden_usd": f"{sum(each.hourly_usd for each in hidden):,.2f}",
        "total": "" if plan.cost is None else f"{plan.cost.hourly_usd:,.2f}",
    }


def _details(plan: Plan, filled: FilledNodes) -> list[Table]:
    return list(detail_tables(plan, filled))


def _facts(plan: Plan) -> Iterator[tuple[str, str]]:
    if plan.fleet is not None and not plan.judgement.is_observed:
        recommended = sum(pool.recommended for pool in plan.pools)
        packing = sum(pool.packing for pool in plan.pools)
        simulated = [pool.simulated for pool in plan.pools if pool.simulated is not None]
        missing = NOT_SIMULATED if is_left_unsimulated(plan) else "not found"
        nodes = f"{sum(simulated)}" if len(simulated) == len(plan.pools) else missing
        yield (
            "Nodes",
            (
                f"{recommended} recommended · bound {plan.nodes_bound} · packing {packing} · "
                "simulated "
                f"{nodes}"
            ),
        )
    priced = (
        f" · prices as of {plan.cost.priced_on}"
        if plan.cost is not None and plan.cost.priced_on
        else ""
    )
    yield "Checked for", f"{setting(plan)} · {plan.level} demand{priced}"


def _sections(context: dict[str, Any]) -> Iterator[tuple[str, str]]:
    named = (
        ("difference", "difference", "Difference"),
        ("findings", "findings", "Findings"),
        ("joint_fix", "joint-fix", "Fix for all workloads"),
        ("claims", "claims", "Claims"),
        ("outcomes", "orders", "Pod arrival orders"),
        ("guards", "guards", "Guards"),
        ("workloads", "workloads", "Workloads"),
        ("pools", "pools", context["pools_title"]),
        ("costs", "cost", "Cost"),
        ("simulation", "simulation", "Simulation"),
        ("details", "details", "Details"),
    )
    yield from ((anchor, name) for key, anchor, name in named if context[key])
    yield "assumed", "Assumptions"


def _workloads(plan: Plan, view: PlanView, drawer: Drawer) -> dict[str, Any]:
    """Return the rows of workloads, with pending pods first. The page shows 15 of them and
    collapses the others.
    """
    levels = (plan.level,) if plan.judgement.is_observed else DEMAND_LEVELS
    requests = pod_requests(plan.demand)
    rows = [
        {
            "key": drawer.key(each.workload),
            "name": short(str(each.workload)),
            "requests": requests_sentence(requests.get(each.workload, ())),
            "pool": with_unbroken_counts(pools_of(view, each)),
            "pending": pending_pods(plan, each) or "0",
            "levels": [
                (
                    level,
                    "any" if each.figures.at(level) is None else each.figures.at(level),
                    each.verdicts[level],
                )
                for level in levels
            ],
        }
        for each in listed_workloads(plan)
    ]
    shown, more = fold(rows, MOST_ROWS)
    pending = any(pending_pods(plan, each) for each in plan.workloads)
    requesting = any(row["requests"] for row in rows)
    return {
        "workloads": shown,
        "more_workloads": more,
        "has_pending": pending,
        "has_requests": requesting,
    }


def _pools_table(plan: Plan, filled: FilledNodes) -> Table:
    """Return the numbers for each pool and its devices, from which the pool's chart is drawn."""
    if plan.judgement.is_observed:
        return pool_table(PlanView.of(plan, DRAWN, width=200))
    kinds = {pool.name: filled.kinds(pool.name) for pool in plan.pools}
    stranded = any(kind.stranded for of_pool in kinds.values() for kind in of_pool)
    rows = tuple(
        (
            short(pool.name),
            short(pool.machine),
            *map(str, (pool.minimum, pool.bound, pool.packing)),
            "–" if pool.simulated is None else str(pool.simulated),
            str(pool.nodes.desired),
            str(pool.maximum),
            ", ".join(
                f"{kind.used} of {counted(kind.total, kind.kind)}" for kind in kinds[pool.name]
            )
            or "none",
            *(
                [
                    ", ".join(
                        counted(kind.stranded, kind.kind)
                        for kind in kinds[pool.name]
                        if kind.stranded
                    )
                    or "0"
                ]
                if stranded
                else []
            ),
        )
        for pool in plan.pools
    )
    numbers = ("min", "bound", "packing", "simulated", "built", "max")
    heads = ("pool", "machine", *numbers, "devices used", *(("stranded",) if stranded else ()))
    note = (
        f"Nodes at {plan.level} demand. Built: the recommended number, or more if the cloud "
        "or the minimum requires it."
    )
    return Table("Pools", heads, rows, frozenset(range(2, 8)), note)


def _costs(plan: Plan) -> Table | None:
    if (
        plan.fleet is None
        or plan.judgement.is_observed
        or not any(pool.nodes.desired for pool in plan.pools)
    ):
        return None
    rows = [
        (
            short(pool.name),
            str(pool.nodes.desired),
            "unknown" if pool.hourly_usd is None else f"{pool.hourly_usd:,.2f}",
            "unknown"
            if pool.hourly_usd is None
            else f"{pool.nodes.desired * pool.hourly_usd:,.2f}",
        )
        for pool in plan.pools
        if pool.nodes.desired
    ]
    if len(rows) > 1 and plan.cost is not None:
        rows.append(
            (
                "total",
                str(sum(pool.nodes.desired for pool in plan.pools)),
                "",
                f"{plan.cost.hourly_usd:,.2f}",
            )
        )
    return Table(
        "Cost per pool", ("pool", "nodes", "USD/h each", "USD/h"), tuple(rows), frozenset({1, 2, 3})
    )


def _strip(plan: Plan) -> Table | None:
    """Return the number of pending pods in each pod arrival order, if pods stay pending on the
    packing's nodes.
    """
    found = plan.judgement.simulated
    if found is None or not found.at_packing or plan.judgement.is_observed:
        return None
    at_packing = {str(each.order): each.pods for each in found.at_packing}
    at_maximum = {str(each.order): each.pods for each in found.at_maximum}
    rows = []
    for order in map(str, found.orders):
        last = (
            "0"
            if found.counts is not None
            else str(at_maximum.get(order, 0))
            if found.at_maximum
            else "–"
        )
        rows.append((order, str(at_packing.get(order, 0)), last))
    built = "on the simulated nodes" if found.counts is not None else "at the maximums"
    heads = ("pod arrival order", "on the packing's nodes", built)
    return Table("Pods pending", heads, tuple(rows), frozenset({1, 2}))
