"""Volumes whose StorageClass might not exist in the cluster."""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.manifests import NEEDS_DEFAULT_CLASS
from dra_planner.plan.blockers.blocker import Blocker, ClusterSituation


def find_volumes_without_class(situation: ClusterSituation) -> Iterator[Blocker]:
    """Yield workloads whose volumes need a default StorageClass on a cloud that doesn't create one
    in new clusters.
    """
    if situation.cloud is None or situation.cloud.default_storage_class != "":
        return
    manifests = situation.manifests
    for workload in manifests.workloads:
        if workload.ref in manifests.existing:
            continue
        if any(NEEDS_DEFAULT_CLASS in pods.template.needs for pods in workload.pod_sets):
            yield Blocker(
                code="reference-not-found",
                message=f"{workload.ref} has a volume without storageClassName, and new "
                f"{situation.cloud.title} clusters don't have a default StorageClass, "
                "so the pods stay pending",
                fix="set storageClassName, or add the manifest of a default StorageClass",
                place=workload.place,
                workloads=(workload.ref,),
                verdict="cannot-tell",
            )
