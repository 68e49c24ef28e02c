"""The change that makes all workloads fit together, as published JSON."""

from __future__ import annotations

from dra_command.contract.joint_fix import JointFixRow
from dra_planner.plan.model import JointFix


def joint_fix_row(found: JointFix | None) -> JointFixRow | None:
    """Return the change that lets all workloads of a plan run, or None if none was found."""
    if found is None:
        return None
    more = found.more_usd
    return JointFixRow(steps=list(found.steps), more_per_hour=None if more is None else float(more))
