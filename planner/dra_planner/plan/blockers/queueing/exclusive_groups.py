"""Groups of pods that each need their own zone, rack, or node pool.

Source: kubernetes-sigs/lws:pkg/webhooks/pod_webhook.go@v0.7.0 (SetExclusiveAffinities) and
kubernetes-sigs/jobset:pkg/webhooks/pod_mutating_webhook.go@v0.10.1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from dra_planner.model import Workload
from dra_planner.plan.blockers.blocker import Blocker, ClusterSituation
from dra_planner.wording import counted

_ANNOTATIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "LeaderWorkerSet": "leaderworkerset.sigs.k8s.io/exclusive-topology",
        "JobSet": "alpha.jobset.sigs.k8s.io/exclusive-topology",
    }
)
"""Annotations that give each group its own value of a node label, by kind."""
_ZONE: Final = "topology.kubernetes.io/zone"


def find_exclusive_groups(situation: ClusterSituation) -> Iterator[Blocker]:
    """Yield workloads whose groups exclude each other from the nodes with the same label value.

    More groups than zones never run. Otherwise, the webhook's rules aren't simulated.
    """
    manifests = situation.manifests
    for workload in manifests.workloads:
        key = workload.meta.annotations.get(_ANNOTATIONS.get(workload.kind, ""))
        groups = _groups(workload, situation)
        if key is None or groups < 2 or workload.ref in manifests.existing:
            continue
        offers = [offer for offer in situation.offers if offer.slices]
        zones = {zone for offer in offers for zone in offer.zones}
        is_known = key == _ZONE and bool(offers) and all(offer.zones for offer in offers)
        if is_known and groups > len(zones):
            text, fix = (
                f"has {groups} groups, and each needs its own zone (exclusive-topology), but the "
                f"pools have {counted(len(zones), 'zone')}",
                f"add zones to the pools, or remove the annotation {_ANNOTATIONS[workload.kind]}",
            )
        else:
            text, fix = (
                f"each of its {groups} groups needs nodes with its own value of {key} "
                "(exclusive-topology), which isn't simulated",
                f"check that the pools have {groups} values of {key} with enough nodes each",
            )
        yield Blocker(
            code="pod-cannot-be-scheduled",
            message=f"{workload.ref}: {text}",
            fix=fix,
            place=workload.place,
            workloads=(workload.ref,),
            verdict="does-not-fit" if is_known and groups > len(zones) else "cannot-tell",
        )


def _groups(workload: Workload, situation: ClusterSituation) -> int:
    """Return the number of groups at steady demand. For a JobSet, that's at most the number of
    its pods.
    """
    gang = next(
        (each for each in situation.manifests.gangs if each.name == str(workload.ref)), None
    )
    sizes = {} if gang is None else {part.pod_set: part.pods for part in gang.parts}
    counts = [
        pod_set.figures.steady // max(sizes.get(pod_set.name, 1), 1)
        for pod_set in workload.pod_sets
    ]
    return max(counts, default=0)
