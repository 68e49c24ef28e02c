"""The proof of a plan's bound as data that another program can check: see
conformance/certificate/check.py.

The document contains the model (each row's capacity of a node, and each item's needs), the demand,
the prices of items and rows for every part of the fleet with the maximum worth of a node, shared
limits with their prices, and the packing. A part can be divided into cases (at most n nodes of a
pool, or more), each with its own prices. All numbers are integers, except the bound and the prices
of shared limits, which are fractions written as text.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from dra_planner.sizing.bound.cases import Case, model_of
from dra_planner.sizing.bound.exact import BoundModel, CapacityRow, Certificate, Worth
from dra_planner.sizing.bound.proof import ConnectedPools
from dra_planner.sizing.result import Evidence, Sizing


def certificate_of(sizing: Sizing) -> dict[str, Any]:
    """Return the certificate of a sizing as plain data. Raises ValueError if the sizing kept no
    evidence.
    """
    evidence = sizing.evidence
    if evidence is None:
        raise ValueError("the sizing has no evidence")
    is_infeasible = bool(evidence.proof.excessive)
    parts = [_part(part, evidence, is_infeasible=is_infeasible) for part in evidence.proof.parts]
    return {
        "version": 1,
        "level": sizing.level,
        "unit": "nodes" if set(evidence.costs) <= {1} else "micro-dollars",
        "demand": {
            evidence.items[item]: count for item, count in sorted(evidence.model.demand.items())
        },
        "pools": [_pool(at, evidence) for at in range(len(evidence.pools))],
        "limits": [
            {
                "name": limit.name,
                "most": limit.most,
                "takes": {
                    evidence.pools[pool]: takes for pool, takes in sorted(limit.takes.items())
                },
            }
            for limit in evidence.model.limits
        ],
        "claim": "infeasible" if is_infeasible else "cost",
        "parts": parts,
        "bound": None
        if is_infeasible
        else str(sum((Fraction(part["bound"]) for part in parts), Fraction(0))),
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
    """Return the prices that prove the strongest bound of one part, as integers."""
    costs = [Fraction(cost) for cost in evidence.costs]
    nothing = Certificate(items={}), Worth(0, {})
    candidates = (
        [each for each in part.worths if each[1].is_infeasible(part.model)]
        if is_infeasible
        else list(part.worths)
    )
    certificate, worth = max(
        candidates, key=lambda each: each[1].estimate(part.model, costs), default=nothing
    )
    written = {
        "pools": [evidence.pools[pool] for pool in part.pools],
        **_proof(certificate, worth, part, part.model, evidence, is_infeasible=is_infeasible),
    }
    by_cases = None if is_infeasible or part.cases is None else part.cases.bound
    if part.cases is None or by_cases is None or by_cases <= Fraction(written["bound"]):
        return written
    return {**written, "bound": str(by_cases), "cases": _case(part.cases, part, evidence)}


def _case(case: Case, part: ConnectedPools, evidence: Evidence) -> dict[str, Any]:
    """Return the two halves of a case, or the prices if the case isn't divided."""
    if case.halves:
        fewer, more = (_case(half, part, evidence) for half in case.halves)
        return {"pool": evidence.pools[case.pool], "at": case.at, "fewer": fewer, "more": more}
    model = model_of(part.model, case.ranges)
    return _proof(
        case.certificate, case.worth, part, model, evidence, is_infeasible=case.cost is None
    )


def _proof(
    certificate: Certificate,
    worth: Worth,
    part: ConnectedPools,
    model: BoundModel,
    evidence: Evidence,
    *,
    is_infeasible: bool,
) -> dict[str, Any]:
    """Return prices as integers, and the bound that they prove for a model's fleets, or "none" if
    these can't hold the demand.
    """
    costs = [Fraction(cost) for cost in evidence.costs]
    whole = _scale(certificate, part, worth)
    floor = Fraction(sum(costs[pool] * model.pools[pool].minimum for pool in part.pools))
    bound = str(max(floor, worth.cost(model, costs)) if worth.nodes else floor)
    return {
        "items": {
            evidence.items[at]: int(price * whole)
            for at, price in sorted(certificate.items.items())
            if price and at in part.model.demand
        },
        "rows": {
            evidence.pools[pool]: {
                part.model.pools[pool].rows[at].name: int(price * whole)
                for at, price in sorted(prices.items())
            }
            for pool, prices in sorted(certificate.rows.items())
            if pool in part.pools
        },
        "limits": {
            name: str(price)
            for name, price in sorted(worth.limit_prices(model, costs).items())
            if not is_infeasible
        },
        "worth": {evidence.pools[pool]: value for pool, value in sorted(worth.nodes.items())},
        "bound": "none" if is_infeasible and model is not part.model else bound,
    }


def _scale(certificate: Certificate, part: ConnectedPools, worth: Worth) -> Fraction:
    """Return the factor that makes the prices integers, as used for the worth."""
    known = sum(
        (price * part.model.demand.get(item, 0) for item, price in certificate.items.items()),
        Fraction(0),
    )
    return Fraction(worth.demand) / known if known else Fraction(1)
