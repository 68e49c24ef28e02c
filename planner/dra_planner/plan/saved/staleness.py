"""Whether the plan that is kept is the one that would be made now."""

from __future__ import annotations

from dra_planner.planfile import PlanFile


def differences(kept: PlanFile, made: PlanFile) -> tuple[str, ...]:
    """Return what differs in what is built and judged, in words.

    Wording and proofs may get better without a plan going stale: assumptions, reasons and bounds do
    not count.
    """
    known = {row.name: row.nodes for row in kept.pools}
    pools = [f"pool {row.name}" for row in made.pools if known.get(row.name) != row.nodes]
    parts = (
        ("the demand", kept.demand == made.demand),
        ("the classes", kept.classes == made.classes),
        ("the Kubernetes version", kept.kubernetes == made.kubernetes),
    )
    return (*pools, *(name for name, is_same in parts if not is_same))
