"""`pulumi-dra migrate` without manifests: the report of a running cluster."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from dra_command.command_line.arguments import UsageError
from dra_command.command_line.exit_status import Status
from dra_command.command_line.shared_options import CONTEXT
from dra_command.inputs.cluster_snapshot import read_observed, served_kinds
from dra_command.inputs.fleets.fleet_files import read_fleet_of
from dra_command.migrate.cluster_json import cluster_json
from dra_command.migrate.cluster_text import print_cluster
from dra_planner.documents.snapshot import SNAPSHOT_KINDS
from dra_planner.manifests.documents import read_documents
from dra_planner.manifests.objects import KubernetesObject, read_objects
from dra_planner.migration import PluginFacts
from dra_planner.migration.cluster import classes_served, cluster_version, report_cluster
from dra_planner.migration.target_cluster import Target, target_of_fleet

_KINDS: Final = (*SNAPSHOT_KINDS, "configmaps", "horizontalpodautoscalers")
_CUSTOM_KINDS: Final = {
    "nvidia.com": ("clusterpolicies", "gpuclusters"),
    "monitoring.coreos.com": ("prometheusrules",),
    "keda.sh": ("scaledobjects",),
    "kueue.x-k8s.io": ("clusterqueues", "resourceflavors"),
}
"""Kinds that a cluster may lack, by their groups; `kubectl get` fails for a kind that the cluster
doesn't have.
"""


def run_cluster(values: argparse.Namespace, answers: PluginFacts) -> int:
    """Print the report of a cluster. Return 1 if a workload can't move, or if two allocators manage
    the devices of the same node.

    Raises UsageError for options that need manifests.
    """
    if values.write or values.steps or values.steps_folder or values.format == "diff":
        raise UsageError(
            "--observed without manifests prints only a report, so it doesn't support "
            "--write, --steps, --steps-folder, or --format diff",
            fix="pass manifests, or remove --write, --steps, --steps-folder, and --format diff",
        )
    kinds = (*_KINDS, *_custom_kinds(values)) if values.observed.startswith(CONTEXT) else _KINDS
    documents, _ = read_documents(read_observed(values.observed, values.kubeconfig, kinds))
    objects = read_objects(documents)
    report = report_cluster(objects, _target(values, objects), answers)
    if values.format == "json":
        print(cluster_json(report))
    else:
        print_cluster(report, quiet=values.quiet, verbose=values.verbose)
    return Status.FITS if report.is_ready else Status.BROKEN


def _target(values: argparse.Namespace, objects: Sequence[KubernetesObject]) -> Target:
    """Return the cluster of the fleet as the target, or the running cluster itself."""
    keep = frozenset(values.keep)
    if values.fleet:
        fleet = read_fleet_of(values.fleet, quiet=values.quiet)
        return target_of_fleet(fleet, values.kubernetes or "", keep)
    found = target_of_fleet(None, values.kubernetes or cluster_version(objects), keep)
    return replace(found, served=classes_served(objects))


def _custom_kinds(values: argparse.Namespace) -> list[str]:
    """Return the custom kinds that the running cluster serves. For an unreachable cluster, the
    result is empty, and taking the snapshot then fails with the reason.
    """
    known = served_kinds(values.kubeconfig, values.observed.removeprefix(CONTEXT))
    wanted = [f"{kind}.{group}" for group, kinds in _CUSTOM_KINDS.items() for kind in kinds]
    return [name for name in wanted if name in known]
