"""The saved plan of a stack: writing it, and comparing it with a new one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dra_command.command_line.file_writer import write_whole
from dra_command.inputs.command_inputs import CommandInputs
from dra_planner.errors import Place, PlanFileError
from dra_planner.plan import Plan, plan_file
from dra_planner.plan.saved.difference import compare_plans
from dra_planner.plan.saved.staleness import differences
from dra_planner.planfile import check_inputs, file_text, plan_path, read_plan_file

if TYPE_CHECKING:
    from dra_planner.plan.saved.difference import PlanDifference


def write(stack: str, plan: Plan) -> Path:
    """Save the plan of a stack, and return its path. Raises PlanFileError if that fails."""
    path = plan_path(stack)
    write_whole(path, file_text(plan_file(plan)), PlanFileError)
    return path


def find_difference(inputs: CommandInputs, plan: Plan) -> PlanDifference | None:
    """Return the differences from the stack's saved plan, or None if none is saved or it can't be
    read.
    """
    path = plan_path(inputs.stack)
    if not inputs.stack or not path.exists():
        return None
    try:
        return compare_plans(read_plan_file(path, stack=inputs.stack), plan_file(plan))
    except PlanFileError:
        return None  # --check says why


def find_stale(inputs: CommandInputs, plan: Plan) -> str:
    """Return why the saved plan is stale. Raises PlanFileError if it can't be read."""
    path = plan_path(inputs.stack)
    fix = f"run `pulumi-dra plan --stack {inputs.stack} --write`"
    if not path.exists():
        return f"{path} doesn't exist; {fix}"
    saved = read_plan_file(path, stack=inputs.stack)
    try:
        assert inputs.fleet is not None  # --check needs --stack
        check_inputs(saved, inputs.fleet, inputs.sources, Place(str(path)), fix=fix)
    except PlanFileError as error:
        return str(error)
    changed = ", ".join(differences(saved, plan_file(plan)))
    return f"{path}: the plan is stale, because {changed} changed; {fix}" if changed else ""
