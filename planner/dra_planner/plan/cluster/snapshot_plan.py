"""Plans on the existing nodes of a snapshot."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.claims import expand_claims
from dra_planner.clouds import cloud, names
from dra_planner.documents.snapshot import SNAPSHOT_COMMAND
from dra_planner.errors import Diagnostic, ManifestError, Place
from dra_planner.manifests import Manifests
from dra_planner.model import (
    Demand,
    DeviceClass,
    DeviceTaintRule,
    DisruptionBudget,
    LimitRange,
    ObjectKey,
    ResourceClaim,
    Workload,
)
from dra_planner.offers import Offer, observe_offers, with_taint_rules
from dra_planner.plan.cluster.preempted_pods import find_displaced
from dra_planner.plan.cluster.shared_by_allocators import find_shared_by_allocators
from dra_planner.plan.demand.undivided_devices import find_undivided_devices
from dra_planner.plan.demand.unrequested_devices import find_unrequested_devices
from dra_planner.plan.judgement.judge import judge
from dra_planner.plan.judgement.judgement import Judgement
from dra_planner.plan.judgement.rollouts.daemons import find_stalled_daemons
from dra_planner.plan.judgement.rollouts.findings import rollout_assumptions, rollout_findings
from dra_planner.plan.judgement.rollouts.stalled import check_rollouts
from dra_planner.plan.model import (
    NodeRange,
    Plan,
    PlannedPool,
    PlannedWorkload,
    PlanRequest,
    overall_verdict,
)
from dra_planner.plan.pools.daemon_quotas import find_full_quotas
from dra_planner.plan.reading import read_checked
from dra_planner.plan.workload_verdicts import plan_workloads
from dra_planner.releases import (
    OPTIONAL_VERSIONS,
    Features,
    features_of,
    optional_version_fault,
    parse_version,
)
from dra_planner.sizing import DeviceCount
from dra_planner.sources import Source
from dra_planner.wording import listed

Classes = Callable[[Features], Mapping[str, DeviceClass]]

_KUBELET = re.compile(r"""\bkubeletVersion["']?\s*:\s*["']?v?(1\.\d+)""")


class ReadCluster(Struct, frozen=True, kw_only=True):
    """A snapshot and the objects that are applied to it.

    `manifests` are these objects in the cluster. `demand` and `offers` are derived from them.
    """

    features: Features
    snapshot: Manifests
    manifests: Manifests
    demand: Demand
    offers: tuple[Offer, ...]
    diagnostics: tuple[Diagnostic, ...]

    @property
    def assumptions(self) -> tuple[str, ...]:
        """The assumptions on which the answer depends."""
        return _assumptions(self.demand, self.offers, self.features, self.snapshot)


def read_cluster(request: PlanRequest, classes: Classes | None = None) -> ReadCluster:
    """Return the snapshot of a request with its manifests applied.

    `classes` are additional DeviceClasses that the cluster might lack. Raises ManifestError for a
    snapshot without nodes, or if neither the snapshot nor the request sets a Kubernetes version.
    """
    features = features_of_snapshot(request)
    snapshot = read_checked(request.observed, features)
    if not snapshot.nodes:
        raise ManifestError(
            "doesn't contain a Node",
            place=Place(request.observed[0].name),
            fix=f"use the output of `{SNAPSHOT_COMMAND}`",
        )
    given = read_checked(request.sources, features) if request.sources else snapshot
    named = {pod.meta.key for pod in snapshot.bound_pods}
    more = [pod for pod in given.bound_pods if pod.meta.key not in named]
    if more:  # pods that set nodeName, which don't need a scheduler
        snapshot = replace(snapshot, bound_pods=(*snapshot.bound_pods, *more))
    manifests = _together(given, snapshot)
    if classes is not None:
        manifests = replace(manifests, classes={**classes(features), **manifests.classes})
    return ReadCluster(
        features=features,
        snapshot=snapshot,
        manifests=manifests,
        demand=expand_claims(
            _in_cluster(manifests, snapshot),
            manifests.classes,
            features,
            tolerates_extended_resources=_tolerates_extended_resources(snapshot),
        ),
        offers=with_taint_rules(observe_offers(snapshot, features), manifests.taint_rules),
        diagnostics=(*snapshot.diagnostics, *(given.diagnostics if given is not snapshot else ())),
    )


def plan_on_snapshot(cluster: ReadCluster) -> Plan:
    """Return the plan for the workloads on the snapshot's nodes, at their declared replicas.

    Without additional manifests, the workloads are the snapshot's pods that aren't on a node.
    """
    judgement = judge(cluster.demand, cluster.offers, cluster.manifests.classes, cluster.features)
    workloads = plan_workloads(judgement)
    diagnostics = (*cluster.diagnostics, *find_consequences(cluster, judgement, workloads))
    rollouts = check_rollouts(judgement)
    return Plan(
        judgement=judgement,
        placing=overall_verdict(judgement.sizing.verdict, diagnostics),
        fleet=None,
        pools=tuple(_node(offer, judgement.devices[offer.name]) for offer in cluster.offers),
        workloads=workloads,
        cost=None,
        assumptions=(*cluster.assumptions, *rollout_assumptions(rollouts)),
        diagnostics=diagnostics,
        beside=(
            *rollout_findings(rollouts.stalled, rollouts.by_version),
            *find_stalled_daemons(judgement),
        ),
        manifests=cluster.manifests,
    )


def find_consequences(
    cluster: ReadCluster, judgement: Judgement, workloads: Iterable[PlannedWorkload]
) -> Iterator[Diagnostic]:
    """Yield the pods that the workloads preempt, devices with two users, whole devices for a part,
    and quotas that reject pods.
    """
    if judgement.outcome is not None and judgement.outcome.preempted:
        yield from find_displaced(cluster.demand, cluster.snapshot.bound_pods, judgement.outcome)
    yield from find_shared_by_allocators(judgement)
    yield from find_unrequested_devices(cluster.manifests)
    yield from find_undivided_devices(
        cluster.manifests, judgement.fleet, judgement.offers, judgement.classes
    )
    if cluster.demand.quotas is not None:
        yield from find_full_quotas(cluster.demand.quotas, workloads)


def _tolerates_extended_resources(snapshot: Manifests) -> bool:
    """Return whether the cluster's cloud tolerates the taints of extended resources. Nodes have
    labels of their cloud.
    """
    labels = {key for node in snapshot.nodes for key in node.meta.labels}
    known = (cloud(name) for name in names())
    return any(
        each.tolerates_extended_resources
        and any(key.startswith(each.unknown_labels[0]) for key in labels)
        for each in known
    )


def _node(offer: Offer, devices: DeviceCount) -> PlannedPool:
    return PlannedPool(
        name=offer.name,
        machine=offer.machine,
        minimum=1,
        bound=1,
        packing=1,
        simulated=1,
        recommended=1,
        maximum=1,
        enough=1,
        nodes=NodeRange(minimum=1, desired=1, maximum=1),
        devices=devices,
        hourly_usd=None,
        zones=offer.zones,
    )


def _together(given: Manifests, snapshot: Manifests) -> Manifests:
    """Return the given objects and the cluster's objects to which they can refer."""
    if given is snapshot:
        return snapshot
    return replace(
        given,
        claims=_claims_in_cluster(given, snapshot),
        templates={**snapshot.templates, **given.templates},
        classes={**snapshot.classes, **given.classes},
        namespaces={**snapshot.namespaces, **given.namespaces},
        priority_classes={**snapshot.priority_classes, **given.priority_classes},
        non_preempting=given.non_preempting
        | (snapshot.non_preempting - given.priority_classes.keys()),
        runtime_classes={**snapshot.runtime_classes, **given.runtime_classes},
        taint_rules=_taint_rules(given, snapshot),
        queues=snapshot.queues.merged(given.queues),
        nodes=snapshot.nodes,
        bound_pods=snapshot.bound_pods,
    )


def _claims_in_cluster(given: Manifests, snapshot: Manifests) -> dict[ObjectKey, ResourceClaim]:
    """Return the claims of both. Quotas already count a given claim that exists in the cluster."""
    claims = {**snapshot.claims, **given.claims}
    for key in given.claims.keys() & snapshot.claims.keys():
        uid = snapshot.claims[key].meta.uid
        claims[key] = replace(claims[key], meta=replace(claims[key].meta, uid=uid))
    return claims


def _in_cluster(manifests: Manifests, snapshot: Manifests) -> Manifests:
    """Return the manifests as applied to the cluster, with its pods, limits, quotas, and other
    workloads.

    Given objects replace cluster objects with the same name. Other workloads of the cluster stay as
    they are, and their pending pods come first.
    """
    if manifests.workloads is snapshot.workloads:
        return manifests
    named = {workload.ref for workload in manifests.workloads}
    known = {pod.owner for pod in snapshot.bound_pods} | snapshot.queued.keys()
    # if the API server rejected the missing pods
    limited = {_key(each)[0] for each in snapshot.quotas}
    staying = [
        workload
        for workload in snapshot.workloads
        if workload.ref not in named
        and (workload.kind == "Pod" or workload.ref in known or workload.meta.namespace in limited)
    ]
    return replace(
        manifests,
        workloads=(*staying, *(_as_it_is(workload, snapshot) for workload in manifests.workloads)),
        existing={workload.ref: workload for workload in snapshot.workloads},
        slices=snapshot.slices,
        bound_pods=snapshot.bound_pods,
        charged=snapshot.charged,
        waiting_pods=snapshot.waiting_pods,
        limit_ranges=_limit_ranges(manifests, snapshot),
        quotas=_quotas(manifests, snapshot),
        budgets=_budgets(manifests, snapshot),
        generated_claims={**snapshot.generated_claims, **manifests.generated_claims},
    )


def _as_it_is(workload: Workload, snapshot: Manifests) -> Workload:
    """Return a given workload. A bare pod that has ended in the cluster isn't created again."""
    if workload.ref not in snapshot.ended:
        return workload
    return replace(
        workload,
        pod_sets=tuple(replace(each, left=0) for each in workload.pod_sets),
        assumptions=(
            *workload.assumptions,
            "has already finished in the cluster, so it doesn't run again",
        ),
    )


def _budgets(given: Manifests, snapshot: Manifests) -> dict[ObjectKey, DisruptionBudget]:
    """Return the budgets of the cluster and the given budgets. Budgets with the same name get the
    counts from the cluster.
    """
    known = snapshot.budgets
    counted = {
        key: replace(each, status=known[key].status)
        for key, each in given.budgets.items()
        if key in known
    }
    return {**known, **given.budgets, **counted}


def _limit_ranges(given: Manifests, snapshot: Manifests) -> tuple[LimitRange, ...]:
    """Return the given limit ranges, and the limit ranges of the cluster with other names."""
    known = {each.meta.key: each for each in (*snapshot.limit_ranges, *given.limit_ranges)}
    return tuple(known.values())


def _taint_rules(given: Manifests, snapshot: Manifests) -> tuple[DeviceTaintRule, ...]:
    """Return the given DeviceTaintRules, and those of the cluster with other names."""
    return tuple(
        {rule.meta.name: rule for rule in (*snapshot.taint_rules, *given.taint_rules)}.values()
    )


def _quotas(given: Manifests, snapshot: Manifests) -> tuple[Mapping[str, Any], ...]:
    """Return the quotas of the cluster and the given quotas. Quotas with the same name get the
    usage from the cluster.
    """
    known = {_key(each): each for each in snapshot.quotas}
    for each in given.quotas:
        before = known.get(_key(each))
        known[_key(each)] = (
            each if before is None else {**each, "status": before.get("status") or {}}
        )
    return tuple(known.values())


def _key(data: Mapping[str, Any]) -> tuple[str, str]:
    metadata = data.get("metadata") or {}
    return str(metadata.get("namespace") or "default"), str(metadata.get("name"))


def features_of_snapshot(request: PlanRequest) -> Features:
    """Return the features of the snapshot's cluster. Objects in the snapshot prove that the cluster
    serves their API versions, and DeviceTaintRules that it applies them.
    """
    features = features_of(snapshot_minor(request))
    texts = [each.text for each in request.observed]
    served = [
        name
        for name in OPTIONAL_VERSIONS
        if not optional_version_fault(name, features.minor, on=True)
        and any(name in text for text in texts)
    ]
    if not served:
        return features
    has_rules = any("DeviceTaintRule" in text for text in texts)
    if has_rules and not features.device_taint_rules:
        features = features.with_gates(device_taint_rules=True)
    return features.with_served(served)


def snapshot_minor(request: PlanRequest) -> int:
    """Return a snapshot's minor version, unless another one is requested. Raises ManifestError if
    it isn't known.
    """
    if request.kubernetes:
        return parse_version(request.kubernetes)
    found = [parse_version(version) for version in _kubelets(request.observed)]
    if found:
        return max(found)
    raise ManifestError(
        "doesn't contain the cluster's Kubernetes version",
        place=Place(request.observed[0].name),
        fix="pass the cluster's version, for example --kubernetes 1.34",
    )


def _kubelets(sources: Iterable[Source]) -> list[str]:
    return [match for source in sources for match in _KUBELET.findall(source.text)]


def _assumptions(
    demand: Demand, offers: Iterable[Offer], features: Features, snapshot: Manifests
) -> tuple[str, ...]:
    texts = [
        f"Kubernetes {features.version} with its default feature gates, at its latest known patch "
        "version",
        *(
            [
                f"the cluster serves {listed(sorted(features.served))}, because the snapshot contains "
                "such objects"
            ]
            if features.served
            else []
        ),
        "the plan applies the manifests one at a time, each after all earlier pods are scheduled "
        "or unschedulable",
        *_missing_kinds(snapshot),
        *demand.assumptions,
        *(assumption for offer in offers for assumption in offer.assumptions),
    ]
    return tuple(dict.fromkeys(texts))


def _missing_kinds(snapshot: Manifests) -> tuple[str, ...]:
    """List relevant kinds of which the snapshot has no objects."""
    kinds = {workload.kind for workload in snapshot.workloads}
    held = {
        "Pod": bool(snapshot.bound_pods) or "Pod" in kinds,
        "Namespace": bool(snapshot.namespaces),
        "ResourceClaimTemplate": bool(snapshot.templates),
        "ResourceQuota": bool(snapshot.quotas),
        "LimitRange": bool(snapshot.limit_ranges),
        "PriorityClass": bool(snapshot.priority_classes),
        "PodDisruptionBudget": bool(snapshot.budgets),
        **{kind: kind in kinds for kind in ("Deployment", "StatefulSet", "DaemonSet", "Job")},
    }
    missing = [kind for kind, is_held in held.items() if not is_held]
    return (
        (
            "the snapshot doesn't contain objects of these kinds, so the plan assumes that the "
            f"cluster doesn't have any: {', '.join(missing)}",
        )
        if missing
        else ()
    )
