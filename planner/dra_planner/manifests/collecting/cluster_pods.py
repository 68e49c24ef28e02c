"""Pods of a cluster: pods on nodes, pending pods, and the workloads that created them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from dra_planner.manifests.collecting.ignored_objects import IgnoredObjects
from dra_planner.manifests.manifests import BoundPod
from dra_planner.manifests.objects import KubernetesObject
from dra_planner.manifests.parsing.fields import parse_meta
from dra_planner.manifests.parsing.pods import parse_pod_template
from dra_planner.manifests.pod_revisions import Revisions, maker_of
from dra_planner.model import ObjectKey, ObjectMeta, PodSpec, WorkloadRef


class ClusterPods:
    """Pods of a cluster, with their claims and controllers."""

    def __init__(self, ignored: IgnoredObjects) -> None:
        self._ignored = ignored
        self._bound: list[BoundPod] = []
        self._pending: list[BoundPod] = []  # queued pods that aren't on a node
        self._owners: dict[WorkloadRef, WorkloadRef] = {}
        self._revisions = Revisions()
        self.ended: set[WorkloadRef] = set()
        # claim name by entry, for pods that aren't on a node
        self.generated_claims: dict[ObjectKey, dict[str, str]] = {}

    def note_controller(self, item: KubernetesObject, *, exists: bool) -> None:
        """Store the controller of an object, and the pod templates of an existing object."""
        owner = _controller_of(item)
        if owner is not None:
            self._owners[WorkloadRef(item.kind, item.namespace, item.name)] = owner
        if exists:
            self._revisions.note(item, owner)

    def add(self, item: KubernetesObject) -> bool:
        """Add a pod, and return whether it still needs a node.

        A running pod uses devices and resources on its node, but a pod that has ended doesn't.
        """
        status = item.data.get("status") or {}
        owner = _controller_of(item)
        if status.get("phase") in ("Succeeded", "Failed"):
            self._ignored.count(item, "finished")
            if owner is None:
                self.ended.add(WorkloadRef(item.kind, item.namespace, item.name))
            return False
        going = bool(item.metadata.get("deletionTimestamp"))
        spec = parse_pod_template(item.data, item.place).spec
        if going and not spec.node_name:
            self._ignored.count(item, "terminating")
            return False
        observed = bool(status.get("phase") or item.metadata.get("uid"))
        generated = _generated_claims(status)
        meta = parse_meta(item.metadata, item.place)
        claims = _claims_of(spec, generated)
        if spec.node_name and (observed or not spec.resource_claims):
            self._bound.append(
                BoundPod(
                    meta=meta,
                    spec=spec,
                    claims=claims,
                    owner=owner,
                    started=status.get("startTime") or "",
                    ready=_is_ready(status),
                    exists=observed,
                    going=going,
                    is_served_by_claim=bool(status.get("extendedResourceClaimStatus")),
                )
            )
            return False
        if observed:
            self._pending.append(BoundPod(meta=meta, spec=spec, claims=claims, owner=owner))
        if generated:
            self.generated_claims[item.key] = generated
        return True

    def bound(self) -> tuple[BoundPod, ...]:
        """Return the pods on nodes. Call this after all objects are stored."""
        return tuple(map(self._of_workload, self._bound))

    def waiting(self) -> tuple[BoundPod, ...]:
        """Return the pods without a node. Call this after all objects are stored."""
        return tuple(map(self._of_workload, self._pending))

    def _of_workload(self, pod: BoundPod) -> BoundPod:
        """Return the pod with the workload that created it, and whether the workload has a newer
        template.
        """
        owner = self._workload_of(pod.owner, pod.meta)
        return replace(pod, owner=owner, outdated=self._revisions.is_outdated(pod.meta, owner))

    def _workload_of(self, owner: WorkloadRef | None, pod: ObjectMeta) -> WorkloadRef | None:
        """Return the topmost controller of a pod.

        If a ReplicaSet isn't in the snapshot, its Deployment is derived from names.
        """
        seen = set[WorkloadRef]()
        while owner is not None and owner in self._owners and owner not in seen:
            seen.add(owner)
            owner = self._owners[owner]
        if owner is None or owner.kind != "ReplicaSet":
            return owner
        return maker_of(owner, pod)


def queue_lengths(
    waiting: Sequence[BoundPod],
) -> tuple[Counter[WorkloadRef], Counter[WorkloadRef]]:
    """Return the number of pending pods of each workload, and how many of them have all of their
    claims.
    """
    makers = [(pod.owner or WorkloadRef("Pod", *pod.meta.key), pod) for pod in waiting]
    return (
        Counter(maker for maker, _ in makers),
        Counter(maker for maker, pod in makers if all(pod.claims.values())),
    )


def _controller_of(item: KubernetesObject) -> WorkloadRef | None:
    for reference in item.metadata.get("ownerReferences") or ():
        if reference.get("controller"):
            return WorkloadRef(
                str(reference.get("kind")), item.namespace, str(reference.get("name"))
            )
    return None


def _generated_claims(status: Mapping[str, Any]) -> dict[str, str]:
    """Return the names of the claims that the controller created for a pod, by entry."""
    return {
        entry["name"]: entry["resourceClaimName"]
        for entry in status.get("resourceClaimStatuses") or ()
        if entry.get("resourceClaimName")
    }


def _claims_of(spec: PodSpec, generated: Mapping[str, str]) -> dict[str, str]:
    """Return the claim of each entry, or "" if the controller hasn't created it yet."""
    named = {entry.name: entry.resource_claim_name or "" for entry in spec.resource_claims}
    return {**named, **generated}


def _is_ready(status: Mapping[str, Any]) -> bool:
    return all(
        each.get("status") == "True"
        for each in status.get("conditions") or ()
        if each.get("type") == "Ready"
    )
