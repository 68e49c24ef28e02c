"""The plan that `explain` explains: the result of `plan`, for the fleet with the values of
--what-if.
"""

from __future__ import annotations

import argparse

from msgspec.structs import replace

from dra_command.explain.what_if import changed_fleet
from dra_command.inputs.command_inputs import CommandInputs, print_skipped_files
from dra_command.inputs.planned_inputs import plan_readable
from dra_planner.plan import Plan, PlanRequest, make_plan


def plan_to_explain(values: argparse.Namespace) -> tuple[Plan, Plan | None, tuple[str, ...]]:
    """Return the plan, the plan of the unchanged fleet (None without --what-if), and the changes.

    If a folder contains unreadable files, the verdict is *cannot tell* instead of *fits*. Raises
    PlannerError if nothing can be planned.
    """

    def request_for(given: CommandInputs) -> PlanRequest:
        return PlanRequest(
            sources=given.sources,
            fleet=changed_fleet(given, values)[0],
            observed=given.observed,
            kubernetes=given.kubernetes,
        )

    inputs, plan, findings = plan_readable(values, request_for, "explaining")
    notes = (each for each in findings if each.severity != "error")
    print_skipped_files(notes, quiet=values.quiet)
    plan = replace(plan, diagnostics=(*plan.diagnostics, *findings))
    _, changes = changed_fleet(inputs, values)
    before = None
    if changes:
        before = make_plan(
            PlanRequest(sources=inputs.sources, fleet=inputs.fleet, kubernetes=inputs.kubernetes)
        )
    return plan, before, changes
