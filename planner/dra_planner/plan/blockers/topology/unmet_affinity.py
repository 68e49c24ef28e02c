"""Pods that their own rules exclude from every suitable node.

The rules are affinity to missing pods, and selectors of DaemonSets that match no node with devices,
or that also match nodes that are too small.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from msgspec import Struct

from dra_planner.allocation.node.filters import reject_for_good
from dra_planner.allocation.node.pod_rules import PodView, term_selects
from dra_planner.clouds import POOL
from dra_planner.model import LabelSelector, PodAffinityTerm, PodSet, PodSpec, Taint, Workload
from dra_planner.offers import Offer, predict_system_offer
from dra_planner.offers.requests import pod_requests
from dra_planner.plan.blockers.blocker import Blocker, ClusterSituation, fact
from dra_planner.quantity import amount_text
from dra_planner.sizing.doubts import without_unknown_labels
from dra_planner.wording import listed, named

if TYPE_CHECKING:
    from dra_planner.plan.judgement.judgement import Judgement

_CODE = "pod-cannot-be-scheduled"


def find_unmet_affinity(situation: ClusterSituation) -> Iterator[Blocker]:
    """Yield required affinity to labels that no pod has, or only pods that wait for affinity. A pod
    can be the first one that matches its own affinity.

    Source:
    kubernetes/kubernetes:pkg/scheduler/framework/plugins/interpodaffinity/filtering.go@v1.36.3
    (satisfyPodAffinity, updateWithAffinityTerms).
    """
    manifests = situation.manifests
    if manifests.unread or manifests.unresolved:
        return  # the pods of these objects might have the labels
    namespaces = {name: meta.labels for name, meta in manifests.namespaces.items()}
    owners = [
        _Owner(workload, pods.template.spec.pod_affinity, _view(workload, pods))
        for workload in manifests.workloads
        for pods in workload.pod_sets
    ]
    running = [
        PodView(pod.meta.namespace, pod.meta.labels, pod.spec.pod_anti_affinity)
        for pod in manifests.bound_pods
    ]
    pods = [*(each.view for each in owners), *running]
    waiting = _waiting(owners, running, namespaces)
    for owner in owners:
        unmet = [
            term
            for term in owner.terms
            if not any(term_selects(term, owner.view, pod, namespaces) for pod in pods)
        ]
        yield from (_unmet(owner.workload, term) for term in unmet)
        if owner in waiting and not unmet:
            yield _waits(owner, waiting, namespaces)


class _Owner(Struct, frozen=True):
    """A workload's pods with equal rules, and their required affinity terms."""

    workload: Workload
    terms: tuple[PodAffinityTerm, ...]
    view: PodView

    def accepts(self, pod: PodView, namespaces: Mapping[str, Mapping[str, str]]) -> bool:
        """Return whether the pods can run next to this pod. The scheduler counts only pods that
        match all terms.
        """
        return all(term_selects(term, self.view, pod, namespaces) for term in self.terms)


def _view(workload: Workload, pods: PodSet) -> PodView:
    spec = pods.template.spec
    return PodView(workload.meta.namespace, pods.template.labels, spec.pod_anti_affinity)


def _waiting(
    owners: Sequence[_Owner], running: list[PodView], namespaces: Mapping[str, Mapping[str, str]]
) -> list[_Owner]:
    """Return the pods that stay pending because no pod that they require can run before them."""
    waiting, started = list(owners), list(running)
    while True:
        free: list[_Owner] = []
        left: list[_Owner] = []
        for each in waiting:
            starts = any(each.accepts(pod, namespaces) for pod in chain((each.view,), started))
            (free if starts else left).append(each)
        if not free:
            return waiting
        waiting = left
        started += [each.view for each in free]


def _waits(
    owner: _Owner, waiting: Sequence[_Owner], namespaces: Mapping[str, Mapping[str, str]]
) -> Blocker:
    needed = dict.fromkeys(
        str(each.workload.ref)
        for each in waiting
        if any(term_selects(term, owner.view, each.view, namespaces) for term in owner.terms)
    )
    others = f"the pods of {listed(needed)}" if needed else "pods that match all its terms"
    which = "it stays" if owner.workload.ref.kind == "Pod" else "its pods stay"
    return Blocker(
        code=_CODE,
        message=f"{owner.workload.ref} requires affinity to {others}, but required affinity keeps "
        f"these pods pending too, so {which} pending",
        fix="use preferred podAffinity in one of these workloads",
        place=owner.workload.place,
        workloads=(owner.workload.ref,),
    )


def _unmet(workload: Workload, term: PodAffinityTerm) -> Blocker:
    wanted = selector_text(term.label_selector)
    which = "it stays" if workload.ref.kind == "Pod" else "its pods stay"
    return Blocker(
        code=_CODE,
        message=f"{workload.ref} requires affinity to pods with {wanted} (topology key "
        f"{term.topology_key}), but no pod matches, so {which} pending",
        fix=f"add a manifest for the pods with {wanted}, or correct labelSelector in podAffinity",
        place=workload.place,
        workloads=(workload.ref,),
    )


def selector_text(selector: LabelSelector | None) -> str:
    """Return a selector in kubectl's syntax, for example "app=cache"."""
    parts: list[str] = []
    for each in selector.requirements if selector is not None else ():
        values = ",".join(each.values)
        is_equal = each.operator == "In" and len(each.values) == 1
        parts.append(
            f"{each.key}={values}" if is_equal else f"{each.key} {each.operator} ({values})"
        )
    return ", ".join(parts) or "any label"


def find_daemons_without_devices(situation: ClusterSituation) -> Iterator[Blocker]:
    """Yield DaemonSets with claims whose pods can't run on any node with devices."""
    offers = [offer for offer in situation.offers if offer.slices]
    for workload in situation.manifests.workloads if offers else ():
        for pod_set in workload.pod_sets:
            spec = pod_set.template.spec
            if not (pod_set.per_node and spec.resource_claims):
                continue
            misfits = {offer.name: reject_for_good(spec, offer.node) for offer in offers}
            reachable = [offer for offer in offers if may_reach(spec, offer)]
            if reachable:
                # Sizing reports the label for nodes that always exist.
                if all(misfits.values()) and not any(offer.count_min for offer in reachable):
                    yield _maybe_without_devices(workload, [offer.name for offer in reachable])
                continue
            if all(misfits.values()):
                taints = [misfit.taint for misfit in misfits.values() if misfit is not None]
                yield _on_no_node(workload, spec, list(misfits), taints[0], situation)


def _on_no_node(
    workload: Workload,
    spec: PodSpec,
    pools: Sequence[str],
    taint: Taint | None,
    situation: ClusterSituation,
) -> Blocker:
    """Return that a DaemonSet's pods match no node with devices.

    If they match no node of a running cluster at all, no pod is pending, because the controller
    creates none. Source: kubernetes/kubernetes:pkg/controller/daemon/daemon_controller.go@v1.36.3
    (NodeShouldRunDaemonPod).
    """
    reason = (
        f"its pods don't tolerate {taint}"
        if taint is not None
        else "its node selector doesn't match these nodes"
    )
    system = situation.system
    also = (
        f", and {select_pools(pools)}"
        if system is not None and reject_for_good(spec, system.node) is None
        else ""
    )
    fix = (
        f"add a toleration for this taint to the pods{also}"
        if taint is not None
        else "correct the pods' nodeSelector and node affinity"
    )
    if situation.is_observed and not any(may_reach(spec, each) for each in situation.offers):
        message = (
            f"{workload.ref} doesn't create pods on the nodes of the snapshot, because {reason}"
        )
        return fact(message, fix, workload.ref, place=workload.place)
    return Blocker(
        code=_CODE,
        message=f"{workload.ref} can't run on nodes of {named('pool', pools)}, because {reason}. On "
        "other nodes, its claims are never allocated",
        fix=fix,
        place=workload.place,
        workloads=(workload.ref,),
    )


def may_reach(spec: PodSpec, offer: Offer) -> bool:
    """Return whether a pod may run on a pool's nodes, some of whose labels can be unknown."""
    return reject_for_good(without_unknown_labels(spec, offer), offer.node) is None


def _maybe_without_devices(workload: Workload, pools: Sequence[str]) -> Blocker:
    labels = sorted({key for each in workload.pod_sets for key in each.template.spec.node_selector})
    return Blocker(
        code=_CODE,
        message=f"{workload.ref} might not match any node of {named('pool', pools)}, because it "
        "selects nodes by labels that the fleet doesn't set and whose values are known only at "
        "run time: "
        f"{', '.join(labels)}",
        fix="if you know their values, set these labels on the pool in the fleet",
        place=workload.place,
        workloads=(workload.ref,),
        verdict="cannot-tell",
    )


def system_nodes_of(judgement: Judgement) -> Offer | None:
    """Return the offer of the fleet's nodes without devices, or None if they aren't planned."""
    fleet = judgement.fleet
    if fleet is None or judgement.is_observed or not fleet.system_pool.count:
        return None
    return predict_system_offer(fleet)


def find_daemons_on_system_nodes(situation: ClusterSituation) -> Iterator[Blocker]:
    """Yield DaemonSets that also run on the system nodes, which lack their devices or resources.

    The DaemonSet controller compares only taints, labels, and names of nodes.
    Source: kubernetes/kubernetes:pkg/controller/daemon/daemon_controller.go@v1.36.3
    (NodeShouldRunDaemonPod).
    """
    system, pools = situation.system, [offer for offer in situation.offers if offer.slices]
    if system is None or not pools:
        return
    everywhere = any(each.all_nodes for each in situation.manifests.slices)
    for workload in situation.manifests.workloads:
        for pod_set in workload.pod_sets:
            spec = pod_set.template.spec
            if not pod_set.per_node or reject_for_good(spec, system.node) is not None:
                continue
            lack = _lack(spec, system, everywhere)
            if lack and any(may_reach(spec, offer) for offer in pools):
                names = [offer.name for offer in pools if may_reach(spec, offer)]
                yield Blocker(
                    code=_CODE,
                    message=f"{workload.ref} also creates pods for the system pool's nodes, but "
                    f"these nodes {lack}, so these pods stay pending",
                    fix=select_pools(names),
                    place=workload.place,
                    workloads=(workload.ref,),
                )


def select_pools(names: Sequence[str]) -> str:
    """Return the fix that restricts pods to these pools."""
    return f"add a required node affinity to the pods: {POOL} in ({', '.join(names)})"


def _lack(spec: PodSpec, system: Offer, everywhere: bool) -> str:
    """Return the requested resource that an empty system node lacks, or "".

    `everywhere` means that some devices are available on all nodes.
    """
    if spec.resource_claims:
        return "" if everywhere else "don't publish devices for the claims"
    for name, wanted in pod_requests(spec).items():
        most = max(system.node.allocatable.get(name, 0), system.at_most.get(name, 0))
        if wanted > most:
            return f"have less than the requested {amount_text(name, wanted)}"
    return ""
