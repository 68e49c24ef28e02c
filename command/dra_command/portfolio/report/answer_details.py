"""Results that contain more than a verdict, from the JSON in their rows: curves, risk, and
placement.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from dra_command.portfolio.contract import (
    AssignedRow,
    ClusterCostRow,
    ClusterPlacementRow,
    CurveRow,
    IntervalRow,
    RiskRow,
    StepRow,
)
from dra_command.portfolio.report.summary import FAILED, Summary, outcome_of


def curves(summary: Summary) -> Iterator[CurveRow]:
    """Yield the capacity curves, stack by stack."""
    for stack, scenario, details in _answers(summary, "curves"):
        for each in details["curves"]:
            steps = [
                StepRow(
                    units=step["units"],
                    nodes=dict(step["nodes"]),
                    nodes_bound=step["nodes_bound"],
                    hourly=step["hourly_usd"],
                )
                for step in each.pop("steps")
            ]
            yield CurveRow(stack=stack, scenario=scenario, steps=steps, **each)


def risks(summary: Summary) -> Iterator[RiskRow]:
    """Yield the risks, stack by stack."""
    for stack, scenario, details in _answers(summary, "risk"):
        for key in ("pending", "pods", "lost"):
            details[key] = IntervalRow(**details[key])
        yield RiskRow(stack=stack, scenario=scenario, **details)


def placement(summary: Summary) -> ClusterPlacementRow | None:
    """Return the clusters of the movable workloads. None if the portfolio doesn't ask for a
    placement, or if there is no result.
    """
    row = summary.answers.placement
    if row is None or outcome_of(row) == FAILED:
        return None
    found = json.loads(row.details)
    each = found["placement"]
    cost, bound = Decimal(str(each["cost"])), Decimal(str(each["bound"]))
    return ClusterPlacementRow(
        verdict=each["verdict"],
        unit=each["unit"],
        cost=each["cost"],
        bound=each["bound"],
        gap=float(1 - bound / cost) if cost > bound else 0.0,
        pending=each["pending"],
        exhaustive=each["exhaustive"],
        hourly_simulated=each["hourly_simulated"],
        assigned=[
            AssignedRow(
                workload=_ref(one["workload"]), cluster=one["cluster"] or None, may=one["may"]
            )
            for one in each["assigned"]
        ],
        clusters=[
            ClusterCostRow(name=name, cost=cost, nodes=nodes)
            for name, cost, nodes in each["clusters"]
        ],
        left_out=found["left_out"],
        assumptions=each["assumptions"],
    )


def _answers(summary: Summary, question: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for cell in summary.answers.cells:
        row = summary.answers.row(cell)
        if cell.question == question and row is not None and outcome_of(row) != FAILED:
            name = summary.answers.collected.stacks[cell.stack].name
            yield name, summary.scenarios[cell.scenario], json.loads(row.details)


def _ref(parts: list[str]) -> str:
    kind, namespace, name = parts
    return f"{kind} {namespace}/{name}"
