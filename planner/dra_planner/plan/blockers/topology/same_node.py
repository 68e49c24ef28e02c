"""Pods that required pod affinity forces onto one node that can't hold them all.

The check compares only sums of devices and of requested resources. So if it finds a shortage, the
pods stay pending, whichever devices the scheduler chooses.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from dra_planner.allocation.node.pod_rules import PodView, term_selects
from dra_planner.claims.manifest_claims import spec_of
from dra_planner.manifests import Manifests
from dra_planner.model import ClaimSpec, PodAffinityTerm, PodSet, Workload
from dra_planner.offers import Offer
from dra_planner.offers.requests import pod_requests
from dra_planner.plan.blockers.blocker import Blocker, ClusterSituation
from dra_planner.plan.blockers.topology.unmet_affinity import selector_text
from dra_planner.wording import counted, verb

_CODE: Final = "pod-cannot-be-scheduled"
_HOST: Final = "kubernetes.io/hostname"
_DEVICES: Final = "devices"
_FIX: Final = "use preferred podAffinity, or a topology key that several nodes share"


def find_crowded_nodes(situation: ClusterSituation) -> Iterator[Blocker]:
    """Yield workloads with claims that must share nodes with more pods than a node can hold.

    Source: kubernetes/kubernetes:pkg/scheduler/framework/plugins/interpodaffinity/filtering.go
    @v1.36.3.
    """
    offers, manifests = _offers(situation), situation.manifests
    if not offers:
        return
    for workload in manifests.workloads:
        for pod_set in workload.pod_sets:
            if pod_set.per_node or not pod_set.template.spec.resource_claims:
                continue
            yield from _too_many_for_a_node(workload, pod_set, offers, manifests)
            # the pods of unread workloads might have the labels
            if not (manifests.unread or manifests.unresolved):
                yield from _too_many_next_to_others(workload, pod_set, offers, manifests)


def lacks_on_one_node(
    situation: ClusterSituation, pods: Iterable[tuple[Workload, PodSet, int]]
) -> str:
    """Return the resource that no node has enough of for all these pods together, or "" if they
    might fit on one. Pods without claims can run on nodes without devices.
    """
    offers, total = _offers(situation), Counter[str]()
    for workload, pod_set, count in pods:
        if pod_set.per_node or not pod_set.template.spec.resource_claims:
            return ""
        for name, amount in _needs(workload, pod_set, situation.manifests).items():
            total[name] += amount * count
    if not offers:
        return ""
    lacks = [
        next((name for name, amount in total.items() if amount > capacity[name]), "")
        for capacity in map(_capacity, offers)
    ]
    return lacks[0] if all(lacks) else ""


def _offers(situation: ClusterSituation) -> list[Offer]:
    """Return the offers with devices, or none if several claims can share one of the devices."""
    offers = [offer for offer in situation.offers if offer.slices]
    devices = (device for offer in offers for part in offer.slices for device in part.devices)
    return [] if any(each.allow_multiple_allocations for each in devices) else offers


def _too_many_for_a_node(
    workload: Workload, pod_set: PodSet, offers: list[Offer], manifests: Manifests
) -> Iterator[Blocker]:
    """Yield pods that must all run on one node, and that together request more devices than any
    node has.
    """
    spec, pods = pod_set.template.spec, pod_set.figures.steady
    namespaces = {name: meta.labels for name, meta in manifests.namespaces.items()}
    view = _view(workload, pod_set)
    if not any(
        term.topology_key == _HOST and term_selects(term, view, view, namespaces)
        for term in spec.pod_affinity
    ):
        return
    each = _needs(workload, pod_set, manifests)[_DEVICES]
    most = max(_capacity(offer)[_DEVICES] for offer in offers)
    if pods * each > most:
        yield Blocker(
            code=_CODE,
            message=f"{workload.ref} must run all {pods} pods on one node (podAffinity with "
            f"topology key {_HOST}), but they request {counted(pods * each, 'device')}, "
            f"and no node has more than {most}",
            fix=_FIX,
            place=workload.place,
            workloads=(workload.ref,),
        )


def _too_many_next_to_others(
    workload: Workload, pod_set: PodSet, offers: list[Offer], manifests: Manifests
) -> Iterator[Blocker]:
    """Yield pods that must run on the nodes of other pods, although these nodes don't have enough
    capacity for both. At best, each of the other pods is on a separate node.
    """
    needed, pods = _needs(workload, pod_set, manifests), pod_set.figures.steady
    for term in pod_set.template.spec.pod_affinity:
        others = _others(workload, pod_set, term, manifests)
        if not others or not needed[_DEVICES]:
            continue
        nodes = sum(other.figures.steady for _, other in others)
        most, scarce = max(
            _times_beside(needed, _needs(*other, manifests), _capacity(offer))
            for offer in offers
            for other in others
        )
        if nodes * most >= pods:
            continue
        wanted = f"pods with {selector_text(term.label_selector)}"
        yield Blocker(
            code=_CODE,
            message=f"{workload.ref} must run on the same node as {wanted} (podAffinity with "
            f"topology key {_HOST}), but no node has enough {scarce} for both, so the "
            f"pods of {workload.ref} stay pending"
            if not most
            else f"{workload.ref} must run on the same nodes as {wanted} (podAffinity with "
            f"topology key {_HOST}), but {counted(nodes, 'such node')} {verb(nodes, 'have')} "
            f"enough {scarce} for only {nodes * most} of its {pods} pods",
            fix=_FIX,
            place=workload.place,
            workloads=(workload.ref,),
        )


def _others(
    workload: Workload, pod_set: PodSet, term: PodAffinityTerm, manifests: Manifests
) -> list[tuple[Workload, PodSet]]:
    """Return the pods that a term for nodes selects.

    Returns an empty list if their number is unknown, or if the pods select themselves.
    """
    if term.topology_key != _HOST:
        return []
    namespaces = {name: meta.labels for name, meta in manifests.namespaces.items()}
    view = _view(workload, pod_set)
    existing = (
        PodView(pod.meta.namespace, pod.meta.labels)
        for pod in (*manifests.bound_pods, *manifests.waiting_pods)
    )
    if any(term_selects(term, view, each, namespaces) for each in (view, *existing)):
        return []
    found = [
        (other, pods)
        for other in manifests.workloads
        for pods in other.pod_sets
        if term_selects(term, view, _view(other, pods), namespaces)
    ]
    return [] if any(pods.per_node for _, pods in found) else found


def _times_beside(
    needed: Counter[str], other: Counter[str], capacity: Counter[str]
) -> tuple[int, str]:
    """Return how many pods fit a node in addition to another pod, by sums, and the resource that
    runs out.
    """
    return min(
        (max(0, capacity[name] - other[name]) // amount, name)
        for name, amount in needed.items()
        if amount
    )


def _needs(workload: Workload, pod_set: PodSet, manifests: Manifests) -> Counter[str]:
    """Return the resources that a pod requests, and the devices of claims that it doesn't share."""
    spec = pod_set.template.spec
    devices = sum(
        _fewest_devices(claim)
        for entry in spec.resource_claims
        if entry.resource_claim_name is None
        and (claim := spec_of(manifests, workload.meta.namespace, entry)) is not None
    )
    return Counter({_DEVICES: devices, **pod_requests(spec)})


def _capacity(offer: Offer) -> Counter[str]:
    """Return the most that a node can have of each resource, and its devices."""
    most = Counter(offer.node.allocatable) | Counter(offer.at_most)
    most[_DEVICES] = sum(len(part.devices) for part in offer.slices)
    return most


def _view(workload: Workload, pod_set: PodSet) -> PodView:
    return PodView(workload.meta.namespace, pod_set.template.labels)


def _fewest_devices(claim: ClaimSpec) -> int:
    """Return the fewest devices that satisfy a claim, without devices for admin access, because
    several claims share them.
    """
    return sum(
        min((0 if way.admin_access else way.count for way in request.alternatives), default=0)
        for request in claim.requests
    )
