"""Known scheduler bugs that a patch version fixes: pods that share a claim to devices of several
nodes and also have claims of their own, and claims for all devices of a driver that publishes
partitions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from dra_planner.claims.manifest_claims import pod_sets_with_claims, spec_of
from dra_planner.manifests import Manifests
from dra_planner.model import DeviceClass, ExactDeviceRequest, ObjectKey, PodSet
from dra_planner.plan.blockers.blocker import Blocker, ClusterSituation, fact
from dra_planner.plan.demand.missing_drivers import drivers_of_class

SHARING_FIXED_IN: Final[Mapping[int, int]] = MappingProxyType({35: 6, 36: 2})
"""The first patch version without the bug, by minor version. 1.34 and 1.37 never had the bug.

Source: kubernetes/kubernetes#139016, fixed by #139017 and cherry-picked by #139362 and #139363.
"""

ALL_FIXED_IN: Final[Mapping[int, int]] = MappingProxyType({35: 6, 36: 2})
"""The first patch version without the bug, by minor version.

Source: kubernetes/kubernetes#138885, cherry-picked by #138988 and #138989.
"""


def find_stuck_shared_claims(situation: ClusterSituation) -> Iterator[Blocker]:
    """Yield workloads of which only the first pod is scheduled before `SHARING_FIXED_IN`."""
    minor = situation.features.minor
    patch = SHARING_FIXED_IN.get(minor)
    if patch is None:
        return
    for workload, pod_set in pod_sets_with_claims(situation.manifests):
        if pod_set.figures.steady > 1 and _mixes(pod_set, workload.meta.namespace, situation):
            text = (
                f"{workload.ref}: its pods share a claim for devices on several nodes and also "
                f"have their own claims. Before Kubernetes 1.{minor}.{patch}, only the first pod "
                "is scheduled"
            )
            fix = f"use a control plane with Kubernetes 1.{minor}.{patch} or later"
            yield fact(text, fix, workload.ref, place=workload.place)


def _mixes(pod_set: PodSet, namespace: str, situation: ClusterSituation) -> bool:
    classes = {**situation.classes, **situation.manifests.classes}
    entries = pod_set.template.spec.resource_claims
    named = [
        ObjectKey(namespace, each.resource_claim_name)
        for each in entries
        if each.resource_claim_name
    ]
    shared = [
        situation.manifests.claims[key].spec for key in named if key in situation.manifests.claims
    ]
    of_class = [
        classes[way.device_class_name]
        for spec in shared
        for request in spec.requests
        for way in request.alternatives
        if way.device_class_name in classes
    ]
    has_own = len(named) < len(entries)
    return has_own and any(is_of_several_nodes(each, situation.manifests) for each in of_class)


def is_of_several_nodes(device_class: DeviceClass, manifests: Manifests) -> bool:
    """Return whether slices offer devices of a class to several nodes."""
    drivers = drivers_of_class(device_class)
    return any(each.node_name is None and each.driver in drivers for each in manifests.slices)


def find_crashing_claims(situation: ClusterSituation) -> Iterator[Blocker]:
    """Yield workloads whose claims crash the scheduler before `ALL_FIXED_IN`."""
    minor = situation.features.minor
    patch = ALL_FIXED_IN.get(minor)
    drivers = _drivers_of_partitions(situation)
    if patch is None or not drivers:
        return
    for workload, pod_set in pod_sets_with_claims(situation.manifests):
        specs = (
            spec_of(situation.manifests, workload.meta.namespace, each)
            for each in pod_set.template.spec.resource_claims
        )
        ways = [
            way
            for spec in specs
            if spec is not None
            for request in spec.requests
            for way in request.alternatives
        ]
        if any(_requests_all_of(each, drivers, situation) for each in ways):
            text = (
                f"{workload.ref}: a claim requests all devices of a driver that publishes "
                f"partitions. Before Kubernetes 1.{minor}.{patch}, such a claim crashes "
                "kube-scheduler"
            )
            fix = f"use a control plane with Kubernetes 1.{minor}.{patch} or later"
            yield fact(text, fix, workload.ref, place=workload.place)


def _requests_all_of(
    way: ExactDeviceRequest, drivers: set[str], situation: ClusterSituation
) -> bool:
    classes = {**situation.classes, **situation.manifests.classes}
    found = classes.get(way.device_class_name)
    return (
        way.allocation_mode == "All"
        and found is not None
        and not drivers.isdisjoint(drivers_of_class(found))
    )


def _drivers_of_partitions(situation: ClusterSituation) -> set[str]:
    """Return the drivers whose devices consume counters, which they share with other devices."""
    if not situation.features.partitionable_devices:
        return set()
    return {
        each.driver
        for offer in situation.offers
        for each in offer.slices
        if any(device.consumes_counters for device in each.devices)
    }
