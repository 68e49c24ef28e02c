"""`pulumi-dra init`: create a fleet or a whole stack, a sample workload, and a CI workflow."""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Iterator
from pathlib import Path

from dra_command.command_line.exit_status import Status
from dra_command.command_line.file_writer import write_whole
from dra_command.init.existing_workloads import use_existing_workloads
from dra_command.init.install_source import install_notes
from dra_command.init.project_files import (
    MERGED,
    account_settings,
    check_stack_name,
    project_files,
    stack_settings,
)
from dra_command.init.requirements import installs_this_package
from dra_command.init.starter_files import (
    FIRST_CLAIM,
    FIRST_CLAIM_FILE,
    WORKLOADS,
    CheckedFiles,
)
from dra_command.init.starting_fleets import InitialFleet, starting_fleet
from dra_command.init.workflow import (
    print_pipeline_notes,
    print_workflow_notes,
    workflow_files,
    write_workflow,
)
from dra_command.init.written_files import (
    path_in,
    paths_from,
    print_notes,
    require_new,
    text_at,
    write_files,
)
from dra_command.inputs.command_inputs import mark_unrelated_files
from dra_command.plan_report.headline import headline
from dra_planner.errors import PlanFileError
from dra_planner.fleet import read_stack
from dra_planner.plan import Plan, PlanRequest, make_plan, plan_file
from dra_planner.planfile import file_text, plan_path
from dra_planner.sources import read_sources

_FLEET = "fleet.yaml"


def run(values: argparse.Namespace) -> int:
    """Write the files, and print their paths and the next commands.

    Existing files are replaced only with --force. Raises PlannerError if the input is invalid, or
    if a file already exists with different content.
    """
    use_existing_workloads(values)
    if values.only_ci:
        return write_workflow(values)
    return _write_stack(values) if values.stack else _write_fleet(values)


def _write_fleet(values: argparse.Namespace) -> int:
    folder = Path(values.folder)
    workloads = " ".join(map(shlex.quote, values.workloads)) or WORKLOADS
    checked = CheckedFiles(
        workloads=paths_from(folder, values.workloads) or WORKLOADS, fleet=_FLEET
    )
    pipeline = workflow_files(values, checked)
    files = {**pipeline, **_sample(values)}
    require_new(folder, [_FLEET, *files], force=values.force)
    start = starting_fleet(values)
    write_files(folder, {_FLEET: start.text, **files}, quiet=values.quiet)
    print_notes(folder / _FLEET, start.notes)
    print_pipeline_notes(folder, values, pipeline)
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
    own_file = path_in(folder, start.file)
    fleet_file = own_file or f"stacks/{stack}.fleet.yaml"
    workloads = [os.path.relpath(path, folder) for path in values.workloads] or [WORKLOADS]
    # an existing sample file might contain a user's changes
    sample = {} if (folder / FIRST_CLAIM_FILE).exists() else _sample(values)
    is_new_source = bool(values.install) or not installs_this_package(
        text_at(folder / "requirements.txt", "")
    )
    shared = {**project_files(folder, start.fleet, values.install), **sample}
    pipeline = workflow_files(values, CheckedFiles(stack=stack))
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
        if name not in MERGED and text != text_at(folder / name, text)
    ]
    require_new(folder, [*different, *files], force=values.force)
    new = {name: text for name, text in shared.items() if text != text_at(folder / name, "")}
    write_files(folder, {**new, **files}, quiet=values.quiet)
    plan = _write_plan(folder, stack)
    if not values.quiet:
        print(f"wrote {plan_path(stack, folder)}")
    print_notes(folder / fleet_file, (*start.notes, *_access_notes(start)))
    if is_new_source:
        print_notes(folder / "requirements.txt", install_notes(values.install, folder))
    print_notes(
        folder / f"stacks/Pulumi.{stack}.yaml",
        [
            *(f"set {key} to {value}" for key, value in account_settings(start.fleet).items()),
            *_cluster_notes(start),
        ],
    )
    print_workflow_notes(folder, values.ci, {} if values.quiet else pipeline)
    if values.quiet:
        return Status.FITS
    print(headline(plan))
    print(f"after changes: pulumi-dra plan --stack {stack} --write")
    print("next:")
    for command in _next_commands(folder, stack, plan):
        print(f"  {command}")
    return Status.FITS


def _cluster_notes(start: InitialFleet) -> tuple[str, ...]:
    if not start.cluster:
        return ()
    return (
        f"the stack manages a cluster named {start.cluster}. If this cluster already exists, "
        "import it before the first `pulumi up` (docs/operations/existing.md). To create another "
        "cluster, change cluster.clusterName",
    )


def _access_notes(start: InitialFleet) -> tuple[str, ...]:
    if start.fleet.endpoint.public_access_cidrs or start.fleet.network.subnet_ids:
        return ()
    return (
        "the API server accepts only connections from the cluster's network. To deploy from "
        "another network, list the network in endpoint.publicAccessCidrs",
    )


def _next_commands(folder: Path, stack: str, plan: Plan) -> Iterator[str]:
    if folder != Path():
        yield f"cd {shlex.quote(str(folder))}"
    if plan.verdict == "does-not-fit":  # in this case, `pulumi up` would fail
        yield f"pulumi-dra plan --stack {stack}    # reasons and fixes"
        yield f"pulumi-dra plan --stack {stack} --write    # after you apply a fix"
        return
    about = "review the plan" if plan.verdict == "fits" else "reasons and fixes"
    yield f"pulumi-dra plan --stack {stack}    # {about}"
    yield "pulumi install"
    yield f"pulumi stack init {stack}"
    yield f"pulumi up --stack {stack} --policy-pack policies"


def _sample(values: argparse.Namespace) -> dict[str, str]:
    return {} if values.workloads else {FIRST_CLAIM_FILE: FIRST_CLAIM}


def _write_plan(folder: Path, stack: str) -> Plan:
    """Write the plan of a stack as `plan --stack NAME --write` does, and return it."""
    settings = read_stack(stack, folder)
    paths = [str(folder / path) for path in settings.workloads]
    sources, _ = mark_unrelated_files(read_sources(paths), paths, "plan")
    plan = make_plan(PlanRequest(sources=sources, fleet=settings.fleet, paths=settings.workloads))
    path = plan_path(stack, folder)
    write_whole(path, file_text(plan_file(plan)), PlanFileError)
    return plan
