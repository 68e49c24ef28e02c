"""The demand for which a saved plan is sized."""

from __future__ import annotations

from pathlib import Path

from dra_planner.errors import PlanFileError, UnsupportedFeature
from dra_planner.model import DemandLevel
from dra_planner.planfile.document import read_plan_file


def saved_demand(path: Path) -> DemandLevel:
    """Return the demand for which the plan in a file is sized, or steady if the file isn't a
    readable plan.
    """
    try:
        return read_plan_file(path).demand.level
    except (PlanFileError, UnsupportedFeature):
        return "steady"
