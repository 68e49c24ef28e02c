"""Comparison of a saved plan with a new one."""

from __future__ import annotations

from dra_planner.planfile import PlanFile


def differences(kept: PlanFile, made: PlanFile) -> tuple[str, ...]:
    """Return the differences in node counts and verdicts, in words.

    Assumptions, reasons, and bounds are ignored, so better wording and proofs don't make a plan
    stale.
    """
    known = {row.name: row.nodes for row in kept.pools}
    pools = [f"pool {row.name}" for row in made.pools if known.get(row.name) != row.nodes]
    parts = (
        ("the demand", kept.demand == made.demand),
        ("the classes", kept.classes == made.classes),
        ("the Kubernetes version", kept.kubernetes == made.kubernetes),
    )
    return (*pools, *(name for name, is_same in parts if not is_same))
