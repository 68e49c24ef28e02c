"""A matrix of plans as the published JSON."""

from __future__ import annotations

from typing import Any

from dra_command.contract.error import FaultRow
from dra_command.plan.matrix.contract import CombinationRow, MatrixOutput, SettingRow
from dra_command.plan_report.json.plan import plan_output
from dra_planner.errors import PlannerError
from dra_planner.plan.matrix import Combination, Matrix


def matrix_json(matrix: Matrix) -> str:
    """Return the matrix as indented JSON."""
    output = MatrixOutput(
        verdict=matrix.verdict,
        axes=list(matrix.axes),
        combinations=[_combination(each, matrix) for each in matrix.combinations],
    )
    absent: dict[int, Any] = {
        index: {
            "plan": {"claims", "detail", "joint_fix"}
            | (set() if plan is not None and plan.guarded is not None else {"guards"})
        }
        for index, plan in enumerate(each.plan for each in matrix.combinations)
    }
    return output.model_dump_json(indent=2, by_alias=True, exclude={"combinations": absent})


def _combination(each: Combination, matrix: Matrix) -> CombinationRow:
    return CombinationRow(
        settings=[
            SettingRow(path=path, value=value)
            for path, value in zip(matrix.axes, each.values, strict=True)
        ],
        verdict=each.plan.verdict if each.plan is not None else None,
        plan=plan_output(each.plan, detail=False) if each.plan is not None else None,
        error=_fault(each.error) if each.error is not None else None,
    )


def _fault(error: PlannerError) -> FaultRow:
    place = error.place
    return FaultRow(
        file=place.file, line=place.line, path=place.path, message=error.message, fix=error.fix
    )
