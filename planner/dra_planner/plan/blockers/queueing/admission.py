"""Workloads that Kueue never admits, and its additions to the pods of admitted workloads.

Source: kubernetes-sigs/kueue:pkg/dra/claims.go,
pkg/scheduler/flavorassigner/flavorassigner.go@v0.19.2.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from dra_planner.allocation.node.selectors import untolerated_taint
from dra_planner.claims.extended_resources import index_classes
from dra_planner.claims.manifest_claims import spec_of
from dra_planner.claims.missing_claims import near_name
from dra_planner.claims.queue_flavors import flavor_of
from dra_planner.documents.plain_values import number
from dra_planner.drivers import publishers_of
from dra_planner.manifests import Manifests
from dra_planner.manifests.completeness import is_missing
from dra_planner.manifests.workloads.kind_description import KUEUE_QUEUE
from dra_planner.model import ClaimSpec, ClusterQueue, ObjectKey, PodSet, Verdict, Workload
from dra_planner.offers import pod_requests
from dra_planner.plan.blockers.blocker import Blocker, ClusterSituation
from dra_planner.plan.blockers.queueing.conditions import find_unmet_conditions
from dra_planner.quantity import Quantity
from dra_planner.wording import counted, listed

_LEAST_PODS: Final = "kueue.x-k8s.io/job-min-parallelism"
_ONE_BY_ONE: Final = ("Deployment", "StatefulSet", "ReplicaSet")
"""Kinds whose pods Kueue admits one by one, so each can get another flavor."""


def find_queue_faults(situation: ClusterSituation) -> Iterator[Blocker]:
    """Yield problems that prevent queued workloads from being admitted, and queue decisions."""
    manifests = situation.manifests
    for workload in manifests.workloads:
        queue = workload.meta.labels.get(KUEUE_QUEUE)
        if queue is None or workload.ref in manifests.existing:
            continue
        refused = tuple(_refused_claims(workload, manifests))
        yield from refused
        if not manifests.queues.is_given and not manifests.is_complete:
            text = (
                f'Kueue admits its pods from the queue "{queue}", but the manifests don\'t '
                "contain this queue, so the plan doesn't check its quota"
            )
            yield _blocker(workload, "queue-decides", text, "", "fits")
            continue
        found = manifests.queues.cluster_queue(workload.meta.namespace, queue)
        if found is None:
            yield _missing_queue(workload, queue, manifests)
            continue
        missing = [
            name
            for name in manifests.queues.flavors_of(found)
            if name not in manifests.queues.flavors
        ]
        if missing:
            by = f'ClusterQueue "{found.name}"'
            known = manifests.queues.flavors
            yield _not_found(workload, manifests, "ResourceFlavor", missing[0], known, by)
            continue
        for unmet in find_unmet_conditions(workload, found, manifests):
            yield _blocker(workload, "queue-admits-no-pod", unmet.text, unmet.fix, unmet.verdict)
        if not refused:
            yield from _not_admitted(workload, found, situation)
            yield from _flavored(workload, manifests)


def _blocker(
    workload: Workload, code: str, text: str, fix: str = "", verdict: Verdict = "does-not-fit"
) -> Blocker:
    return Blocker(
        code=code,
        message=f"{workload.ref}: {text}",
        fix=fix,
        place=workload.place,
        workloads=(workload.ref,),
        verdict=verdict,
    )


def _refused_claims(workload: Workload, manifests: Manifests) -> Iterator[Blocker]:
    seen: dict[tuple[str, str], None] = {}
    for pod_set in workload.pod_sets:
        for entry in pod_set.template.spec.resource_claims:
            if entry.resource_claim_name:
                name = entry.resource_claim_name
                text = (
                    f'Kueue rejects the shared claim "{name}", because Kueue counts only claims '
                    "that templates create"
                )
                seen[text, "use a ResourceClaimTemplate"] = None
                continue
            spec = spec_of(manifests, workload.meta.namespace, entry)
            seen |= dict.fromkeys(
                _refusals(spec, manifests.queues.resources) if spec is not None else ()
            )
    for text, fix in seen:
        yield _blocker(workload, "queue-admits-no-pod", text, fix)


def _refusals(spec: ClaimSpec, resources: Mapping[str, str] | None) -> Iterator[tuple[str, str]]:
    for request in spec.requests:
        exact = request.exactly
        if exact is None:
            yield (
                "Kueue rejects firstAvailable, because Kueue can't count alternatives",
                "request one of the alternatives with `exactly`",
            )
            continue
        if exact.allocation_mode == "All":
            yield (
                "Kueue rejects allocationMode: All, because Kueue can't count the devices",
                "set a count instead of allocationMode: All",
            )
        if exact.admin_access:
            yield (
                "Kueue rejects pods whose claims set adminAccess",
                "remove the queue label, because claims with adminAccess don't reserve devices",
            )
        if resources is not None and exact.device_class_name not in resources:
            name = exact.device_class_name
            text = (
                f"Kueue's configuration doesn't map DeviceClass \"{name}\" to a resource, so "
                "Kueue never admits the pods"
            )
            yield text, f"add {name} to resources.deviceClassMappings in Kueue's configuration"


def _missing_queue(workload: Workload, queue: str, manifests: Manifests) -> Blocker:
    queues, namespace = manifests.queues, workload.meta.namespace
    key = ObjectKey(namespace, queue)
    cluster_queue = queues.local_queues.get(key)
    if cluster_queue is not None:
        return _not_found(
            workload,
            manifests,
            "ClusterQueue",
            cluster_queue,
            queues.cluster_queues,
            f"LocalQueue {key}",
        )
    known = [each.name for each in queues.local_queues if each.namespace == namespace]
    return _not_found(workload, manifests, "LocalQueue", str(key), known, "its queue label")


def _not_found(
    workload: Workload, manifests: Manifests, kind: str, name: str, known: Iterable[str], by: str
) -> Blocker:
    fix = f'add a manifest for {kind} "{name}"{near_name(name.rpartition("/")[2], known)}'
    if is_missing(manifests, kind, name):
        text = (
            f'{by} refers to {kind} "{name}", but nothing in the manifests defines it, so Kueue '
            "never admits the pods"
        )
        return _blocker(workload, "queue-admits-no-pod", text, fix)
    text = (
        f"{by} refers to {kind} \"{name}\", which isn't in the manifests, so Kueue doesn't admit "
        "the pods until the object exists"
    )
    return _blocker(workload, "reference-not-found", text, fix, "cannot-tell")


def _not_admitted(
    workload: Workload, queue: ClusterQueue, situation: ClusterSituation
) -> Iterator[Blocker]:
    wanted = _wanted(workload, situation)
    covered = {name for group in queue.groups for name in group.covered}
    queues = situation.manifests.queues
    for name, amount in sorted(wanted.items()):
        if name in covered:
            yield from _over_quota(workload, queue, name, amount)
        elif not name.startswith(queues.uncounted):
            text = f'ClusterQueue "{queue.name}" doesn\'t cover "{name}", so Kueue never admits the pods'
            is_sure = queues.resources is not None
            yield _blocker(
                workload,
                "queue-admits-no-pod",
                text if is_sure else f"{text} unless Kueue's configuration transforms {name}",
                f'add "{name}" to coveredResources in ClusterQueue "{queue.name}"',
                "does-not-fit" if is_sure else "cannot-tell",
            )


def _over_quota(
    workload: Workload, queue: ClusterQueue, name: str, amount: Quantity
) -> Iterator[Blocker]:
    """Yield a request that exceeds a queue's quota, including its borrowing limit. Without a
    borrowing limit, the available quota of the cohort isn't known, because the manifests might not
    contain its other queues.
    """
    quotas = [quota for group in queue.groups for quota in group.flavors if name in quota.nominal]
    if queue.cohort and any(name not in quota.borrowing_limits for quota in quotas):
        return
    zero = Quantity.from_int(0)
    amounts = [
        quota.nominal[name] + (quota.borrowing_limits[name] if queue.cohort else zero)
        for quota in quotas
    ]
    is_divided = workload.kind in _ONE_BY_ONE or len(workload.pod_sets) > 1
    most = sum(amounts, zero) if is_divided else max(amounts, default=zero)
    if amount > most:
        borrowed = " (nominalQuota plus borrowingLimit)" if queue.cohort else ""
        text = (
            f'it requests {amount} "{name}", but ClusterQueue "{queue.name}" has a quota '
            f"of {most}{borrowed}"
        )
        yield _blocker(
            workload,
            "queue-admits-no-pod",
            text,
            f'raise nominalQuota for "{name}" to {amount}, or lower the request'
            if not queue.cohort
            else f'raise borrowingLimit or nominalQuota for "{name}", or lower the request',
        )


def _wanted(workload: Workload, situation: ClusterSituation) -> dict[str, Quantity]:
    """Return the total requests of a workload's pods: CPU, memory, and other resources of nodes,
    and devices by Kueue's resource for them. A Job that Kueue may admit partly counts with its
    minimum.
    """
    total: Counter[str] = Counter()
    least = number(workload.meta.annotations.get(_LEAST_PODS))
    for pod_set in workload.pod_sets:
        devices = _devices(workload, pod_set, situation.manifests)
        pods = pod_set.figures.steady if least is None else min(least, pod_set.figures.steady)
        units = devices + _plugin_units(pod_set, situation) + _of_node(pod_set)
        for name, amount in units.items():
            total[name] += amount * pods
    return {name: _quantity(name, amount) for name, amount in total.items() if amount}


def _of_node(pod_set: PodSet) -> Counter[str]:
    """Return the pod's requests for a node's own resources, whose names don't contain a domain."""
    requests = pod_requests(pod_set.template.spec)
    return Counter({
        name: amount for name, amount in requests.items() if "/" not in name and name != "pods"
    })  # fmt: skip


def _quantity(name: str, amount: int) -> Quantity:
    """Return the amount of a resource as people write it: cores, and binary units of memory."""
    if name == "cpu":
        return Quantity.parse(f"{amount}m" if amount % 1000 else str(amount // 1000))
    if "/" not in name:
        for unit, size in (("Gi", 2**30), ("Mi", 2**20)):
            if not amount % size:
                return Quantity.parse(f"{amount // size}{unit}")
    return Quantity.from_int(amount)


def _devices(workload: Workload, pod_set: PodSet, manifests: Manifests) -> Counter[str]:
    resources, found = manifests.queues.resources or {}, Counter[str]()
    for entry in pod_set.template.spec.resource_claims:
        spec = spec_of(manifests, workload.meta.namespace, entry)
        for request in spec.requests if spec is not None else ():
            for exact in request.alternatives[:1]:
                if exact.device_class_name in resources:
                    found[resources[exact.device_class_name]] += exact.count
    return found


def _plugin_units(pod_set: PodSet, situation: ClusterSituation) -> Counter[str]:
    """Return the units of device plugins that a pod requests.

    A name that a class serves is excluded, because Kueue may count it as devices of the class.
    """
    served = index_classes(situation.classes) if situation.features.extended_resource else {}
    return Counter({
        name: amount
        for name, amount in pod_requests(pod_set.template.spec).items()
        if "/" in name and name not in served and publishers_of(name)
    })  # fmt: skip


def _flavored(workload: Workload, manifests: Manifests) -> Iterator[Blocker]:
    pods = [pod_set.template.spec for pod_set in workload.pod_sets]
    flavors = [flavor_of(pod, workload, manifests.queues) for pod in pods]
    flavor = next(filter(None, flavors), None)
    if flavor is None:
        return
    for pod, assigned in zip(pods, flavors, strict=True):
        if assigned is None:
            continue
        tolerations = (*pod.tolerations, *flavor.tolerations)
        taint = untolerated_taint(flavor.node_taints, tolerations)
        if taint is not None:
            text = (
                f'its pods don\'t tolerate the taint {taint} of ResourceFlavor "{flavor.name}", so '
                "Kueue never admits them"
            )
            fix = (
                f'add a toleration for this taint to the pods or to ResourceFlavor "{flavor.name}"'
            )
            yield _blocker(workload, "queue-admits-no-pod", text, fix)
    if flavor.node_labels or flavor.tolerations:
        labels = [f"{key}={value}" for key, value in sorted(flavor.node_labels.items())]
        added = [f"the node selector {', '.join(labels)}"] if labels else []
        added += [counted(len(flavor.tolerations), "toleration")] if flavor.tolerations else []
        some = "" if all(flavors) else " that request resources"
        text = f'Kueue adds {listed(added)} from ResourceFlavor "{flavor.name}" to its pods{some}'
        yield _blocker(workload, "queue-decides", text, "", "fits")
