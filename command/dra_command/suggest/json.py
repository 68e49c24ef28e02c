"""Suggested fleets as the published JSON."""

from __future__ import annotations

from collections.abc import Iterable

from dra_command.plan_report.compared_types import compared_obstacles, fleet_notes
from dra_command.suggest.contract import (
    MachineCountRow,
    NotComparedRow,
    ObstacleRow,
    PackedRow,
    SuggestedRow,
    SuggestOutput,
)
from dra_planner.plan.suggestion.suggestions import Suggestion, Suggestions


def suggest_json(found: Suggestions) -> str:
    """Return the cheapest fleet, other fleets, and machine types that weren't compared, as indented
    JSON.
    """
    cost = None if found.best is None else found.best.plan.cost
    output = SuggestOutput(
        verdict="fits" if found.best is not None else found.plan.verdict,
        priced_on="" if cost is None else cost.priced_on,
        best=None if found.best is None else _fleet(found.best),
        gap=float(found.gap),
        gap_of_unknown=float(found.gap_of_unknown),
        others=[_fleet(each) for each in found.others],
        packed=[
            PackedRow(
                hourly_packing=float(each.packing_usd),
                hourly_bound=float(each.bound_usd),
                machines=_machines(each.counts),
                fleet=each.document,
            )
            for each in found.packed
        ],
        candidates=found.candidates,
        not_compared=[
            NotComparedRow(machine=machine, why=reason) for machine, reason in found.left_out
        ],
        obstacles=[] if found.best is not None else list(_obstacles(found)),
    )
    return output.model_dump_json(indent=2)


def _fleet(each: Suggestion) -> SuggestedRow:
    return SuggestedRow(
        hourly=float(each.hourly_usd),
        machines=_machines(each.counts),
        fleet=each.document,
        notes=list(fleet_notes(each)),
    )


def _machines(counts: Iterable[tuple[str, str, int]]) -> list[MachineCountRow]:
    return [
        MachineCountRow(machine=machine, mig=mig, nodes=nodes) for machine, mig, nodes in counts
    ]


def _obstacles(found: Suggestions) -> list[ObstacleRow]:
    return [
        ObstacleRow(
            subject=each.subject,
            reasons=[line for line, _ in each.lines],
            fixes=[fix for _, fix in each.lines if fix],
        )
        for each in compared_obstacles(found.plan, every=True)
    ]
