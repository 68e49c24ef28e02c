"""Volumes whose StorageClass the cluster may not have."""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.clouds import cloud
from dra_planner.manifests import NEEDS_DEFAULT_CLASS
from dra_planner.plan.blockers.blocker import Blocker, ClusterSituation
from dra_planner.plan.judgement.judgement import Judgement


def find_volumes_without_class(situation: ClusterSituation) -> Iterator[Blocker]:
    """Yield workloads whose volumes need a default StorageClass on a cloud that creates none in new
    clusters.
    """
    if situation.default_storage_class != "":
        return
    manifests = situation.manifests
    for workload in manifests.workloads:
        if workload.ref in manifests.existing:
            continue
        if any(NEEDS_DEFAULT_CLASS in pods.template.needs for pods in workload.pod_sets):
            yield Blocker(
                code="reference-not-found",
                message=f"{workload.ref} has a volume without storageClassName, and this cloud's "
                "new clusters don't have a default StorageClass; without one, the pods stay "
                "pending",
                fix="set storageClassName, or add the manifest of the default StorageClass",
                place=workload.place,
                workloads=(workload.ref,),
                verdict="cannot-tell",
            )


def default_storage_class_of(judgement: Judgement) -> str | None:
    """Return the default StorageClass of a new cluster of the fleet's cloud, "" if it has none, or
    None if that isn't known.
    """
    return None if judgement.fleet is None else cloud(judgement.fleet.cloud).default_storage_class
