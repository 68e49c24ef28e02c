"""`pulumi-dra catalog add`: add the machine types and drivers of running nodes to a fleet's own
catalog.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from msgspec import structs

from dra_command.command_line.arguments import UsageError
from dra_command.command_line.exit_status import Status
from dra_command.command_line.file_writer import write_whole
from dra_command.inputs.cluster_snapshot import read_observed
from dra_command.inputs.fleets.catalog_section import catalog_section, replace_catalog
from dra_command.pens.terminal.page import print_note
from dra_planner.errors import Diagnostic, PlannerError
from dra_planner.fleet import Fleet, read_document, read_fleet
from dra_planner.manifests import Manifests
from dra_planner.offers import observe_offers
from dra_planner.offers.learning import Learned, learn_machines
from dra_planner.plan import read_checked
from dra_planner.releases import MAXIMUM_MINOR, features_of, parse_version
from dra_planner.sources import read_file
from dra_planner.wording import counted

LEARNED_KINDS: Final = ("nodes", "resourceslices", "deviceclasses", "resourceclaims")
_READ: Final = ("Node", "ResourceSlice", "DeviceClass")


def run_add(values: argparse.Namespace) -> int:
    """Print the rows, or write them into the fleet. Facts that the capture doesn't contain are
    listed on standard error.
    """
    if not values.observed:
        raise UsageError(
            "`catalog add` reads running nodes, but no source is set",
            fix="use --from FILE, --context NAME, or --kubeconfig FILE",
        )
    features = features_of(parse_version(values.kubernetes) if values.kubernetes else MAXIMUM_MINOR)
    snapshot = read_checked(
        read_observed(values.observed, values.kubeconfig, LEARNED_KINDS), features
    )
    unused = tuple(_unused_objects(snapshot))
    try:
        learned = learn_machines(
            observe_offers(snapshot, features),
            snapshot.classes,
            machine=values.machine,
            cloud=values.cloud,
        )
    except PlannerError as error:
        if not unused:
            raise
        first, *others = unused
        raise PlannerError(
            f"can't add machine types from these nodes: {first.message}",
            place=first.place,
            fix=first.fix or error.fix,
            others=tuple(
                PlannerError(each.message, place=each.place, fix=each.fix) for each in others
            ),
        ) from None
    learned = structs.replace(
        learned, remarks=(*(_sentence(each) for each in unused), *learned.remarks)
    )
    if values.format == "json":
        print(
            json.dumps(
                {"version": 1, "catalog": list(learned.rows), "remarks": list(learned.remarks)},
                indent=2,
            )
        )
    else:
        for remark in learned.remarks:
            print_note(f"note: {remark}")
    if values.fleet:
        _write(Path(values.fleet), learned, quiet=values.format == "json")
    elif values.format != "json":
        print(catalog_section(learned.rows), end="")
    return Status.FITS


def _unused_objects(snapshot: Manifests) -> Iterator[Diagnostic]:
    """Yield the reasons why objects in the capture can't be used: the API server would reject them,
    or their Node is missing.
    """
    for each in snapshot.diagnostics:
        if each.rejected is not None and each.rejected.kind in _READ:
            yield each
    nodes = {node.meta.name for node in snapshot.nodes}
    for part in snapshot.slices:
        if nodes and part.node_name and part.node_name not in nodes:
            yield Diagnostic(
                "error",
                "node-missing",
                f"ResourceSlice {part.name}: the snapshot doesn't contain its Node "
                f"{part.node_name}",
                place=part.place,
                fix=(
                    "add the Node to the snapshot: run `kubectl get "
                    "nodes,resourceslices,deviceclasses -o json`"
                ),
            )


def _sentence(diagnostic: Diagnostic) -> str:
    return f"{diagnostic.message}; {diagnostic.fix}" if diagnostic.fix else diagnostic.message


def _write(path: Path, learned: Learned, *, quiet: bool) -> None:
    text = read_file(str(path)).text
    data = read_document(text, str(path))
    before = data.get("catalog") or [] if isinstance(data, Mapping) else []
    new = replace_catalog(text, merge_rows(before, learned.rows))
    fleet = read_fleet(read_document(new, str(path)), file=str(path))
    write_whole(path, new, PlannerError)
    if quiet:
        return
    machines = [str(row["machine"]) for row in learned.rows]
    print(f"Wrote {counted(len(machines), 'machine type')} into {path}: {', '.join(machines)}")
    for machine in _without_pool(machines, fleet):
        print_note(
            f"note: no pool uses machine type {machine}. To plan with this machine type, add a pool"
        )


def merge_rows(
    before: Sequence[Mapping[str, Any]], learned: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return the rows of a catalog. Learned rows replace existing rows for the same machine type or
    driver. Drivers that this capture doesn't contain keep their rows.
    """
    rows = {str(row["machine"]): dict(row) for row in before}
    for row in learned:
        known = rows.get(str(row["machine"]), {})
        new = {str(each["driver"]): each for each in row["drivers"]}
        kept = [each for each in known.get("drivers", ()) if str(each["driver"]) not in new]
        rows[str(row["machine"])] = {**known, **row, "drivers": [*kept, *new.values()]}
    return list(rows.values())


def _without_pool(machines: Sequence[str], fleet: Fleet) -> list[str]:
    there = {pool.machine.partition("+")[0] for pool in fleet.pools}
    return [machine for machine in machines if machine not in there]
