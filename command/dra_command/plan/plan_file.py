"""The saved plan of a stack or of a fleet, with functions that write it and compare it with a new
plan.
"""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from dra_command.command_line.file_writer import write_whole
from dra_command.inputs.command_inputs import CommandInputs
from dra_command.plan.saved_file import saved_file
from dra_command.plan_report.explain_commands import input_words
from dra_planner.errors import Place, PlanFileError, UnsupportedFeature
from dra_planner.plan import Plan, plan_file
from dra_planner.plan.saved.difference import compare_plans
from dra_planner.plan.saved.staleness import differences
from dra_planner.planfile import check_inputs, file_text, plan_path, read_plan_file
from dra_planner.releases import parse_version

if TYPE_CHECKING:
    from dra_planner.plan.saved.difference import PlanDifference


class SavedPlan(Struct, frozen=True):
    """The path of a plan file, and the command that writes it."""

    path: Path
    command: str


def saved_plan(values: argparse.Namespace) -> SavedPlan:
    """Return the saved plan of a stack, or of the file that the options name."""
    words = ["pulumi-dra", "plan", *input_words(values), "--write"]
    if values.stack:
        return SavedPlan(plan_path(values.stack), shlex.join(words))
    file = saved_file(values) or ""
    return SavedPlan(Path(file), shlex.join([*words, file]))


def write(saved: SavedPlan, plan: Plan) -> list[str]:
    """Save a plan, and return sentences about it. Raises PlanFileError if that fails."""
    step = _version_step(saved, plan)
    write_whole(saved.path, file_text(plan_file(plan)), PlanFileError)
    return [f"wrote {saved.path}", *step]


def _version_step(saved: SavedPlan, plan: Plan) -> list[str]:
    """Return a warning if a cluster of the saved plan can't be upgraded to the new plan's version
    in one step.
    """
    try:
        before = parse_version(read_plan_file(saved.path, command=saved.command).kubernetes)
    except (PlanFileError, UnsupportedFeature):
        return []
    now = plan.judgement.features.minor
    if before <= now <= before + 1:
        return []
    reason = (
        "Cloud providers can't downgrade a cluster, so you must replace an existing cluster"
        if now < before
        else "Cloud providers upgrade clusters one minor version at a time. If the cluster already "
        f"exists, save and apply a plan for 1.{before + 1} first"
    )
    return [
        (
            f"warning: the saved plan was for Kubernetes 1.{before}, but this plan is for "
            f"1.{now}. {reason}"
        )
    ]


def find_difference(saved: SavedPlan, plan: Plan) -> PlanDifference | None:
    """Return the differences from the saved plan, or None if there is no readable saved plan."""
    if not saved.path.exists():
        return None
    try:
        return compare_plans(read_plan_file(saved.path, command=saved.command), plan_file(plan))
    except PlanFileError:
        return None  # --check says why


def find_stale(saved: SavedPlan, inputs: CommandInputs, plan: Plan) -> str:
    """Return why the saved plan is stale. Raises PlanFileError if it can't be read."""
    path, fix = saved.path, f"run `{saved.command}`"
    if not path.exists():
        return f"{path} doesn't exist; {fix}"
    before = read_plan_file(path, command=saved.command)
    try:
        assert inputs.fleet is not None  # a saved plan always has a fleet
        check_inputs(before, inputs.fleet, inputs.sources, Place(str(path)), fix=fix)
    except PlanFileError as error:
        return str(error)
    changed = ", ".join(differences(before, plan_file(plan)))
    return f"{path}: the plan is stale, because {changed} changed; {fix}" if changed else ""
