"""The files of a step: fleets, plan file, manifests to apply, and the previous step's manifests for
a rollback.
"""

from __future__ import annotations

from collections.abc import Sequence

import yaml

from dra_planner.fleet import Fleet
from dra_planner.migration.steps.step import MigrationStep, StepKind
from dra_planner.plan import PlanRequest, make_plan, plan_file
from dra_planner.planfile import file_text
from dra_planner.sources import Source


def step_files(step: MigrationStep) -> dict[str, str]:
    """Return the texts of a step's files by their names in its folder."""
    files = {
        "fleet.yaml": _fleet_text(step.fleet),
        "plan.json": _plan_text(step, step.fleet),
        "commands.txt": _lines(step.commands),
        "checks.txt": _lines(step.checks),
        "rollback.txt": _lines(step.rollback),
    }
    if step.kind in (StepKind.PREPARE, StepKind.MOVE):
        files["manifests.yaml"] = _together(_changed(step.sources, step.before))
    if step.before:
        files["previous.yaml"] = _together(_changed(step.before, step.sources))
    if step.fleet_after != step.fleet:
        files["fleet-after.yaml"] = _fleet_text(step.fleet_after)
        files["plan-after.json"] = _plan_text(step, step.fleet_after)
    return files


def _plan_text(step: MigrationStep, fleet: Fleet) -> str:
    return file_text(
        plan_file(make_plan(PlanRequest(sources=step.sources, fleet=fleet, with_fixes=False)))
    )


def _changed(sources: Sequence[Source], others: Sequence[Source]) -> list[Source]:
    """Return the sources whose text differs from the same file in the other sources. Without other
    sources, return all sources.
    """
    texts = {each.name: each.text for each in others}
    return [each for each in sources if texts.get(each.name) != each.text]


def _together(sources: Sequence[Source]) -> str:
    return "---\n".join(
        each.text if each.text.endswith("\n") else f"{each.text}\n" for each in sources
    )


def _fleet_text(fleet: Fleet) -> str:
    return yaml.safe_dump(fleet.document(), sort_keys=False, allow_unicode=True)


def _lines(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
