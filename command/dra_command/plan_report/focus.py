"""The cost of a plan as rows of the FinOps Open Cost and Usage Specification (FOCUS) 1.2, in CSV.

A row is the share of one workload's claims in the price of the nodes for one month; the last row is
capacity that no claim uses. Columns that begin with `x_` are custom columns, as the specification
requires. Source: FinOps-Open-Cost-and-Usage-Spec/FOCUS_Spec:specification/columns@v1.2 (seen
2026-11-26).
"""

from __future__ import annotations

import csv
import io
import json
from calendar import monthrange
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from typing import Final

from msgspec import Struct

from dra_planner import catalog
from dra_planner.fleet import Fleet
from dra_planner.plan import Plan
from dra_planner.plan.nodes.cost_shares import claim_shares
from dra_planner.plan.nodes.groups import FilledNodes

_TEAM_LABELS: Final = ("team", "app.kubernetes.io/team")
_UNIT: Final = Decimal("0.0001")
COLUMNS: Final = (
    "BilledCost",
    "BillingAccountId",
    "BillingAccountName",
    "BillingCurrency",
    "BillingPeriodEnd",
    "BillingPeriodStart",
    "ChargeCategory",
    "ChargeClass",
    "ChargeDescription",
    "ChargeFrequency",
    "ChargePeriodEnd",
    "ChargePeriodStart",
    "ConsumedQuantity",
    "ConsumedUnit",
    "ContractedCost",
    "EffectiveCost",
    "InvoiceIssuerName",
    "ListCost",
    "PricingCategory",
    "PricingQuantity",
    "PricingUnit",
    "ProviderName",
    "PublisherName",
    "RegionId",
    "ResourceId",
    "ResourceName",
    "ResourceType",
    "ServiceCategory",
    "ServiceName",
    "ServiceSubcategory",
    "SubAccountId",
    "Tags",
    "x_Team",
    "x_Namespace",
    "x_Workload",
    "x_Claim",
    "x_Claims",
)


class _Charge(Struct, frozen=True, kw_only=True):
    hourly_usd: Decimal
    what: str
    team: str = ""
    namespace: str = ""
    workload: str = ""
    claim: str = ""
    claims: int = 0


def focus_rows(
    plan: Plan, fleet: Fleet, filled: FilledNodes, month: date, stack: str = ""
) -> Iterator[dict[str, str]]:
    """Yield the rows for a month, by column. There are none if a price is unknown or the nodes
    already exist.
    """
    hours = monthrange(month.year, month.month)[1] * 24
    provider = catalog.cloud_titles()[fleet.cloud]
    for charge in _charges(plan, filled):
        cost = str((charge.hourly_usd * hours).quantize(_UNIT))
        tags = {
            "namespace": charge.namespace,
            "team": charge.team,
            "workload": charge.workload,
            "claim": charge.claim,
        }
        yield {
            **dict.fromkeys(("BilledCost", "ContractedCost", "EffectiveCost", "ListCost"), cost),
            **dict.fromkeys(("BillingPeriodStart", "ChargePeriodStart"), _instant(month)),
            **dict.fromkeys(("BillingPeriodEnd", "ChargePeriodEnd"), _instant(_next(month))),
            **dict.fromkeys(("InvoiceIssuerName", "ProviderName", "PublisherName"), provider),
            **dict.fromkeys(("ConsumedQuantity", "PricingQuantity"), str(hours)),
            **dict.fromkeys(("ConsumedUnit", "PricingUnit"), "Hours"),
            "BillingAccountId": "planned",
            "BillingAccountName": "planned",
            "BillingCurrency": "USD",
            "ChargeCategory": "Usage",
            "ChargeClass": "",
            "ChargeDescription": charge.what,
            "ChargeFrequency": "Usage-Based",
            "PricingCategory": "Standard",
            "RegionId": fleet.region,
            "ResourceId": "/".join(
                filter(None, (stack, charge.namespace, charge.workload, charge.claim))
            )
            or "unused",
            "ResourceName": charge.claim,
            "ResourceType": "ResourceClaim" if charge.claim else "Node",
            "ServiceCategory": "Compute",
            "ServiceName": provider,
            "ServiceSubcategory": "Virtual Machines",
            "SubAccountId": stack,
            "Tags": json.dumps(
                {key: value for key, value in tags.items() if value}, sort_keys=True
            ),
            "x_Team": charge.team,
            "x_Namespace": charge.namespace,
            "x_Workload": charge.workload,
            "x_Claim": charge.claim,
            "x_Claims": str(charge.claims),
        }


def focus_csv(plan: Plan, fleet: Fleet, filled: FilledNodes, month: date, stack: str = "") -> str:
    """Return the rows as CSV with a header."""
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(focus_rows(plan, fleet, filled, month, stack))
    return out.getvalue()


def _charges(plan: Plan, filled: FilledNodes) -> Iterator[_Charge]:
    shares = claim_shares(plan, filled)
    for share in shares:
        namespace = share.workload.namespace
        yield _Charge(
            hourly_usd=share.hourly_usd,
            what=f"Devices of claim {share.claim} for {share.workload}",
            team=_team(plan, namespace),
            namespace=namespace,
            workload=str(share.workload),
            claim=share.claim,
            claims=share.claims,
        )
    if plan.cost is not None and not plan.judgement.is_observed:
        unused = plan.cost.hourly_usd - sum((share.hourly_usd for share in shares), Decimal(0))
        yield _Charge(hourly_usd=unused, what="Planned node capacity that no claim uses")


def _team(plan: Plan, namespace: str) -> str:
    """Return the team in the labels of a namespace, or otherwise the namespace."""
    labels = plan.demand.namespaces.get(namespace, {})
    return next((labels[key] for key in _TEAM_LABELS if labels.get(key)), namespace)


def _instant(day: date) -> str:
    return f"{day.isoformat()}T00:00:00Z"


def _next(month: date) -> date:
    return date(month.year + month.month // 12, month.month % 12 + 1, 1)
