"""The additional output of `plan --detail`, as the published JSON."""

from __future__ import annotations

from decimal import Decimal

from dra_command.plan_report.contract.detail import (
    ClaimCostRow,
    DetailRow,
    NamespaceCostRow,
    OneNodeMoreRow,
    OnePodMoreRow,
    StrandedRow,
)
from dra_command.plan_report.json.nodes import name_row
from dra_planner.plan import Plan
from dra_planner.plan.nodes.cost_shares import claim_shares, cost_shares, namespace_shares
from dra_planner.plan.nodes.groups import FilledNodes
from dra_planner.plan.nodes.stranded import Stranded, stranded_reasons
from dra_planner.plan.suggestion.marginal_costs import OneNodeMore, OnePodMore, find_one_more


def detail_row(plan: Plan, filled: FilledNodes) -> DetailRow | None:
    """Return the details other than the devices of claims. None for existing nodes, because their
    number isn't planned.
    """
    more = find_one_more(plan)
    if more is None:
        return None
    return DetailRow(
        claim_costs=[
            ClaimCostRow(
                workload=name_row(each.workload),
                claim=each.claim,
                claims=each.claims,
                each=float(each.each_usd),
                hourly=float(each.hourly_usd),
            )
            for each in claim_shares(plan, filled)
        ],
        namespace_costs=[
            NamespaceCostRow(namespace=name, hourly=float(usd))
            for name, usd in namespace_shares(cost_shares(plan, filled)).items()
        ],
        pods=[_pod(each) for each in more.pods],
        nodes=[_node(each) for each in more.nodes],
        stranded=[_stranded(each) for each in stranded_reasons(plan)],
        not_sized=more.left_out,
    )


def _pod(more: OnePodMore) -> OnePodMoreRow:
    return OnePodMoreRow(
        workload=name_row(more.workload),
        pod_set=more.pod_set,
        room=more.room,
        room_is_least=more.is_least,
        verdict=more.verdict,
        hourly=_number(more.hourly_usd),
        nodes=dict(more.nodes),
    )


def _node(more: OneNodeMore) -> OneNodeMoreRow:
    return OneNodeMoreRow(
        name=more.name, pool=more.pool, saves=_number(more.saves_usd), pods=more.pods
    )


def _stranded(stranded: Stranded) -> StrandedRow:
    return StrandedRow(
        pool=stranded.pool,
        nodes=stranded.nodes,
        devices=dict(stranded.devices),
        workload=None if stranded.workload is None else name_row(stranded.workload),
        lacks=stranded.lacks,
    )


def _number(usd: Decimal | None) -> float | None:
    return None if usd is None else float(usd)
