"""Pods that request the fleet's devices and also resources that the fleet doesn't describe."""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.claims.extended_resources import index_classes
from dra_planner.claims.manifest_claims import spec_of
from dra_planner.model import PodSet
from dra_planner.plan.blockers.blocker import Blocker, ClusterSituation
from dra_planner.plan.demand.device_demand import NO_DRIVER, OTHER_DRIVER, names_of_others
from dra_planner.plan.demand.provided_devices import Provided
from dra_planner.wording import listed


def find_unknown_resources(situation: ClusterSituation) -> Iterator[Blocker]:
    """Yield workloads whose pods need resources of device plugins that planned nodes might run.

    The plan places such pods without these resources. On a snapshot's nodes, all resources are
    known.
    """
    if not situation.offers or any(each.origin == "observed" for each in situation.offers):
        return
    provided = Provided.of(situation.offers)
    served = index_classes(situation.classes) if situation.features.extended_resource else {}
    for workload in situation.manifests.workloads:
        names = {
            name
            for pod_set in workload.pod_sets
            for name in _unknown(pod_set, workload.meta.namespace, situation, provided)
            if name not in served
        }
        if names:
            resources = listed(sorted(names))
            yield Blocker(
                code=OTHER_DRIVER,
                message=f"{workload.ref} also requests {resources}, {NO_DRIVER}",
                fix="use --observed with a snapshot of nodes whose device plugin advertises "
                f"{resources}, or remove the request",
                place=workload.place,
                workloads=(workload.ref,),
                verdict="cannot-tell",
            )


def _unknown(
    pod_set: PodSet, namespace: str, situation: ClusterSituation, provided: Provided
) -> frozenset[str]:
    """Return the unknown resources of pods, or nothing if the plan leaves the pods out."""
    pod = pod_set.template.spec
    unknown = provided.unknown_resources(pod)
    if not unknown:
        return unknown
    specs = [spec_of(situation.manifests, namespace, entry) for entry in pod.resource_claims]
    known = [spec for spec in specs if spec is not None]
    left_out = names_of_others(pod, known, situation.classes, provided)
    return frozenset() if left_out else unknown
