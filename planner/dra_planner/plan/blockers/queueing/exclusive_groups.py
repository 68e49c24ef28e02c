"""Groups of pods that each need their own zone, rack, or node pool."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dra_planner.plan.blockers.blocker import Blocker, ClusterSituation
from dra_planner.wording import counted

_ZONE: Final = "topology.kubernetes.io/zone"


def find_exclusive_groups(situation: ClusterSituation) -> Iterator[Blocker]:
    """Yield workloads whose groups exclude each other from the nodes with the same label value.

    If there are more groups than zones, some groups never run. Otherwise, the result is unknown,
    because the simulation ignores the rules that a webhook adds.
    """
    manifests = situation.manifests
    places = {workload.ref: workload.place for workload in manifests.workloads}
    for found in manifests.exclusive_groups:
        if found.workload in manifests.existing:
            continue
        key, groups = found.key, found.groups
        offers = [offer for offer in situation.offers if offer.slices]
        zones = {zone for offer in offers for zone in offer.zones}
        is_known = key == _ZONE and bool(offers) and all(offer.zones for offer in offers)
        is_certain = is_known and groups > len(zones)
        if is_certain:
            text, fix = (
                f"has {groups} groups, and each needs its own zone (exclusive-topology), but the "
                f"pools have only {counted(len(zones), 'zone')}",
                f"add zones to the pools, or remove the {found.annotation} annotation",
            )
        else:
            values = counted(groups, "value")
            text, fix = (
                f"each of its {groups} groups needs nodes with a different value of {key} "
                "(exclusive-topology), which the plan doesn't simulate",
                f"make sure that the nodes have at least {values} of the label {key}, and enough "
                "nodes for each value",
            )
        yield Blocker(
            code="pod-cannot-be-scheduled",
            message=f"{found.workload}: {text}",
            fix=fix,
            place=places[found.workload],
            workloads=(found.workload,),
            verdict="does-not-fit" if is_certain else "cannot-tell",
        )
