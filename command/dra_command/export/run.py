"""`pulumi-dra export`: convert the pools of a fleet to files for another tool."""

from __future__ import annotations

import argparse
import json

from dra_command.command_line.arguments import UsageError
from dra_command.command_line.exit_status import Status
from dra_command.command_line.yaml_text import yaml_documents
from dra_command.inputs.fleets.fleet_files import read_fleet_of
from dra_command.inputs.fleets.shared_catalog import find_shared_catalog
from dra_command.pens.terminal.page import print_note
from dra_planner.clouds.foreign.export import export_cluster, export_losses
from dra_planner.fleet import read_stack
from dra_planner.fleet_sources.description import describe_fleet
from dra_planner.planfile import plan_path, read_plan_file

_NAME = "gpus"


def run(values: argparse.Namespace) -> int:
    """Print the documents, and notes on standard error. Raises PlannerError for wrong input."""
    nodes: dict[str, int] = {}
    if values.stack:
        fleet = read_stack(values.stack, catalog=find_shared_catalog(".")).fleet
        if plan_path(values.stack).exists():
            saved = read_plan_file(plan_path(values.stack), stack=values.stack)
            nodes = {pool.name: pool.nodes.desired for pool in saved.pools}
    elif values.fleet:
        fleet = read_fleet_of(values.fleet, quiet=values.quiet)
    else:
        raise UsageError("`export` needs a fleet", fix="use --fleet FILE or --stack NAME")
    cluster = describe_fleet(fleet, values.cluster or values.stack or _NAME, nodes)
    documents = export_cluster(cluster, values.to)
    if values.to == "terraform":
        print(json.dumps(documents[0], indent=2))
    else:
        print(yaml_documents(documents), end="")
    for note in () if values.quiet else export_losses(cluster, values.to):
        print_note(note)
    return Status.FITS
