"""Sources of the fleet that `init` writes: a region, a cluster, a state, or a file of this or
another tool.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from dra_command.command_line.arguments import UsageError
from dra_command.command_line.progress import doing
from dra_command.command_line.shared_options import CONTEXT
from dra_command.command_line.yaml_text import yaml_text
from dra_command.init.options import DEFAULT_CI
from dra_command.init.schema_comment import schema_comment
from dra_command.init.starter_files import FIRST_CLAIM, FIRST_CLAIM_FILE, WORKLOADS
from dra_command.init.written_files import path_in
from dra_command.inputs.cluster_snapshot import read_observed
from dra_command.inputs.command_inputs import mark_unrelated_files, print_skipped_files
from dra_command.inputs.fleets.catalog_section import replace_catalog
from dra_command.inputs.fleets.fleet_files import read_other_tools_fleet
from dra_command.inputs.fleets.machine_types import requested_machine_types
from dra_command.inputs.fleets.new_cluster import new_cluster_version
from dra_command.inputs.fleets.shared_catalog import find_shared_catalog
from dra_command.pens.amounts import usd
from dra_command.plan_report.compared_types import compared_obstacles
from dra_planner.clouds import cloud, cloud_of_region, names
from dra_planner.errors import PlannerError
from dra_planner.fleet import Fleet, read_fleet, read_fleet_file
from dra_planner.plan.cluster.starting_fleet import fleet_of_cluster
from dra_planner.plan.suggestion.smallest_machines import SmallestFleet, smallest_fleet
from dra_planner.plan.suggestion.suggest import suggest_fleets
from dra_planner.plan.suggestion.suggestions import (
    PricesUnknownError,
    Suggestion,
    Suggestions,
    SuggestRequest,
)
from dra_planner.sources import Source, read_file, read_sources
from dra_planner.wording import counted, verb
from dra_policies.stack.starting_fleet import fleet_of_state

_LEAST_MAXIMUM = 4
_PLACEMENT = "guided"
"""Placement setting for new fleets. With few guards, it keeps the price low."""


class InitialFleet(Struct, frozen=True, kw_only=True):
    """A fleet, the text of its file, and notes about facts that a person must check.

    `file` is the path of an existing fleet file, or "" if the source isn't a fleet file. `nodes`
    describes the nodes and their price if the user named workloads, or "" if the price is unknown.
    `cluster` is the name of the cluster that another tool's file describes.
    """

    fleet: Fleet
    text: str
    notes: tuple[str, ...] = ()
    file: str = ""
    nodes: str = ""
    cluster: str = ""


def starting_fleet(values: argparse.Namespace) -> InitialFleet:
    """Return the fleet that the options describe. Raises PlannerError if the options contradict
    each other, or don't describe a fleet.
    """
    if values.machines and (values.observed or values.state):
        is_context = values.observed and values.observed.startswith(CONTEXT)
        existing = "--context" if is_context else "--observed" if values.observed else "--state"
        raise UsageError(
            f"--machines can't be combined with {existing}, because the nodes already exist",
            fix="remove --machines",
        )
    if values.region and values.observed:
        raise UsageError(
            "--region and --observed can't be combined, because the snapshot contains the region",
            fix="remove one of the two options",
        )
    if values.observed:
        return _from_cluster(values)
    if values.state:
        return _in_region(_from_state(values), values.state, values.region)
    if values.other_tool:
        return _in_region(_from_file(values), values.other_tool, values.region)
    return _from_region(values.region or _ask_region(), values)


def _in_region(start: InitialFleet, file: str, region: str) -> InitialFleet:
    """Return the fleet of a file. Raises UsageError if --region names another region, where its
    zones, machine types, and prices would be others.
    """
    if region and region != start.fleet.region:
        raise UsageError(
            f"--region {region} differs from the region {start.fleet.region} in {file}",
            fix="remove --region, or copy the file, change its region, and pass the copy to --from",
        )
    return start


def _ask_region() -> str:
    examples = ", ".join(f"{cloud(name).region_example} on {name.upper()}" for name in names())
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError(
            "`init` needs a region, a snapshot, a stack, or a file to start from",
            fix=f"use --region ({examples}), --observed FILE, --context NAME, --state FILE, "
            "or --from FILE",
        )
    print(f"Region of the cluster ({examples}): ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip()


def _from_region(region: str, values: argparse.Namespace) -> InitialFleet:
    """Return the cheapest fleet that runs the workloads, or the sample claim if no workloads are
    named.
    """
    sources: tuple[Source, ...] = (Source(FIRST_CLAIM_FILE, FIRST_CLAIM),)
    if values.workloads:
        sources, left_alone = mark_unrelated_files(
            read_sources(values.workloads), values.workloads, "plan"
        )
        print_skipped_files(left_alone, quiet=values.quiet)
    name = cloud_of_region(region)
    request = SuggestRequest(
        sources=sources,
        cloud=name,
        region=region,
        kubernetes=values.kubernetes or new_cluster_version(name),
        machines=requested_machine_types(values),
        whole_gpus=not values.workloads,
        may_upgrade=not values.kubernetes,
    )
    found, every = _found(request, quiet=values.quiet)
    workloads = " ".join(map(shlex.quote, values.workloads)) or WORKLOADS
    if found is None:
        raise _no_fleet_error(region, values.kubernetes, workloads, every)
    if isinstance(found, SmallestFleet):
        return _described(
            _with_higher_limits(found.document),
            f"the smallest machine types with whole GPUs in {region} that run {workloads}; "
            "prices unknown",
            (
                f"the prices of these machine types are unknown in {region}, so plans show costs "
                "only after you set pricePerHour on the pools",
            ),
        )
    fleet = _described(
        _with_higher_limits(found.document),
        f"the cheapest machine types in {region} that run {workloads}: "
        f"{usd(found.hourly_usd)} per hour",
        _price_notes(region, every.unpriced if every else 0),
    )
    machines = " + ".join(f"{count} × {machine}" for machine, count in found.machines)
    return replace(fleet, nodes=f"{machines}, {usd(found.hourly_usd)} per hour")


def _price_notes(region: str, unpriced: int) -> tuple[str, ...]:
    """Return a note if machine types without a known price weren't compared."""
    if not unpriced:
        return ()
    types = f"{counted(unpriced, 'other machine type')} in {region} {verb(unpriced, 'have')}"
    return (f"{types} no known price, so a cheaper fleet might exist",)


def _no_fleet_error(
    region: str, kubernetes: str, workloads: str, every: Suggestions | None
) -> PlannerError:
    """Return the error for workloads that don't fit any machine type. If possible, its reason has a
    fix. `kubernetes` is the version that the user chose, or "".
    """
    fault = f"the workloads don't fit on any machine type in {region}"
    version = f" --kubernetes {kubernetes}" if kubernetes else ""
    command = f"for all reasons, run `pulumi-dra suggest {workloads} --region {region}{version}`"
    first = next(compared_obstacles(every.plan), None) if every is not None else None
    if first is None or not first.lines:
        return PlannerError(fault, fix=command)
    line, fix = next((each for each in first.lines if each[1]), first.lines[0])
    return PlannerError(
        f"{fault}. {first.subject}: {line}", fix=f"{fix}; {command}" if fix else command
    )


def _found(
    request: SuggestRequest, *, quiet: bool
) -> tuple[Suggestion | SmallestFleet | None, Suggestions | None]:
    """Return the cheapest fleet, or the smallest one if its price is unknown and it has fewer
    GPUs, and the comparison; None if no price is known.
    """
    with doing("comparing machines", quiet=quiet):
        try:
            found = suggest_fleets(request)
        except PricesUnknownError:
            return smallest_fleet(request), None
        best = found.best
        may_be_larger = best is None or _gpus(best) > 1
        smallest = smallest_fleet(request) if found.unpriced and may_be_larger else None
    if smallest is None or smallest.plan.cost is not None:
        return best, found
    is_smaller = best is None or smallest.gpus < _gpus(best)
    return (smallest if is_smaller else best), found


def _gpus(fleet: Suggestion) -> int:
    return sum(fleet.fleet.machine(name).gpu_count * nodes for name, nodes in fleet.machines)


def _with_higher_limits(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fleet with guards and with higher limits. Pulumi builds a pool as large as its
    plan, not as large as its maximum.
    """
    pools = [
        {**pool, "count": {**count, "max": max(_LEAST_MAXIMUM, 2 * count["max"])}}
        for pool in document["pools"]
        for count in [pool["count"]]
    ]
    return {**document, "placement": _PLACEMENT, "pools": pools}


def _from_cluster(values: argparse.Namespace) -> InitialFleet:
    found = fleet_of_cluster(read_observed(values.observed, values.kubeconfig), values.kubernetes)
    document = {**found.document, "placement": _PLACEMENT}
    return _described(document, f"the nodes of {_cluster_name(values)}", found.notes)


def _cluster_name(values: argparse.Namespace) -> str:
    """Return the name of the snapshot or context that `init` reads."""
    if not values.observed.startswith(CONTEXT):
        return str(values.observed)
    if context := values.observed.removeprefix(CONTEXT):
        return f"kubectl context {context}"
    return f"the current context of {values.kubeconfig}"


def _from_state(values: argparse.Namespace) -> InitialFleet:
    """Return the fleet that a Pulumi stack declares. The language of the program doesn't matter."""
    source = read_file(values.state)
    document, unknown = fleet_of_state(
        source.text, values.state, region=values.region, kubernetes=values.kubernetes
    )
    return _described(document, f"the stack in {values.state}", unknown)


def _from_file(values: argparse.Namespace) -> InitialFleet:
    """Return the fleet in a file, which is either a fleet file or another tool's description of a
    cluster.
    """
    path = values.other_tool
    found = read_other_tools_fleet(
        path,
        region=values.region,
        kubernetes=values.kubernetes,
        cluster=values.cluster,
        target=_target(values),
        machines=requested_machine_types(values),
    )
    if found is not None:
        document = {**found.document, "placement": _PLACEMENT}
        return replace(_described(document, path, found.notes, start=path), cluster=found.cluster)
    if not values.stack:
        raise UsageError(
            f"{path} isn't a Terraform, eksctl, Karpenter, or Cluster API file",
            fix="if it's Terraform code, pass the output of `terraform show -json`. If it's a "
            "fleet file, add --stack NAME",
        )
    fleet = read_fleet_file(Path(path), find_shared_catalog(path))
    text = read_file(path).text
    if fleet.catalog:  # the region might come from the project's configuration
        text = replace_catalog(text, fleet.document()["catalog"])
    shared = (
        f"stack {values.stack} uses this file, so a change to the file affects every stack "
        "that uses it. For a separate fleet, copy the file, and pass the copy to --from"
    )
    # a file outside the project is copied for the stack
    notes = (shared,) if path_in(Path(values.folder), path) else ()
    return InitialFleet(fleet=fleet, text=text, file=path, notes=notes)


def _target(values: argparse.Namespace) -> str:
    """Return the folder and the other options of this command without --from, for a message that
    repeats the command.
    """
    options = {
        "--stack": [values.stack],
        "--region": [values.region],
        "--cluster": [values.cluster],
        "--kubernetes": [values.kubernetes],
        "--workloads": values.workloads,
        "--ci": [values.ci] if values.ci != DEFAULT_CI else [],
        "--install": [values.install],
    }
    words = [
        word for name, each in options.items() for value in each if value for word in (name, value)
    ]
    return shlex.join([values.folder, *words, *(["--force"] if values.force else [])])


def _described(
    document: Mapping[str, Any], source: str, notes: tuple[str, ...] = (), *, start: str = "."
) -> InitialFleet:
    """Return the fleet in a document. Learned machine types come from the configuration that is
    nearest to `start`.
    """
    fleet = read_fleet(document, file=source, catalog=find_shared_catalog(start))
    if fleet.catalog:
        document = {**document, "catalog": fleet.document()["catalog"]}
    body = yaml_text(dict(document))
    text = f"{schema_comment('fleet')}# Source: {source}.\n{body}"
    return InitialFleet(fleet=fleet, text=text, notes=notes)
