"""Devices that stay idle, because each pod also needs a device of another driver, and the node has
fewer of those.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from dra_planner.allocation import open_offer
from dra_planner.allocation.reasons.selector_changes import devices_of_class
from dra_planner.claims.manifest_claims import pod_sets_with_claims, spec_of
from dra_planner.drivers import driver_of
from dra_planner.model import PodSet
from dra_planner.offers import Offer
from dra_planner.plan.blockers.blocker import Blocker, ClusterSituation, fact
from dra_planner.plan.demand.missing_drivers import drivers_of_class
from dra_planner.wording import counted, verb


def find_idle_devices(situation: ClusterSituation) -> Iterator[Blocker]:
    """Yield workloads whose pods can't use all devices of a node, because a node has one channel of
    a ComputeDomain.
    """
    for workload, pod_set in pod_sets_with_claims(situation.manifests):
        wanted = _wanted(pod_set, workload.meta.namespace, situation)
        scarce = {name for name in wanted if _is_uncounted(name, situation)}
        for offer in situation.offers if scarce and scarce != set(wanted) else ():
            there = _there(offer, situation, wanted)
            pods = min(there[name] // wanted[name] for name in scarce)
            used = {name: pods * wanted[name] for name in wanted if name not in scarce}
            idle = sum(there[name] - used[name] for name in used)
            if pods and idle > 0:
                limit = min(scarce, key=lambda name: there[name] // wanted[name])
                text = (
                    f'{workload.ref}: a node of pool "{offer.name}" has only '
                    f"{counted(there[limit], 'device')} of class {limit}. Therefore, the node runs only "
                    f"{counted(pods, 'such pod')}, and {idle} of its "
                    f"{counted(sum(there[name] for name in used), 'other device')} "
                    f"{verb(idle, 'stay')} unused"
                )
                yield fact(
                    text,
                    "in each pod, request all devices of a node",
                    workload.ref,
                    place=workload.place,
                )


def _wanted(pod_set: PodSet, namespace: str, situation: ClusterSituation) -> Counter[str]:
    """Return the number of devices of each class that a pod requests. Empty if it depends on the
    node.
    """
    wanted: Counter[str] = Counter()
    for entry in pod_set.template.spec.resource_claims:
        spec = spec_of(situation.manifests, namespace, entry)
        for request in (
            spec.requests if spec is not None and entry.resource_claim_name is None else ()
        ):
            for way in request.alternatives[:1]:
                if way.allocation_mode != "ExactCount" or request.first_available:
                    return Counter()
                wanted[way.device_class_name] += way.count
    return wanted


def _is_uncounted(name: str, situation: ClusterSituation) -> bool:
    """Return whether the devices of a class are software that a driver publishes in addition to its
    hardware.
    """
    device_class = {**situation.classes, **situation.manifests.classes}.get(name)
    drivers = drivers_of_class(device_class) if device_class is not None else set[str]()
    known = [(driver_of(each), each) for each in drivers]
    return bool(known) and all(
        driver is not None and domain in driver.uncounted for driver, domain in known
    )


def _there(offer: Offer, situation: ClusterSituation, names: Counter[str]) -> dict[str, int]:
    """Return the number of a node's devices in each class."""
    classes = {**situation.classes, **situation.manifests.classes}
    template = open_offer(offer, classes, situation.features).template
    return {name: len(devices_of_class(name, template)) if name in classes else 0 for name in names}
