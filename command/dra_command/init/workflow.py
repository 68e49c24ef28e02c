"""The CI workflow that `init` writes, and notes about its location and its installation source."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from msgspec import structs

from dra_command.command_line.arguments import UsageError
from dra_command.command_line.exit_status import Status
from dra_command.init.install_source import install_notes
from dra_command.init.options import DEFAULT_CI
from dra_command.init.repository import is_in_repository
from dra_command.init.starter_files import CI_NAMES, CheckedFiles, ci_files
from dra_command.init.written_files import paths_from, print_notes, require_new, write_files
from dra_command.pens.terminal.page import print_note
from dra_planner.fleet import is_url, stack_names
from dra_planner.wording import listed, use_one_of

_CHECKED_STACKS: Final = re.compile(r"pulumi-dra ci [^\n]*?--stack[ =](\S+)")


def write_workflow(values: argparse.Namespace) -> int:
    """Write only the CI workflow, for the stacks of a project, or for manifests and a fleet."""
    folder = Path(values.folder)
    pipeline = workflow_files(values, _checked_files(values, folder))
    if not pipeline:
        raise UsageError("--only-ci needs a CI system", fix="use --ci github or --ci gitlab")
    require_new(folder, list(pipeline), force=values.force)
    write_files(folder, pipeline, quiet=values.quiet)
    print_pipeline_notes(folder, values, pipeline)
    return Status.FITS


def workflow_files(values: argparse.Namespace, checked: CheckedFiles) -> dict[str, str]:
    """Return the CI workflow that the options describe, by its path from the folder; empty for
    `--ci none`. Raises UsageError for options that its CI system doesn't support.
    """
    folder = Path(values.folder)
    if values.sarif and values.ci != "github":
        raise UsageError(
            "--sarif applies only to GitHub workflows, but the GitLab job already writes a Code "
            "Quality report",
            fix="use --ci github, or remove --sarif",
        )
    if values.ci == "none" and (values.baseline or values.diff):
        option = "--baseline" if values.baseline else "--diff"
        raise UsageError(
            f"{option} needs a CI workflow", fix=f"remove --ci none, or remove {option}"
        )
    return ci_files(
        values.ci,
        structs.replace(
            checked,
            baseline=paths_from(folder, [values.baseline]) if values.baseline else "",
            diff=values.diff,
            sarif=values.sarif,
        ),
        folder,
        values.install,
    )


def _checked_files(values: argparse.Namespace, folder: Path) -> CheckedFiles:
    """Return the stacks, or the manifests and the fleet, that a workflow checks. Raises UsageError
    if they don't exist.
    """
    stacks = [name for name in dict.fromkeys(values.stack.split(",")) if name]
    if stacks:
        known = stack_names(folder)
        if missing := [name for name in stacks if name not in known]:
            raise UsageError(
                f"{folder / 'stacks'} doesn't contain Pulumi.{missing[0]}.yaml",
                fix=use_one_of("stack", known)
                if known
                else f"create the stack with `pulumi-dra init --stack {missing[0]}`, or use "
                "--workloads PATH with --fleet FILE",
            )
        return CheckedFiles(stack=",".join(stacks))
    if not (values.workloads and values.other_tool):
        raise UsageError(
            "--only-ci requires manifests or a stack to check",
            fix="use --stack NAME, or --workloads PATH with --fleet FILE",
        )
    for path in values.workloads:
        if not (is_url(path) or os.path.exists(path)):
            raise UsageError(
                f"{path} doesn't exist", fix="use the path of an existing file or folder"
            )
    if not _is_place(values.other_tool):
        _require_shared_fleet(values.other_tool)
    return CheckedFiles(
        workloads=paths_from(folder, values.workloads), fleet=_fleet_word(folder, values.other_tool)
    )


def _is_place(fleet: str) -> bool:
    return is_url(fleet) or os.path.exists(fleet)


def _require_shared_fleet(name: str) -> None:
    """Raise UsageError if the nearest configuration doesn't define a shared fleet of that name."""
    from dra_command.inputs.fleets.shared_fleets import find_shared_fleet  # noqa: PLC0415  (loads all rules)

    if find_shared_fleet(name) is None:
        raise UsageError(
            f"{name} doesn't exist",
            fix="use the path of an existing file, or a name under `fleets` in pulumi-dra.yaml",
        )


def _fleet_word(folder: Path, fleet: str) -> str:
    """Return a fleet as an argument for a command that runs in a folder: a path, a URL, or a
    name.
    """
    return paths_from(folder, [fleet]) if _is_place(fleet) else shlex.quote(fleet)


def print_pipeline_notes(
    folder: Path, values: argparse.Namespace, pipeline: Mapping[str, str]
) -> None:
    """Print what to do before a CI workflow works."""
    for name in () if values.quiet else pipeline:
        print_notes(folder / name, install_notes(values.install, folder))
        print_notes(folder / name, _baseline_notes(values))
    print_workflow_notes(folder, values.ci, {} if values.quiet else pipeline)


def print_workflow_notes(folder: Path, ci: str, pipeline: Mapping[str, str]) -> None:
    """Print that another workflow writes a second comment, that GitLab must include the file, and
    that a workflow has no effect in a subfolder until a git repository exists.
    """
    for name, text in pipeline.items():
        print_notes(folder / name, _other_workflow_notes(folder, name, text, ci))
        if ci == "gitlab":
            local = os.path.basename(name)
            print_notes(folder / name, [f"add to .gitlab-ci.yml: include: [{{local: {local}}}]"])
    if ci != "none" and not is_in_repository(folder):
        place = "the current folder" if folder == Path() else folder
        print_note(
            f"{CI_NAMES[ci]} reads CI workflows only from the root of a repository, but "
            f"{place} isn't in a git repository; move the workflow to your repository's root",
            sys.stdout,
        )


def _baseline_notes(values: argparse.Namespace) -> Iterator[str]:
    """Yield a note if the baseline that a workflow reads doesn't exist."""
    if not values.baseline or os.path.exists(values.baseline):
        return
    folder = Path(values.folder)
    checked = (
        f"--stack {shlex.quote(values.stack)}"
        if values.stack
        else f"{paths_from(folder, values.workloads)} --fleet "
        f"{_fleet_word(folder, values.other_tool)}"
    )
    file = paths_from(folder, [values.baseline])
    yield (
        f"{values.baseline} doesn't exist, so the workflow fails; before you commit the workflow, "
        f"run `pulumi-dra ci {checked} --write-baseline {file}` in {folder}"
    )


def _other_workflow_notes(folder: Path, name: str, text: str, ci: str) -> Iterator[str]:
    """Yield notes about other workflows that check a stack of this project, because each workflow
    writes its own comment.
    """
    stacks, path = _stacks_of(text), folder / name
    mergeable: dict[str, set[str]] = {}
    for other in sorted(path.parent.glob("*.yml")):
        others = _stacks_of(other.read_text(encoding="utf-8", errors="replace"))
        if not others or other.name == path.name:
            continue
        if both := others & stacks:
            yield (
                f"{os.path.normpath(other)} also checks {', '.join(sorted(both))}, so each "
                "pull request gets two comments; delete one of the workflows"
            )
        elif stacks and others <= {*stack_names(folder)}:
            mergeable[os.path.normpath(other)] = others
    if mergeable:
        command = ["pulumi-dra", "init", str(folder), "--only-ci", "--stack"]
        command.append(",".join(sorted(stacks.union(*mergeable.values()))))
        command += ["--ci", ci] if ci != DEFAULT_CI else []
        yield _merge_note(mergeable, shlex.join(command))


def _merge_note(others: Mapping[str, set[str]], command: str) -> str:
    """Return a note that a command replaces a new workflow and the other workflows."""
    checks = [f"{path} checks {', '.join(sorted(stacks))}" for path, stacks in others.items()]
    count, workflows = (
        ("two", "both workflows")
        if len(others) == 1
        else (f"{len(others) + 1}", f"these {len(others) + 1} workflows")
    )
    return (
        f"{listed(checks)}, so each pull request gets {count} comments; for a single "
        f"comment, delete {workflows}, and run `{command}`"
    )


def _stacks_of(workflow: str) -> set[str]:
    """Return the stacks that the `ci` commands of a workflow check."""
    found = _CHECKED_STACKS.findall(workflow)
    return {name for names in found for name in names.strip("'\"").split(",") if name}
