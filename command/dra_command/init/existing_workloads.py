"""The manifests of an existing project, for which a new stack or fleet is planned."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from dra_command.command_line.arguments import UsageError
from dra_command.init.starter_files import FIRST_CLAIM_FILE, WORKLOADS
from dra_planner.fleet import read_document, stack_file, stack_names
from dra_planner.sources import read_file

_SETTING: Final = "pulumi-dra:workloads"


def use_existing_workloads(values: argparse.Namespace) -> None:
    """Set --workloads to the manifests of the folder, so that `init` adds no sample to them.

    Raises UsageError if the folder's stacks have different workloads, so that the user must choose.
    """
    folder = Path(values.folder)
    if values.workloads or values.only_ci:
        return
    by_stack = {name: _workloads_of(name, folder) for name in stack_names(folder)}
    by_stack.pop(values.stack, None)  # --force replaces this stack
    stated = set(filter(None, by_stack.values()))
    if len(stated) > 1:
        raise UsageError(
            "the stacks in this folder have different workloads",
            fix=f"use --workloads PATH, for example --workloads {sorted(stated)[0][0]}",
        )
    found = next(iter(stated), ())
    if not found and _has_own_manifests(folder):
        found = (WORKLOADS,)
    values.workloads = [str(folder / path) for path in found]
    if found and not values.quiet:
        print(f"workloads: {', '.join(values.workloads)} (to use others, add --workloads PATH)")


def _workloads_of(stack: str, folder: Path) -> tuple[str, ...]:
    path = stack_file(stack, folder)
    data = read_document(read_file(str(path)).text, str(path))
    config = data.get("config") if isinstance(data, Mapping) else None
    paths = config.get(_SETTING) if isinstance(config, Mapping) else None
    return tuple(map(str, paths)) if isinstance(paths, list) else ()


def _has_own_manifests(folder: Path) -> bool:
    """Return whether the default folder contains manifests in addition to the sample."""
    found = {each for end in ("yaml", "yml") for each in (folder / WORKLOADS).rglob(f"*.{end}")}
    return bool(found - {folder / FIRST_CLAIM_FILE})
