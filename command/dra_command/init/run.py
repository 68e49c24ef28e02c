"""`pulumi-dra init`: a fleet, a first workload and a CI file to start from."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from dra_command.command_line.arguments import UsageError
from dra_command.command_line.exit_status import Status
from dra_command.command_line.file_writer import write_whole
from dra_command.command_line.progress import doing
from dra_command.init import starter_files
from dra_command.inputs.cluster_snapshot import read_observed
from dra_command.inputs.command_inputs import mark_unrelated_files, print_skipped_files
from dra_command.inputs.fleet_files import read_other_tools_fleet
from dra_command.inputs.machine_types import requested_machine_types
from dra_command.inputs.new_cluster import new_cluster_version
from dra_planner.clouds import cloud, cloud_of_region, names
from dra_planner.errors import PlannerError
from dra_planner.plan.cluster.fleet import fleet_of_cluster
from dra_planner.plan.suggestion.suggest import SuggestRequest, suggest_fleets
from dra_planner.sources import Source, read_file, read_sources
from dra_planner.wording import verb
from dra_policies.stack.starting_fleet import fleet_of_state

_FLEET, _WORKLOAD = "fleet.yaml", "workloads/first-claim.yaml"
_LEAST_MAXIMUM = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class InitialFleet:
    """A fleet's document, where it comes from, and what a person has to look at."""

    document: Mapping[str, Any]
    source: str
    notes: tuple[str, ...] = field(default=())


def run(values: argparse.Namespace) -> int:
    """Write the files, say what was written and what to run next; nothing is written where one is there already."""
    folder = Path(values.folder)
    files = starter_files.ci_files(values.ci, workloads=_workloads(values))
    if not values.workloads:
        files[_WORKLOAD] = starter_files.FIRST_CLAIM
    there = [name for name in (_FLEET, *files) if (folder / name).exists()]
    if there and not values.force:
        raise UsageError(
            f"{', '.join(there)} {verb(len(there), 'are')} in {folder} already",
            fix="name another folder, or add --force",
        )
    start = _start(values)
    files = {_FLEET: _fleet_text(start), **files}
    for name, text in files.items():
        path = folder / name
        _make_folder(path.parent)
        write_whole(path, text, UsageError)
        print(f"wrote {path}")
    for note in start.notes:
        print(f"look at {folder / _FLEET}: {note}")
    workloads = " ".join(map(shlex.quote, values.workloads)) or shlex.quote(str(folder / Path(_WORKLOAD).parent))
    print(f"next: pulumi-dra plan {workloads} --fleet {shlex.quote(str(folder / _FLEET))}")
    return Status.FITS


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        fault = "is a file" if isinstance(error, FileExistsError | NotADirectoryError) else f"{error.strerror or error}"
        raise UsageError(f"no file can be written in {folder}: {fault}", fix="name another folder") from None


def _workloads(values: argparse.Namespace) -> str:
    return " ".join(map(shlex.quote, values.workloads)) or "workloads"


def _start(values: argparse.Namespace) -> InitialFleet:
    if values.machines and (values.observed or values.state or values.other_tool):
        raise UsageError("--machines chooses for a new cluster, which --region names", fix="leave one of them out")
    if values.region and values.observed:
        raise UsageError("--region is that of a new cluster: a snapshot says its own", fix="leave one of them out")
    if values.observed:
        return _from_cluster(values)
    if values.state:
        return _from_state(values)
    if values.other_tool:
        return _from_other_tool(values)
    return _from_region(values.region or _ask_region(), values)


def _ask_region() -> str:
    examples = ", ".join(f"{cloud(name).region_example} on {name.upper()}" for name in names())
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError(
            "there is nothing to start from",
            fix=f"give --region ({examples}), --observed FILE, --context NAME, --state FILE or --from FILE",
        )
    print(f"Region of the cluster ({examples}): ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip()


def _from_region(region: str, values: argparse.Namespace) -> InitialFleet:
    """Return the cheapest fleet that runs the workloads, the first claim where none are given."""
    sources: tuple[Source, ...] = (Source(_WORKLOAD, starter_files.FIRST_CLAIM),)
    if values.workloads:
        sources, left_alone = mark_unrelated_files(read_sources(values.workloads), values.workloads, "plan")
        print_skipped_files(left_alone, quiet=values.quiet)
    name = cloud_of_region(region)
    request = SuggestRequest(
        sources=sources,
        cloud=name,
        region=region,
        kubernetes=values.kubernetes or new_cluster_version(name),
        machines=requested_machine_types(values),
    )
    with doing("comparing machines", quiet=values.quiet):
        found = suggest_fleets(request)
    if found.best is None:
        raise PlannerError(
            f"the workloads fit no machine of {region}", fix="ask why: pulumi-dra suggest PATH --region REGION"
        )
    document = dict(found.best.document)
    document["pools"] = [{**pool, "count": _with_room(pool["count"])} for pool in document["pools"]]
    price = f"USD {found.best.hourly_usd:.2f} per hour"
    return InitialFleet(document=document, source=f"the cheapest that runs {_workloads(values)}: {price}")


def _with_room(count: Mapping[str, int]) -> dict[str, int]:
    """Return limits with room to grow into: a pool is built as large as its plan, not as its maximum."""
    return {"min": count["min"], "max": max(_LEAST_MAXIMUM, 2 * count["max"])}


def _from_cluster(values: argparse.Namespace) -> InitialFleet:
    found = fleet_of_cluster(read_observed(values.observed, values.kubeconfig), values.kubernetes)
    return InitialFleet(document=found.document, source=f"the nodes of {values.observed}", notes=found.notes)


def _from_state(values: argparse.Namespace) -> InitialFleet:
    """Return the fleet that a Pulumi stack declares, whatever program made it."""
    source = read_file(values.state)
    document, unknown = fleet_of_state(source.text, values.state, region=values.region, kubernetes=values.kubernetes)
    return InitialFleet(document=document, source=f"the stack in {values.state}", notes=unknown)


def _from_other_tool(values: argparse.Namespace) -> InitialFleet:
    """Return the fleet that a file of another tool describes."""
    path = values.other_tool
    found = read_other_tools_fleet(path, region=values.region, kubernetes=values.kubernetes)
    if found is None:
        raise UsageError(
            f"{path} is no file of Terraform, eksctl, Karpenter, or Cluster API",
            fix="write one: terraform show -json > plan.json",
        )
    return InitialFleet(document=found.document, source=path, notes=found.notes)


def _fleet_text(start: InitialFleet) -> str:
    return f"# Made from {start.source}.\n{yaml.safe_dump(dict(start.document), sort_keys=False, width=120)}"
