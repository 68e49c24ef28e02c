"""The change that makes all workloads fit together, as published JSON."""

from __future__ import annotations

from decimal import Decimal

from dra_command.contract.joint_fix import JointFixRow
from dra_planner.plan.model import JointFix


def joint_fix_row(found: JointFix | None) -> JointFixRow | None:
    """Return the change that lets all workloads of a plan run, or None if none was found."""
    if found is None:
        return None
    return JointFixRow(
        steps=list(found.steps),
        more_per_hour=_number(found.more_usd),
        peak_more_per_hour=_number(found.most_usd),
    )


def _number(usd: Decimal | None) -> float | None:
    return None if usd is None else float(usd)
