"""The steps of a migration as text: pools, nodes, cost, commands, and how to revert each step."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from dra_command.pens.terminal.page import Page
from dra_command.pens.terminal.wrapping import wrapped
from dra_planner.migration import MigrationStep, MigrationSteps, StepKind
from dra_planner.wording import counted

_TITLES = {
    StepKind.PREPARE: "Create the DRA pools",
    StepKind.SHRINK: "Shrink the DRA pools",
    StepKind.FINISH: "Delete the device plugin and its pools",
}
_COMMANDS = ("kubectl ", "pulumi ", "pulumi-dra ")
_ALLOCATIONS = {"dra": "DRA driver", "device-plugin": "device plugin"}


def print_steps(found: MigrationSteps, *, folder: str, quiet: bool, verbose: bool) -> None:
    """Print all steps. `quiet` omits safe steps. `folder` is the folder with their files, or ""."""
    with Page() as page:
        page.text(_headline(found))
        for name, reason in sorted(found.without_twin.items()):
            page.text(f"Pool {name} can't be replaced with a DRA pool: {reason}", mark="✕ ")
        _print_staying(page, found)
        for note in found.notes:
            page.gap()
            page.text(note, mark="before you start: ")
        for step in found.steps:
            if not (quiet and step.is_safe):
                _print_step(page, step, verbose=verbose)
        page.gap()
        if folder:
            page.text(f"The plan files, manifests, and commands for each step are in {folder}.")
        elif found.steps:
            page.text(
                "To write the plan files, manifests, and commands for each step, use "
                "--steps-folder FOLDER"
            )


def _headline(found: MigrationSteps) -> str:
    if not found.steps:
        return "Nothing to migrate: the fleet doesn't have a pool with allocation: device-plugin."
    unsafe = [str(step.number) for step in found.steps if not step.is_safe]
    steps = f"Migration in {counted(len(found.steps), 'step')}"
    if not unsafe:
        return f"{steps}, at most {_usd(found.peak_usd)}. All pods run during every step."
    which = f"Step {unsafe[0]} isn't" if len(unsafe) == 1 else f"Steps {', '.join(unsafe)} aren't"
    return f"{steps}. {which} proven safe. Costs exclude nodes for pods that stay pending."


def _print_staying(page: Page, found: MigrationSteps) -> None:
    for each in found.staying:
        page.gap()
        of = f" ({each.pods})" if each.pods else ""
        page.text(f"{each.object}{of} doesn't move ({each.result.value}): {each.reason}")


def _print_step(page: Page, step: MigrationStep, *, verbose: bool) -> None:
    page.gap()
    title = _TITLES.get(step.kind) or f"Move {_listed(step.moves, verbose=verbose)}"
    page.line(f"{step.number}. {title}: ", _verdict(step))
    for resource, name in sorted(step.served.items()):
        page.text(
            f"The manifests don't change, because the DeviceClass {name} serves {resource} "
            "(extendedResourceName).",
            indent=3,
        )
    costs = _usd(step.hourly_usd)
    if step.hourly_usd_after != step.hourly_usd:
        costs += f", then {_usd(step.hourly_usd_after)}"
    if not step.is_safe:
        costs += ", without nodes for pending pods"
    page.text(costs, indent=3)
    for reason in step.reasons[: None if verbose else 3]:
        page.text(reason, indent=3)
    is_first = step.kind is StepKind.PREPARE  # this step creates pools without nodes
    pools = [pool for pool in step.pools if is_first or pool.during or pool.after]
    drains = any(pool.drained for pool in pools)
    rows = [
        (
            pool.name,
            _ALLOCATIONS[pool.allocation],
            str(pool.during),
            str(pool.after),
            *((str(pool.drained),) if drains else ()),
        )
        for pool in pools
    ]
    if rows:
        heads = ("Pool", "allocation", "nodes", "afterward", *(("to drain",) if drains else ()))
        page.table(heads, rows, numbers=range(2, len(heads)))
    for title, lines in (
        ("Run", step.commands),
        ("Check", step.checks),
        ("Roll back", step.rollback),
    ):
        page.text(f"{title}:", indent=3)
        for line in lines:
            _print_task(page, line)


def _print_task(page: Page, task: str) -> None:
    """Print a command with the comment above it if the line is too short for both, so that it can
    be copied, or wrap an instruction.
    """
    if not task.startswith(_COMMANDS):
        page.text(task, indent=5)
        return
    command, mark, comment = task.partition("  # ")
    if mark and len(task) + 5 > page.width:
        for line in wrapped(comment, page.width, first="     # ", rest="     # "):
            page.verbatim(line)
        task = command
    page.verbatim(f"     {task}")


def _verdict(step: MigrationStep) -> tuple[str, str]:
    if step.is_safe:
        return "safe, 0 pods pending", "green"
    if step.pending is None:
        return "cannot tell if all pods run", "yellow"
    return f"{counted(step.pending, 'pod')} pending", "red"


def _listed(names: Sequence[str], *, verbose: bool) -> str:
    if verbose or len(names) <= 3:
        return ", ".join(names)
    return f"{', '.join(names[:3])}, and {len(names) - 3} more"


def _usd(amount: Decimal | None) -> str:
    return "cost unknown" if amount is None else f"USD {amount:.2f} per hour"
