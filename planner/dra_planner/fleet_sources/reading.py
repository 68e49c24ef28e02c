"""Fleets from files of Terraform, OpenTofu, eksctl, Karpenter, or Cluster API."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any, Final

from dra_planner.clouds.foreign import (
    ForeignCluster,
    is_foreign,
    read_foreign_clusters,
    state_file_fault,
)
from dra_planner.errors import FleetError, Place
from dra_planner.fleet import LearnedMachine
from dra_planner.fleet_sources.document import ImportedFleet, fleet_of_cluster_description

TERRAFORM_FIX: Final = (
    "convert the file to JSON with Terraform or OpenTofu: terraform show -json > plan.json"
)


def read_imported_fleet(
    documents: Sequence[Any],
    *,
    file: str,
    region: str = "",
    kubernetes: str = "",
    cluster: str = "",
    learned: Sequence[LearnedMachine] = (),
    target: str = "FOLDER",
    machines: Sequence[str] = (),
) -> ImportedFleet | None:
    """Return the fleet that plain data of another tool describes, or None if the data isn't from a
    known tool.

    `region` and `kubernetes` are used if the data doesn't contain them. `cluster` selects one of
    multiple clusters. `learned` are machine types in addition to the tables. `target` contains the
    other arguments of `init`, for the command in a fix. `machines` are the types to choose if many
    are allowed. Raises FleetError if no pool can be planned, or if multiple clusters are described
    and none is selected.
    """
    if any(map(_is_provisioner, documents)):
        raise FleetError(
            "is a Provisioner, which Karpenter replaced with NodePools",
            place=Place(file),
            fix="convert it to a NodePool",
        )
    if not is_foreign(documents):
        return None
    for each in documents:
        if fault := state_file_fault(each):
            raise FleetError(fault, place=Place(file), fix=TERRAFORM_FIX)
    found = read_foreign_clusters(documents, machines)
    return fleet_of_cluster_description(
        _chosen(found, cluster, file, target),
        file=file,
        region=region,
        kubernetes=kubernetes,
        learned=learned,
        target=target,
    )


def _chosen(found: Sequence[ForeignCluster], name: str, file: str, target: str) -> ForeignCluster:
    """Return the only cluster, or the only one with the name. Raises FleetError otherwise."""
    named = [each for each in found if not name or each.name == name]
    if len(named) == 1:
        return named[0]
    known = ", ".join(each.name or "a cluster without a name" for each in found) or "none"
    if named:
        message = f"these files describe {len(named)} clusters: {known}"
        source = shlex.quote(file)
        fix = f"choose one cluster: `pulumi-dra init {target} --from {source} --cluster NAME`"
    else:
        message = (
            f'these files don\'t describe a cluster "{name}"'
            if name
            else "these files don't describe a cluster on a supported cloud"
        )
        fix = (
            f"use the name of a cluster in these files: {known}"
            if found
            else "pass the file that describes the node pools"
        )
    raise FleetError(message, place=Place(file), fix=fix)


def _is_provisioner(document: Any) -> bool:
    """Return whether a document is an object of karpenter.sh/v1alpha5, which Karpenter 1.0 doesn't
    read.
    """
    return (
        isinstance(document, dict)
        and document.get("kind") == "Provisioner"
        and str(document.get("apiVersion")).startswith("karpenter.sh/")
    )
