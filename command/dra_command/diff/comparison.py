"""The two sides of a comparison. A side is a plan file, a fleet, a stack, or a git ref, and is
converted to a plan file.
"""

from __future__ import annotations

import argparse
import contextlib
import json
from pathlib import Path
from typing import Final

from msgspec import Struct

from dra_command.command_line.arguments import UsageError
from dra_command.command_line.progress import doing
from dra_command.inputs.git_files import checked_out, options_at, top_of
from dra_command.inputs.planned_inputs import plan_inputs, request_of
from dra_planner.errors import NOWHERE, PlannerError
from dra_planner.fleet import is_url, stack_names
from dra_planner.model import DemandLevel
from dra_planner.plan import plan_file
from dra_planner.plan.saved.difference import PlanDifference, compare_plans
from dra_planner.planfile import PlanFile, plan_path, read_plan_file
from dra_planner.planfile.saved_demand import saved_demand

_WORKING_TREE: Final = "working tree"
_INPUTS: Final = {"observed": "", "kubernetes": "", "values_files": [], "set_values": []}
"""Options of other subcommands that `diff` doesn't have."""


class Side(Struct, frozen=True):
    """One side: its title in reports and its plan. The plan is None if the stack or fleet doesn't
    exist at the git ref.
    """

    title: str
    plan: PlanFile | None


class ComparedSides(Struct, frozen=True):
    """The titles of both sides, and the differences."""

    before: str
    after: str
    difference: PlanDifference


def read_comparison(values: argparse.Namespace) -> ComparedSides:
    """Return the comparison that the command line names. Raises PlannerError if a side can't be
    read or planned.
    """
    before, after = _sides(_with_only_stack(values))
    if after.plan is None:
        raise UsageError(
            f"{after.title} doesn't contain the stack or fleet",
            fix="swap the refs, or use a later ref",
        )
    return ComparedSides(before.title, after.title, compare_plans(before.plan, after.plan))


def _sides(values: argparse.Namespace) -> tuple[Side, Side]:
    if values.stack or values.fleet:
        if not values.stack:
            _require_workloads(values.fleet, values)
        return _at(values.before, values), _at(values.after, values) if values.after else _now(
            values
        )
    if not values.after:
        raise UsageError(
            f"{values.before} needs a second plan, fleet, or stack to compare with",
            fix=f"pass a second plan, fleet, or stack; if {values.before} is a git ref, add "
            "--stack NAME",
        )
    return _named(values.before, values), _named(values.after, values)


def _with_only_stack(values: argparse.Namespace) -> argparse.Namespace:
    """Return the options with the project's only stack if they name a git ref but no stack or
    fleet.
    """
    names = stack_names()
    if values.stack or values.fleet or len(names) != 1 or values.before in names:
        return values
    if Path(values.before).is_file() or is_url(values.before):
        return values
    return argparse.Namespace(**{**vars(values), "stack": names[0]})


def _at(name: str, values: argparse.Namespace) -> Side:
    """Return the plan of the options' stack or fleet at a git ref. If the option names a plan file,
    return that plan.
    """
    if _is_plan_file(name):
        return _saved(name)
    here = Path.cwd().resolve()
    top = top_of(here)
    folder = checked_out(top, name, NOWHERE) / here.relative_to(top)
    then = options_at(values, here, folder, ("workloads",)) if folder.is_dir() else None
    if then is None or not (then.stack or then.fleet):
        return Side(name, None)
    with contextlib.chdir(folder):
        try:
            return _planned(name, then)
        except PlannerError as error:
            raise type(error)(
                f"at {name}: {error.message}", place=error.place, fix=error.fix
            ) from None


def _now(values: argparse.Namespace) -> Side:
    return _planned(_WORKING_TREE, values)


def _named(name: str, values: argparse.Namespace) -> Side:
    """Return a plan file, a stack, or a fleet with the workloads of the options."""
    if _is_plan_file(name):
        return _saved(name)
    if name in stack_names() and not Path(name).is_file():
        return _planned(name, argparse.Namespace(**{**vars(values), "stack": name}))
    _require_workloads(name, values)
    return _planned(name, argparse.Namespace(**{**vars(values), "fleet": name}))


def _require_workloads(fleet: str, values: argparse.Namespace) -> None:
    """Raise UsageError if a fleet is named without workloads."""
    if not values.workloads:
        raise UsageError(f"`diff` can't plan {fleet} without workloads", fix="add --workloads PATH")


def _planned(title: str, values: argparse.Namespace) -> Side:
    options = argparse.Namespace(**{**_INPUTS, **vars(values), "paths": values.workloads})
    with doing(f"planning {title}", quiet=values.quiet):
        _, plan = plan_inputs(options, lambda inputs: request_of(inputs, _demand(values)))
    return Side(title, plan_file(plan))


def _demand(values: argparse.Namespace) -> DemandLevel:
    """Return the requested demand, or the demand of the stack's saved plan, as in `plan`."""
    if values.demand or not values.stack:
        return values.demand or "steady"
    return saved_demand(plan_path(values.stack))


def _saved(path: str) -> Side:
    return Side(path, read_plan_file(Path(path)))


def _is_plan_file(name: str) -> bool:
    """Return whether a file is a plan: a JSON object with a demand, which no fleet has."""
    try:
        document = json.loads(Path(name).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return name.endswith(".plan.json")
    return isinstance(document, dict) and "demand" in document
