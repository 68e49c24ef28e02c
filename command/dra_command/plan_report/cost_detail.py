"""The additional output of `plan --detail`: devices of claims, cost shares, the cost of one more
pod or node, and the reasons why devices are stranded.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from dra_command.claim_report.shares import share_cells
from dra_command.pens.table import Table
from dra_command.pens.verdict_words import VERDICT_WORDS
from dra_command.pens.visible_text import visible
from dra_planner.plan import Plan, detail_claims
from dra_planner.plan.nodes.cost_shares import claim_shares, cost_shares, namespace_shares
from dra_planner.plan.nodes.groups import FilledNodes
from dra_planner.plan.nodes.stranded import stranded_reasons
from dra_planner.plan.suggestion.marginal_costs import OneMore, OnePodMore, find_one_more
from dra_planner.wording import counted


def detail_tables(plan: Plan, filled: FilledNodes) -> Iterator[Table]:
    """Yield the tables that have rows. The first table contains the devices of the claims."""
    yield _claims_table(plan, filled)
    more = find_one_more(plan)
    tables = [_claim_costs(plan, filled), _namespaces(plan, filled)]
    if more is not None:
        tables += [_pods(more), _nodes(more), _stranded(plan)]
    yield from (table for table in tables if table.rows)


def _claims_table(plan: Plan, filled: FilledNodes) -> Table:
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
    other = ", not from the simulation above" if filled.source == "simulated" else ""
    note = (
        ""
        if plan.judgement.is_observed
        else f"devices from the packing{other}; the scheduler might choose other devices"
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


def _claim_costs(plan: Plan, filled: FilledNodes) -> Table:
    rows = tuple(
        (
            visible(each.title),
            str(each.claims),
            _usd(each.each_usd),
            _usd(each.hourly_usd),
        )
        for each in claim_shares(plan, filled)
    )
    note = (
        "claim cost: its devices' share of the node price, rounded so that the sum equals the cost "
        "of the nodes"
    )
    return Table(
        "Cost of claims",
        ("claim", "claims", "USD/h each", "USD/h"),
        rows,
        frozenset({1, 2, 3}),
        note,
    )


def _namespaces(plan: Plan, filled: FilledNodes) -> Table:
    sums = namespace_shares(cost_shares(plan, filled))
    rows = tuple((visible(name), _usd(usd)) for name, usd in sums.items())
    return Table("Cost of namespaces", ("namespace", "USD/h"), rows, frozenset({1}))


def _pods(more: OneMore) -> Table:
    rows = tuple(
        (
            visible(f"{each.workload}{f' ({each.pod_set})' if each.pod_set else ''}"),
            "not known"
            if each.room is None
            else f"{each.room}{' at least' if each.is_least else ''}",
            _price(each),
            _on(each),
        )
        for each in more.pods
    )
    note = (
        "free: additional pods that fit on the planned nodes · one more: 0.00 if the pod fits, "
        "otherwise its additional cost in the packing"
    )
    left = f" · {more.left_out} pods and nodes not computed" if more.left_out else ""
    return Table(
        "One more pod",
        ("workload", "free", "one more, USD/h", "nodes"),
        rows,
        frozenset({1, 2}),
        note + left,
    )


def _price(more: OnePodMore) -> str:
    if more.verdict is None:
        return "not sized"
    if more.verdict != "fits":
        return VERDICT_WORDS[more.verdict]
    return "unknown" if more.hourly_usd is None else _usd(more.hourly_usd)


def _on(more: OnePodMore) -> str:
    """Return the nodes on which one more pod would run."""
    if more.verdict != "fits" or more.room:
        return ""
    changes = ", ".join(f"{nodes:+d} {visible(pool)}" for pool, nodes in more.nodes)
    return changes or "none (placed differently)"


def _nodes(more: OneMore) -> Table:
    rows = tuple(
        (
            visible(each.name),
            "unknown" if each.saves_usd is None else _usd(each.saves_usd),
            str(each.pods),
        )
        for each in more.nodes
        if each.saves_usd or each.pods
    )
    note = "saves: reduction in the best packing's cost (unknown if pods are already pending)"
    heads = ("one more node of", "saves, USD/h", "more pods")
    return Table("One more node", heads, rows, frozenset({1, 2}), note)


def _stranded(plan: Plan) -> Table:
    rows = tuple(
        (
            visible(each.pool),
            str(each.nodes),
            " and ".join(counted(number, kind) for kind, number in each.devices),
            visible(each.lacks if each.workload is None else f"{each.workload}: {each.lacks}"),
        )
        for each in stranded_reasons(plan)
    )
    return Table(
        "Stranded", ("pool", "nodes", "free devices", "why no pod uses them"), rows, frozenset({1})
    )


def _usd(usd: Decimal) -> str:
    return f"{usd:,.2f}"
