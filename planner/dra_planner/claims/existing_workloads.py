"""Workloads and pods that already exist in a cluster, and the claims that exist for them."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from dra_planner.manifests import Manifests
from dra_planner.manifests.manifests import BoundPod, GroupClaims
from dra_planner.manifests.pod_revisions import TEMPLATE_HASH
from dra_planner.model import (
    Figures,
    Member,
    ObjectKey,
    PodSet,
    PodSpec,
    Rollout,
    Workload,
    WorkloadRef,
)
from dra_planner.wording import counted, verb


class ExistingWorkloads:
    """The workloads of a snapshot with their running and pending pods."""

    def __init__(self, manifests: Manifests) -> None:
        self._manifests = manifests
        self._running: dict[WorkloadRef, tuple[ObjectKey, ...]] = {}
        self._waiting: dict[WorkloadRef, list[BoundPod]] = {}
        self.outdated = frozenset(pod.meta.key for pod in manifests.bound_pods if pod.outdated)
        self.assumptions: tuple[str, ...] = ()
        for pod in manifests.waiting_pods:
            self._waiting.setdefault(_maker_of(pod), []).append(pod)
        for pod in manifests.bound_pods:
            if not pod.going:
                maker = _maker_of(pod)
                self._running[maker] = (*self._running.get(maker, ()), pod.meta.key)
        going = sum(pod.going for pod in manifests.bound_pods)
        if going:
            pods = f"{counted(going, 'pod')} in the snapshot {verb(going, 'are')} terminating"
            self.assumptions = (f"{pods}, so their devices and resources count as free",)

    def before(self, workload: Workload) -> PodSet | None:
        """Return a workload's pod set in the cluster, if the manifests also contain the workload
        and it has only one pod set.
        """
        before = self._manifests.existing.get(workload.ref)
        if before is None or before is workload or len(before.pod_sets) != 1:
            return None
        return before.pod_sets[0]

    def running(self, workload: Workload) -> tuple[ObjectKey, ...]:
        """Return a workload's running pods. If the workload has several pod sets, it's unknown
        which pods belong to which set.
        """
        return self._running.get(workload.ref, ()) if len(workload.pod_sets) == 1 else ()

    def waiting(self, workload: WorkloadRef) -> Sequence[BoundPod]:
        """Return a workload's pending pods."""
        return self._waiting.get(workload, ())

    def scaled_first(
        self, workload: Workload, pod_set: PodSet, before: PodSet, *, changed: bool
    ) -> list[BoundPod]:
        """Return the pods that a Deployment adds with its earlier template, because a change of
        replicas scales its only active ReplicaSet before a rollout starts.

        If the rollout can delete all old pods at once, these pods don't last. Quotas aren't
        modeled, and several active ReplicaSets are reported (`doubt_of_scaling`). Source:
        kubernetes/kubernetes:pkg/controller/deployment/{deployment_controller,sync}.go @v1.36.3
        (syncDeployment, isScalingEvent, scale).
        """
        rollout, more = pod_set.rollout, pod_set.figures.steady - before.figures.steady
        if workload.kind != "Deployment" or rollout is None or more <= 0:
            return []
        is_limited = any(
            ((each.get("metadata") or {}).get("namespace") or "default") == workload.meta.namespace
            for each in self._manifests.quotas
        )
        if is_limited or rollout.unavailable >= pod_set.figures.steady:
            return []
        own = self._pods_of(workload.ref)
        if len(_templates_of(own)) != 1 or not (changed or own[0].outdated):
            return []
        spec = replace(own[0].spec, node_name="")
        name = own[0].meta.name
        return [
            replace(
                own[0], meta=replace(own[0].meta, name=f"{name}-{number}"), spec=spec, started=""
            )
            for number in range(more)
        ]

    def doubt_of_scaling(self, workload: Workload, pod_set: PodSet, before: PodSet) -> list[str]:
        """Return the assumption about a Deployment that gets more pods while several of its
        ReplicaSets are active. The controller scales each of them in proportion to its pods.
        """
        if (
            workload.kind != "Deployment"
            or pod_set.rollout is None
            or pod_set.figures.steady <= before.figures.steady
            or len(_templates_of(self._pods_of(workload.ref))) < 2
        ):
            return []
        return [
            f"{workload.ref}: a rollout is in progress in the cluster. The plan doesn't simulate "
            "the pods that the Deployment still creates from its previous pod template"
        ]

    def _pods_of(self, workload: WorkloadRef) -> list[BoundPod]:
        there = [pod for pod in self._manifests.bound_pods if not pod.going]
        return [pod for pod in (*there, *self.waiting(workload)) if _maker_of(pod) == workload]

    def awaited_nodes(self, workload: WorkloadRef) -> frozenset[str]:
        """Return the nodes for which a DaemonSet has pending pods with all their claims. Its
        controller names the node of each pod in the pod's affinity.

        Source: kubernetes/kubernetes:pkg/controller/daemon/util/daemonset_util.go@v1.36.3
        (ReplaceDaemonSetPodNodeNameNodeAffinity).
        """
        return frozenset[str]().union(
            *(
                pod.spec.node_affinity.named_nodes
                for pod in self.waiting(workload)
                if pod.spec.node_affinity is not None and all(pod.claims.values())
            )
        )

    def charged(self, workload: Workload) -> int:
        """Return how many pods of a workload quotas already count.

        With several pod sets, the number is unknown.
        """
        if len(workload.pod_sets) != 1:
            return 0
        return len(self.running(workload)) + self._manifests.charged.get(workload.ref, 0)

    def without_claims(self, workload: WorkloadRef) -> int:
        """Return how many pods of a workload are pending in the cluster and lack a claim."""
        existing = self._manifests.existing.get(workload)
        if existing is None or len(existing.pod_sets) != 1:
            return 0
        return sum(not all(pod.claims.values()) for pod in self.waiting(workload))


def _maker_of(pod: BoundPod) -> WorkloadRef:
    """Return the workload that created a pod. A bare pod is its own workload."""
    return pod.owner or WorkloadRef("Pod", *pod.meta.key)


def _templates_of(pods: Sequence[BoundPod]) -> set[str | None]:
    """Return the hashes of the templates of a Deployment's pods."""
    return {pod.meta.labels.get(TEMPLATE_HASH) for pod in pods}


def in_quota_order(manifests: Manifests) -> list[Workload]:
    """Return the workloads in the order in which quotas admit them."""
    existing = manifests.existing
    if not existing:
        return sorted(manifests.workloads, key=lambda workload: (workload.ref, workload.place))
    return sorted(
        manifests.workloads,
        key=lambda each: (existing.get(each.ref) is not each, each.place, each.ref),
    )


def generated_claims(manifests: Manifests, workload: Workload, pod: PodSpec) -> dict[str, str]:
    """Return the names of claims that already exist for the pods: the claims of a bare pod, or of
    its group.
    """
    key = ObjectKey(workload.meta.namespace, pod.pod_group)
    own = manifests.generated_claims.get(workload.meta.key, {}) if workload.kind == "Pod" else {}
    return {**own, **_of_group(pod, manifests.group_claims.get(key, {}))}


def _of_group(pod: PodSpec, group: GroupClaims) -> dict[str, str]:
    """Return the claims that the pod shares with its group: entries with the same name and
    template, by name.

    Source: kubernetes/dynamic-resource-allocation:resourceclaim/resourceclaim.go@v0.37.0 (BindTo).
    """
    wanted = {
        entry.name: group.get((entry.name, entry.resource_claim_template_name or ""))
        for entry in pod.resource_claims
    }
    return {name: claim for name, claim in wanted.items() if claim is not None}


def without_new_pods(member: Member, pods: int) -> Member | None:
    """Return a member that has this number of existing pods and can't create more.

    Returns None if it doesn't have any pods. A rollout removes as many pods as its maxUnavailable
    allows.
    """
    if not pods:
        return None
    kept, wanted, rollout = min(pods, member.figures.steady), member.figures.steady, member.rollout
    if not member.changed or rollout is None:
        return replace(member, figures=Figures.fixed(kept))
    if member.workload.kind != "Deployment":
        return replace(member, figures=Figures.fixed(kept), rollout=rollout._replace(kept=pods))
    return replace(
        member, figures=Figures.fixed(0), rollout=Rollout(0, rollout.unavailable - wanted)
    )
