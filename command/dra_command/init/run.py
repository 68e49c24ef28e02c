"""`pulumi-dra init`: a fleet or a whole stack, a sample workload, and a CI workflow to start
from.
"""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path

from dra_command.command_line.arguments import UsageError
from dra_command.command_line.exit_status import Status
from dra_command.command_line.file_writer import write_whole
from dra_command.init.install_source import install_notes
from dra_command.init.project_files import (
    MERGED,
    account_settings,
    check_stack_name,
    project_files,
    stack_settings,
)
from dra_command.init.repository import is_in_repository
from dra_command.init.starter_files import (
    CI_NAMES,
    FIRST_CLAIM,
    FIRST_CLAIM_FILE,
    WORKLOADS,
    CheckedFiles,
    ci_files,
)
from dra_command.init.starting_fleets import InitialFleet, starting_fleet
from dra_command.inputs.command_inputs import mark_unrelated_files
from dra_command.pens.amounts import usd
from dra_command.pens.verdict_words import VERDICT_WORDS
from dra_planner.errors import PlanFileError
from dra_planner.fleet import is_url, read_stack, stack_names
from dra_planner.plan import Plan, PlanRequest, make_plan, plan_file
from dra_planner.planfile import file_text, plan_path
from dra_planner.sources import read_sources
from dra_planner.wording import counted, verb

_FLEET = "fleet.yaml"


def run(values: argparse.Namespace) -> int:
    """Write the files, and print their paths and the next commands. Existing files are replaced
    only with --force.

    Raises PlannerError for wrong input, and if a file that differs exists.
    """
    if values.only_ci:
        return _write_workflow(values)
    return _write_stack(values) if values.stack else _write_fleet(values)


def _write_workflow(values: argparse.Namespace) -> int:
    """Write only the CI workflow, for the stacks of a project, or for manifests and a fleet."""
    folder = Path(values.folder)
    pipeline = ci_files(values.ci, _checked_files(values, folder), folder, values.install)
    if not pipeline:
        raise UsageError("--only-ci needs a CI system", fix="use --ci github or --ci gitlab")
    _require_new(folder, list(pipeline), force=values.force)
    _write(folder, pipeline, quiet=values.quiet)
    _print_pipeline_notes(folder, values, pipeline)
    return Status.FITS


def _checked_files(values: argparse.Namespace, folder: Path) -> CheckedFiles:
    """Return the stacks, or the manifests and the fleet, that a workflow checks. Raises UsageError
    if they don't exist.
    """
    stacks = [name for name in values.stack.split(",") if name]
    if stacks:
        known = stack_names(folder)
        if missing := [name for name in stacks if name not in known]:
            raise UsageError(
                f"{folder / 'stacks'} doesn't contain Pulumi.{missing[0]}.yaml",
                fix=f"use one of {', '.join(known)}"
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
    for path in (*values.workloads, values.other_tool):
        if not (is_url(path) or os.path.exists(path)):
            raise UsageError(f"{path} doesn't exist", fix="use the path of a file or folder")
    return CheckedFiles(
        workloads=_paths_from(folder, values.workloads),
        fleet=_paths_from(folder, [values.other_tool]),
    )


def _write_fleet(values: argparse.Namespace) -> int:
    folder = Path(values.folder)
    workloads = " ".join(map(shlex.quote, values.workloads)) or WORKLOADS
    checked = CheckedFiles(
        workloads=_paths_from(folder, values.workloads) or WORKLOADS, fleet=_FLEET
    )
    pipeline = ci_files(values.ci, checked, folder, values.install)
    files = {**pipeline, **_sample(values)}
    _require_new(folder, [_FLEET, *files], force=values.force)
    start = starting_fleet(values)
    _write(folder, {_FLEET: start.text, **files}, quiet=values.quiet)
    _print_notes(folder / _FLEET, start.notes)
    _print_pipeline_notes(folder, values, pipeline)
    if values.quiet:
        return Status.FITS
    if start.nodes:
        print(f"cheapest nodes for {workloads}: {start.nodes} (without the system pool)")
    named = " ".join(map(shlex.quote, values.workloads)) or shlex.quote(str(folder / WORKLOADS))
    print(f"next: pulumi-dra plan {named} --fleet {shlex.quote(str(folder / _FLEET))}")
    return Status.FITS


def _write_stack(values: argparse.Namespace) -> int:
    """Write a Pulumi project with one stack, or add the stack to a project that `init` wrote."""
    folder, stack = Path(values.folder), check_stack_name(values.stack)
    start = starting_fleet(values)
    own_file = _path_in(folder, start.file)
    fleet_file = own_file or f"stacks/{stack}.fleet.yaml"
    workloads = [os.path.relpath(path, folder) for path in values.workloads] or [WORKLOADS]
    sample = {} if (folder / FIRST_CLAIM_FILE).exists() else _sample(values)  # a user's by now
    shared = {**project_files(folder, start.fleet, values.install), **sample}
    pipeline = ci_files(values.ci, CheckedFiles(stack=stack), folder, values.install)
    files = {
        **pipeline,
        f"stacks/Pulumi.{stack}.yaml": stack_settings(
            start.fleet, fleet_file, workloads, start.cluster
        ),
        **({} if own_file else {fleet_file: start.text}),
    }
    different = [
        name
        for name, text in shared.items()
        if name not in MERGED and text != _text(folder / name, text)
    ]
    _require_new(folder, [*different, *files], force=values.force)
    new = {name: text for name, text in shared.items() if text != _text(folder / name, "")}
    _write(folder, {**new, **files}, quiet=values.quiet)
    plan = _write_plan(folder, stack)
    if not values.quiet:
        print(f"wrote {plan_path(stack, folder)}")
    _print_notes(folder / fleet_file, (*start.notes, *_access_notes(start)))
    if not values.quiet:
        _print_notes(folder / "requirements.txt", install_notes(values.install, folder))
    _print_notes(
        folder / f"stacks/Pulumi.{stack}.yaml",
        [*(f"set {key}" for key in account_settings(start.fleet)), *_cluster_notes(start)],
    )
    _print_workflow_note(folder, values.ci, () if values.quiet else pipeline)
    if values.quiet:
        return Status.FITS
    nodes = sum(pool.nodes.desired for pool in plan.pools)
    price = "" if plan.cost is None else f", {usd(plan.cost.hourly_usd)} per hour"
    print(f"plan: {VERDICT_WORDS[plan.verdict]}, {counted(nodes, 'GPU node')}{price}")
    print(f"after changes: pulumi-dra plan --stack {stack} --write")
    print("next:")
    for command in _next_commands(folder, stack, plan):
        print(f"  {command}")
    return Status.FITS


def _print_pipeline_notes(
    folder: Path, values: argparse.Namespace, pipeline: Iterable[str]
) -> None:
    """Print what to do before a CI workflow works."""
    for name in () if values.quiet else pipeline:
        _print_notes(folder / name, install_notes(values.install, folder))
    _print_workflow_note(folder, values.ci, () if values.quiet else pipeline)


def _print_workflow_note(folder: Path, ci: str, files: Iterable[str]) -> None:
    """Print that a workflow has no effect below the root of a repository that isn't there yet, and
    that GitLab must include it.
    """
    for name in files if ci == "gitlab" else ():
        local = os.path.basename(name)
        _print_notes(folder / name, [f"add to .gitlab-ci.yml: include: [{{local: {local}}}]"])
    if ci != "none" and not is_in_repository(folder):
        print(
            f"{CI_NAMES[ci]} reads CI workflows only from the root of a repository, but {folder} "
            "isn't in a git repository; move the workflow to your repository's root"
        )


def _cluster_notes(start: InitialFleet) -> tuple[str, ...]:
    if not start.cluster:
        return ()
    return (
        f"the stack manages a cluster named {start.cluster}. If this cluster exists, import it "
        "before the first `pulumi up` (docs/operations/existing.md); to create another cluster, "
        "change cluster.clusterName",
    )


def _access_notes(start: InitialFleet) -> tuple[str, ...]:
    if start.fleet.endpoint.public_access_cidrs or start.fleet.network.subnet_ids:
        return ()
    return (
        "the API server accepts only connections from the cluster's network; to deploy from "
        "another network, list the network in endpoint.publicAccessCidrs",
    )


def _next_commands(folder: Path, stack: str, plan: Plan) -> Iterator[str]:
    if folder != Path():
        yield f"cd {shlex.quote(str(folder))}"
    about = "review the plan" if plan.verdict == "fits" else "reasons and fixes"
    yield f"pulumi-dra plan --stack {stack}    # {about}"
    yield "pulumi install"
    yield f"pulumi stack init {stack}"
    yield f"pulumi up --stack {stack} --policy-pack policies"


def _sample(values: argparse.Namespace) -> dict[str, str]:
    return {} if values.workloads else {FIRST_CLAIM_FILE: FIRST_CLAIM}


def _paths_from(folder: Path, paths: Iterable[str]) -> str:
    """Return paths from a folder, as arguments of a command that runs there."""
    return shlex.join(path if is_url(path) else os.path.relpath(path, folder) for path in paths)


def _path_in(folder: Path, file: str) -> str:
    """Return the path of a file from a folder; "" if there is no such file in it."""
    if not file or not Path(file).resolve().is_relative_to(folder.resolve()):
        return ""
    return Path(file).resolve().relative_to(folder.resolve()).as_posix()


def _text(path: Path, otherwise: str) -> str:
    """Return the text at a path; `otherwise` if nothing is there."""
    if not path.exists():
        return otherwise
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""


def _require_new(folder: Path, names: list[str], *, force: bool) -> None:
    paths = [os.path.normpath(folder / name) for name in names]  # `..` also of a new folder
    there = [path for path in paths if os.path.exists(path)]
    if there and not force:
        raise UsageError(
            f"{', '.join(there)} already {verb(len(there), 'exist')}",
            fix="use another folder, or add --force",
        )


def _write(folder: Path, files: dict[str, str], *, quiet: bool) -> None:
    for name, text in files.items():
        path = Path(os.path.normpath(folder / name))
        _make_folder(path.parent)
        write_whole(path, text, UsageError)
        if not quiet:
            print(f"wrote {path}")


def _write_plan(folder: Path, stack: str) -> Plan:
    """Write the plan of a stack as `plan --stack NAME --write` does, and return it."""
    settings = read_stack(stack, folder)
    paths = [str(folder / path) for path in settings.workloads]
    sources, _ = mark_unrelated_files(read_sources(paths), paths, "plan")
    plan = make_plan(PlanRequest(sources=sources, fleet=settings.fleet, paths=settings.workloads))
    path = plan_path(stack, folder)
    write_whole(path, file_text(plan_file(plan)), PlanFileError)
    return plan


def _print_notes(path: Path, notes: Iterable[str]) -> None:
    for note in notes:
        print(f"look at {os.path.normpath(path)}: {note}")


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        fault = (
            "is a file"
            if isinstance(error, FileExistsError | NotADirectoryError)
            else f"{error.strerror or error}"
        )
        raise UsageError(
            f"files can't be written to {folder}: {fault}", fix="use another folder"
        ) from None
