"""Volumes whose StorageClass might not exist in the cluster."""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.claims.missing_claims import near_name
from dra_planner.clouds import cloud, names
from dra_planner.manifests import NEEDS_DEFAULT_CLASS, STORAGE_CLASS
from dra_planner.manifests.completeness import is_missing
from dra_planner.plan.blockers.blocker import Blocker, ClusterSituation


def find_missing_storage_classes(situation: ClusterSituation) -> Iterator[Blocker]:
    """Yield the StorageClasses of new volumes that neither the manifests nor a cloud defines."""
    manifests = situation.manifests
    known = {key.name for kind, key in manifests.declared if kind == STORAGE_CLASS}
    clouds = [situation.cloud] if situation.cloud else [cloud(name) for name in names()]
    known |= {name for each in clouds for one in each.volume_drivers for name in one.classes}
    for workload in manifests.workloads:
        if workload.ref in manifests.existing:
            continue
        needed = {pair for pods in workload.pod_sets for pair in pods.template.needs}
        for kind, name in sorted(needed - {NEEDS_DEFAULT_CLASS}):
            if kind == STORAGE_CLASS and not is_missing(manifests, kind, name):
                yield Blocker(
                    code="reference-not-found",
                    message=f'{workload.ref} has a volume with StorageClass "{name}", which isn\'t '
                    "in the manifests. Until it exists, the pods stay pending",
                    fix=f'add a manifest for StorageClass "{name}"{near_name(name, known)}',
                    place=workload.place,
                    workloads=(workload.ref,),
                    verdict="cannot-tell",
                )


def find_volumes_without_class(situation: ClusterSituation) -> Iterator[Blocker]:
    """Yield workloads whose volumes need a default StorageClass on a cloud that doesn't create one
    in new clusters.
    """
    if situation.cloud is None or situation.cloud.default_storage_class != "":
        return
    manifests = situation.manifests
    if is_missing(manifests, *NEEDS_DEFAULT_CLASS):
        return
    for workload in manifests.workloads:
        if workload.ref in manifests.existing:
            continue
        if any(NEEDS_DEFAULT_CLASS in pods.template.needs for pods in workload.pod_sets):
            yield Blocker(
                code="reference-not-found",
                message=f"{workload.ref} has a volume without storageClassName, and new "
                f"{situation.cloud.title} clusters don't have a default StorageClass, "
                "so the pods stay pending",
                fix="set storageClassName, or add a manifest for a default StorageClass",
                place=workload.place,
                workloads=(workload.ref,),
                verdict="cannot-tell",
            )
