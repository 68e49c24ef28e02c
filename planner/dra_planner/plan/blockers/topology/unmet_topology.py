"""Pods that rules between pods keep pending on any number of nodes, because the pools have too few
zones.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dra_planner.allocation.node.pod_rules import PodView, spread_selects, term_selects
from dra_planner.manifests import Manifests
from dra_planner.model import PodSet, TopologySpreadConstraint, Workload
from dra_planner.offers import Offer
from dra_planner.plan.blockers.blocker import Blocker, ClusterSituation
from dra_planner.wording import counted

_CODE: Final = "pod-cannot-be-scheduled"
_ZONE: Final = "topology.kubernetes.io/zone"


def find_unmet_topology(situation: ClusterSituation) -> Iterator[Blocker]:
    """Yield workloads with claims of which some pods always stay pending, wherever the others run.

    Source: kubernetes/kubernetes:pkg/scheduler/framework/plugins/podtopologyspread/filtering.go and
    …/interpodaffinity/filtering.go@v1.36.3.
    """
    offers = [offer for offer in situation.offers if offer.slices]
    for workload in situation.manifests.workloads if offers else ():
        for pod_set in workload.pod_sets:
            spec = pod_set.template.spec
            if pod_set.per_node or not spec.resource_claims:
                continue
            for spread in spec.topology_spread:
                yield from _too_few_zones(workload, pod_set, spread, offers)
            yield from _too_many_for_zones(workload, pod_set, offers, situation.manifests)


def _too_few_zones(
    workload: Workload, pod_set: PodSet, spread: TopologySpreadConstraint, offers: list[Offer]
) -> Iterator[Blocker]:
    """Yield workloads that must spread over more zones than there are.

    In that case, the scheduler counts an additional zone without pods, so no zone gets more than
    `maxSkew` pods.
    """
    is_strict = spread.when_unsatisfiable == "DoNotSchedule" and spread.topology_key == _ZONE
    if not is_strict or not spread.min_domains or not all(offer.zones for offer in offers):
        return
    view = _view(workload, pod_set)
    if not spread_selects(spread, view, view):
        return
    zones = {zone for offer in offers for zone in offer.zones}
    most, pods = len(zones) * spread.max_skew, pod_set.figures.steady
    if len(zones) < spread.min_domains and pods > most:
        yield Blocker(
            code=_CODE,
            message=f"{workload.ref} must spread over {spread.min_domains} zones (minDomains), "
            f"but its pools have only {counted(len(zones), 'zone')}, so at most {most} of "
            f"its {pods} pods can run",
            fix=f"set minDomains to {len(zones)}, or add zones to the pools",
            place=workload.place,
            workloads=(workload.ref,),
        )


def _too_many_for_zones(
    workload: Workload, pod_set: PodSet, offers: list[Offer], manifests: Manifests
) -> Iterator[Blocker]:
    """Yield workloads whose pods exclude each other from their zone, and that have more pods than
    there are zones.
    """
    if not all(offer.zones for offer in offers):
        return
    namespaces = {name: meta.labels for name, meta in manifests.namespaces.items()}
    view = _view(workload, pod_set)
    zones = {zone for offer in offers for zone in offer.zones}
    pods = pod_set.figures.steady
    if pods > len(zones) and any(
        term.topology_key == _ZONE and term_selects(term, view, view, namespaces)
        for term in pod_set.template.spec.pod_anti_affinity
    ):
        yield Blocker(
            code=_CODE,
            message=f"{workload.ref} needs a separate zone for each of its {pods} pods "
            f"(podAntiAffinity with {_ZONE}), but the pools have only "
            f"{counted(len(zones), 'zone')}, so at most {counted(len(zones), 'pod')} can run",
            fix="use preferred podAntiAffinity, or add zones to the pools",
            place=workload.place,
            workloads=(workload.ref,),
        )


def _view(workload: Workload, pod_set: PodSet) -> PodView:
    spec = pod_set.template.spec
    return PodView(workload.meta.namespace, pod_set.template.labels, spec.pod_anti_affinity)
