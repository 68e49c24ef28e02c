"""What is proved about a plan, as data that another program can check: see conformance/certificate/check.py.

The document holds the model (what a node has of each row, what each item takes of it), the demand, for every part of
the fleet the prices of items and rows with what no node is worth more than, what pools share with its price, and the
packing. All numbers are integers, but the bound and the prices of what is shared: fractions written as text.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from dra_planner.sizing.bound.exact import CapacityRow, Certificate, Worth
from dra_planner.sizing.bound.proof import ConnectedPools
from dra_planner.sizing.result import Evidence, Sizing


def certificate_of(sizing: Sizing) -> dict[str, Any]:
    """Return the certificate of a sizing as plain data; raises ValueError where its sizing kept no evidence."""
    evidence = sizing.evidence
    if evidence is None:
        raise ValueError("the sizing has no evidence")
    is_infeasible = bool(evidence.proof.excessive)
    parts = [_part(part, evidence, is_infeasible=is_infeasible) for part in evidence.proof.parts]
    return {
        "version": 1,
        "level": sizing.level,
        "unit": "nodes" if set(evidence.costs) <= {1} else "micro-dollars",
        "demand": {evidence.items[item]: count for item, count in sorted(evidence.model.demand.items())},
        "pools": [_pool(at, evidence) for at in range(len(evidence.pools))],
        "limits": [
            {
                "name": limit.name,
                "most": limit.most,
                "takes": {evidence.pools[pool]: takes for pool, takes in sorted(limit.takes.items())},
            }
            for limit in evidence.model.limits
        ],
        "claim": "infeasible" if is_infeasible else "cost",
        "parts": parts,
        "bound": None if is_infeasible else str(sum((Fraction(part["bound"]) for part in parts), Fraction(0))),
        "pending": sum(each.pending for each in sizing.workloads),
        "packing": [
            {
                "pool": evidence.pools[pool],
                "nodes": nodes,
                "items": {evidence.items[item]: count for item, count in sorted(held.items())},
            }
            for pool, nodes, held in evidence.packing
        ],
    }


def _pool(at: int, evidence: Evidence) -> dict[str, Any]:
    pool, plain = evidence.model.pools[at], evidence.plain[at]
    return {
        "name": evidence.pools[at],
        "minimum": pool.minimum,
        "maximum": pool.maximum,
        "cost": evidence.costs[at],
        "most": {evidence.items[item]: most for item, most in sorted(pool.most.items())},
        "rows": [_row(row, evidence) for row in pool.rows[:plain]],
        "rounded": [_row(row, evidence) for row in pool.rows[plain:]],
    }


def _row(row: CapacityRow, evidence: Evidence) -> dict[str, Any]:
    needs = {evidence.items[item]: need for item, need in sorted(row.needs.items())}
    return {"name": row.name, "capacity": row.capacity, "needs": needs}


def _part(part: ConnectedPools, evidence: Evidence, *, is_infeasible: bool) -> dict[str, Any]:
    """Return the prices that prove most of one part, in integers."""
    costs = [Fraction(cost) for cost in evidence.costs]
    nothing = Certificate(items={}), Worth(0, {})
    told = [each for each in part.worths if each[1].is_infeasible(part.model)] if is_infeasible else list(part.worths)
    certificate, worth = max(told, key=lambda each: each[1].estimate(part.model, costs), default=nothing)
    whole = _scale(certificate, part, worth)
    floor = sum(costs[pool] * part.model.pools[pool].minimum for pool in part.pools)
    return {
        "pools": [evidence.pools[pool] for pool in part.pools],
        "items": {
            evidence.items[at]: int(price * whole)
            for at, price in sorted(certificate.items.items())
            if price and at in part.model.demand
        },
        "rows": {
            evidence.pools[pool]: {
                part.model.pools[pool].rows[at].name: int(price * whole) for at, price in sorted(prices.items())
            }
            for pool, prices in sorted(certificate.rows.items())
            if pool in part.pools
        },
        "limits": {
            name: str(price)
            for name, price in sorted(worth.limit_prices(part.model, costs).items())
            if not is_infeasible
        },
        "worth": {evidence.pools[pool]: value for pool, value in sorted(worth.nodes.items())},
        "bound": str(max(Fraction(floor), worth.cost(part.model, costs)) if worth.nodes else Fraction(floor)),
    }


def _scale(certificate: Certificate, part: ConnectedPools, worth: Worth) -> Fraction:
    """Return what makes integers of the prices, the same by which the worth was made."""
    known = sum((price * part.model.demand.get(item, 0) for item, price in certificate.items.items()), Fraction(0))
    return Fraction(worth.demand) / known if known else Fraction(1)
