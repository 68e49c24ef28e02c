"""`pulumi-dra verify`: compare a running cluster with the fleet, and print the catalog rows that
would fix a difference.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

from msgspec import structs

from dra_command.command_line.arguments import UsageError
from dra_command.command_line.exit_status import Status
from dra_command.command_line.shared_options import CONTEXT
from dra_command.inputs.command_inputs import read_inputs
from dra_command.pens.terminal.page import Page
from dra_command.pens.terminal.row_paragraphs import is_too_wide, print_rows
from dra_command.verify.contract import MissingRow, NodeDifferenceRow, VerifyOutput
from dra_planner.documents.snapshot import VERIFIED_KINDS
from dra_planner.drivers import nvidia
from dra_planner.errors import PlannerError
from dra_planner.fleet import Fleet, split_pools
from dra_planner.manifests import Manifests
from dra_planner.model import NO_GUARDS, DeviceClass, WorkloadRef
from dra_planner.offers import (
    CatalogRow,
    NodeDifference,
    Offer,
    Verification,
    observe_offers,
    predict_offers,
    rows_to_add,
    verify_classes,
    verify_driver,
    verify_offers,
)
from dra_planner.offers.learning import learn_machines
from dra_planner.plan import fleet_classes, read_checked
from dra_planner.plan.cluster.device_health import verify_health
from dra_planner.plan.cluster.guard_checks import (
    GuardChecks,
    guard_kinds,
    read_policies,
    verify_guards,
)
from dra_planner.plan.cluster.pending_pods import verify_pods
from dra_planner.planfile import PlanFile, plan_path, read_plan_file
from dra_planner.releases import has_mutating_policies, parse_version
from dra_planner.sources import Source
from dra_planner.wording import counted, verb

_MOST_NAMES = 3
_OF_DEVICES = frozenset({"driver", "count", "attribute", "capacity", "device-taint"})


def run(values: argparse.Namespace) -> int:
    """Print every difference between the prediction and the snapshot. Return 1 if there is one, and
    3 if no node was compared.
    """
    if not (values.stack or values.fleet):
        raise UsageError(
            "`verify` needs a stack or a fleet", fix="use --stack NAME or --fleet FILE"
        )
    if not values.observed:
        raise UsageError(
            "`verify` needs a cluster",
            fix="use --observed FILE, --context NAME, or --kubeconfig FILE",
        )
    saved = _saved_plan(values.stack)
    guards = saved.guards.guards if saved is not None and saved.guards is not None else NO_GUARDS
    further = guard_kinds(saved.fleet.minor) if saved is not None and guards.kinds else ()
    inputs = read_inputs(
        values,
        needs_capacity=True,
        needs_manifests=False,
        kinds=tuple(dict.fromkeys((*VERIFIED_KINDS, *further))),
    )
    assert inputs.fleet is not None  # --stack or --fleet was given
    fleet = split_pools(inputs.fleet, guards.parts)
    minor = parse_version(inputs.kubernetes) if inputs.kubernetes else fleet.minor
    features = fleet.features_at(minor)
    snapshot = read_checked(inputs.observed, features)
    observed = observe_offers(snapshot, features)
    found = verify_offers(predict_offers(fleet, features), observed, _planned_counts(saved, fleet))
    pool_of_node = {node: pool for pool, nodes in found.compared.items() for node in nodes}
    daemon_sets = [each.meta for each in snapshot.workloads if each.kind == "DaemonSet"]
    options = fleet.drivers.of(nvidia.DRIVER)
    installed = [*(verify_driver(options.version, daemon_sets) if options is not None else ())]
    if snapshot.classes:
        planned_classes = fleet_classes(fleet, features)
        installed = [*verify_classes(planned_classes, snapshot.classes), *installed]
    checks, pending = _of_workloads(saved, snapshot, inputs.observed, features.minor)
    found = structs.replace(
        found,
        differences=(
            *found.differences,
            *verify_health(inputs.observed, pool_of_node),
            *installed,
            *checks.differences,
            *pending,
        ),
    )
    rows = rows_to_add(observed)
    learned = _learned(found, observed, snapshot.classes, fleet.cloud)
    if values.format == "json":
        print(_json(found, rows, learned, checks))
    else:
        _print(found, rows, learned, checks, values)
    if not found.holds:
        return Status.BROKEN
    is_known = _is_known(found, checks)
    return Status.FITS if is_known or values.allow_unknown else Status.CANNOT_TELL


def _of_workloads(
    saved: PlanFile | None, snapshot: Manifests, observed: Iterable[Source], minor: int
) -> tuple[GuardChecks, tuple[NodeDifference, ...]]:
    """Return the differences from the guards of the saved plan, and its pending workloads."""
    if saved is None:
        return GuardChecks(), ()
    planned = [WorkloadRef(row.kind, row.namespace, row.name) for row in saved.workloads]
    pending = verify_pods(snapshot, planned)
    guards = saved.guards.guards if saved.guards is not None else NO_GUARDS
    if not guards.kinds:
        return GuardChecks(), pending
    policies = read_policies(observed) if has_mutating_policies(minor) else None
    return verify_guards(guards, snapshot, planned, policies), pending


def _is_known(found: Verification, checks: GuardChecks) -> bool:
    """Return whether the snapshot contains everything that the plan states about the cluster."""
    return bool(found.compared) and not checks.unknown


def _saved_plan(stack: str) -> PlanFile | None:
    """Return the saved plan of a stack, or None if there is none."""
    if not stack or not plan_path(stack).exists():
        return None
    return read_plan_file(plan_path(stack), stack=stack)


def _planned_counts(saved: PlanFile | None, fleet: Fleet) -> dict[str, tuple[int, int]]:
    """Return the number of nodes in each pool according to the stack's saved plan: the planned
    number, or a range if the number can change.
    """
    if saved is None:
        return {}
    nodes = {row.name: row.nodes for row in saved.pools}
    if fleet.is_autoscaled:
        return {name: (each.min, each.max) for name, each in nodes.items()}
    least = {
        pool.name: nodes[pool.name].min
        for pool in fleet.pools
        if pool.schedule and pool.name in nodes
    }
    return {name: (least.get(name, each.desired), each.desired) for name, each in nodes.items()}


def _learned(
    found: Verification,
    observed: Sequence[Offer],
    classes: Mapping[str, DeviceClass],
    cloud: str,
) -> tuple[Mapping[str, Any], ...]:
    """Return rows for the fleet's catalog, of the machine types whose devices aren't as
    predicted.
    """
    changed = {each.node for each in found.differences if each.aspect in _OF_DEVICES}
    changed.update(found.nodes_without_pool)
    machines = {node.machine for node in observed if node.name in changed and node.machine}
    nodes = [
        node
        for node in observed
        if node.machine in machines and any(part.devices for part in node.slices)
    ]
    try:
        return learn_machines(nodes, classes, cloud=cloud).rows if nodes else ()
    except PlannerError:
        return ()  # incomplete pools, which the differences already report


def _json(
    found: Verification,
    rows: tuple[CatalogRow, ...],
    learned: tuple[Mapping[str, Any], ...],
    checks: GuardChecks,
) -> str:
    is_known = _is_known(found, checks)
    output = VerifyOutput(
        verdict="does-not-fit" if not found.holds else "fits" if is_known else "cannot-tell",
        compared={pool: list(nodes) for pool, nodes in found.compared.items()},
        pools_without_nodes=list(found.pools_without_nodes),
        nodes_without_pool=list(found.nodes_without_pool),
        differences=[NodeDifferenceRow(**structs.asdict(each)) for each in found.differences],
        rows_to_add=[MissingRow(**structs.asdict(row)) for row in rows],
        learned_machines=[dict(row) for row in learned],
        unplanned_workloads=dict(checks.unplanned),
        unknown=[checks.unknown] if checks.unknown else [],
    )
    return output.model_dump_json(indent=2)


def _print(
    found: Verification,
    rows: tuple[CatalogRow, ...],
    learned: tuple[Mapping[str, Any], ...],
    checks: GuardChecks,
    values: argparse.Namespace,
) -> None:
    with Page() as page:
        nodes = sum(map(len, found.compared.values()))
        if found.differences:
            page.line(
                (
                    f"{counted(len(found.differences), 'difference')} on {counted(nodes, 'node')}.",
                    "bold red",
                )
            )
            heads = ("what", "of", "predicted", "observed", "where")
            cells = [(*cells, _names(at)) for cells, at in _alike(found.differences).items()]
            if is_too_wide(page, heads, cells):
                print_rows(page, heads, cells, names=2)
            else:
                page.table(heads, cells)
        elif found.compared:
            page.line(
                (f"{counted(nodes, 'node')} {verb(nodes, 'are')} as predicted.", "bold green")
            )
        else:
            page.line(("No node in the snapshot belongs to a pool in the fleet.", "bold yellow"))
        if any(each.aspect == "pod" for each in found.differences):
            page.text("to see why pods are pending, run `pulumi-dra plan` on the same cluster")
        if found.pools_without_nodes:
            page.text(f"pools without a node: {', '.join(found.pools_without_nodes)}")
        if found.nodes_without_pool:
            page.text(f"nodes without a pool: {', '.join(found.nodes_without_pool)}")
        if checks.unknown:
            page.text(f"? {checks.unknown}")
        if checks.unplanned:
            pods = ", ".join(
                f"{name} ({counted(number, 'pod')})" for name, number in checks.unplanned.items()
            )
            page.text(
                f"not in the plan, so these pods can run in any pool: {pods}. Add the workloads to "
                "the stack, and run `pulumi-dra plan --write`"
            )
        if learned:
            machines = ", ".join(str(row["machine"]) for row in learned)
            page.gap()
            page.text(f"To plan with the devices of {machines}, add these rows to the fleet:")
            page.verbatim(_command(values))
        _print_rows(page, rows)


def _command(values: argparse.Namespace) -> str:
    """Return the command that adds the machine types of the compared nodes to the catalog."""
    context = values.observed.removeprefix(CONTEXT)
    if context == values.observed:
        cluster = ["--from", values.observed]
    else:
        cluster = [*(("--context", context) if context else ())]
        cluster += [*(("--kubeconfig", values.kubeconfig) if values.kubeconfig else ())]
    fleet = ["--fleet", values.fleet] if values.fleet else []
    return shlex.join(["pulumi-dra", "catalog", "add", *cluster, *fleet])


def _print_rows(page: Page, rows: tuple[CatalogRow, ...]) -> None:
    """Print the rows below the name of their table, each as a line that can be added to the
    table.
    """
    for (table, replaces), lines in groupby(rows, key=lambda row: (row.table, row.replaces)):
        lacking = list(lines)
        page.gap()
        what = f"Replace the row {replaces} in" if replaces else "Append rows to"
        page.line(
            (f"The catalog is incomplete. {what} planner/dra_planner/data/{table}.csv", "bold")
        )
        for reason in dict.fromkeys(row.reason for row in lacking):
            page.text(reason, indent=2)
        for row in lacking:
            page.verbatim(row.line)


def _alike(differences: Iterable[NodeDifference]) -> dict[tuple[str, ...], list[str]]:
    """Return the cells that several nodes have alike, with their names."""
    alike: dict[tuple[str, ...], list[str]] = {}
    for each in differences:
        subject = " ".join(filter(None, (each.subject, each.field)))
        cells = (each.aspect, subject, each.predicted or "none", each.observed or "none")
        alike.setdefault(cells, []).append(
            each.node or (f"pool {each.pool}" if each.pool else "cluster")
        )
    return alike


def _names(nodes: list[str]) -> str:
    shown = ", ".join(nodes[:_MOST_NAMES])
    hidden = len(nodes) - _MOST_NAMES
    return f"{shown} and {hidden} more" if hidden > 0 else shown
