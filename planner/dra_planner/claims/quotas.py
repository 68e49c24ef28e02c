"""Resource quotas: how many of a namespace's pods and claims are admitted.

A pod within its quota is admitted even if its claims exceed their quota. In that case, the claims
aren't created, and the pod stays pending. Both kinds of pods are blocked here, because they never
run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.claims.consumers import take
from dra_planner.claims.extended_resources import CLAIM_NAME
from dra_planner.claims.quota import (
    NamespaceQuota,
    denial_reason,
    read_room,
    reason_for_unset_fields,
)
from dra_planner.claims.quota_rollouts import roll_out, short_of
from dra_planner.claims.resolution import UnresolvedClaims
from dra_planner.manifests import Manifests, render_claim_spec, render_pod_spec
from dra_planner.manifests.validation.quotas import (
    Usage,
    claim_usage,
    covers,
    pod_usage,
)
from dra_planner.model import (
    DeviceClass,
    Figures,
    Member,
    ObjectKey,
    PodQuotas,
    PodSetKey,
    PodSpec,
    QuotaLimit,
    Reason,
    ShapeClaim,
    Workload,
)
from dra_planner.quantity import Quantity
from dra_planner.releases import Features

_LEVELS = 4
_STEADY = 1
_OBJECTS: Final[Mapping[tuple[str, str], tuple[str, ...]]] = {
    ("", "ReplicationController"): ("replicationcontrollers",),
    ("apps", "DaemonSet"): ("daemonsets.apps",),
    ("apps", "Deployment"): ("deployments.apps", "replicasets.apps"),
    ("apps", "ReplicaSet"): ("replicasets.apps",),
    ("apps", "StatefulSet"): ("statefulsets.apps",),
    ("batch", "CronJob"): ("cronjobs.batch",),
    ("batch", "Job"): ("jobs.batch",),
}
"""Quotas count these objects when a workload is created, by group and kind."""


class Denial(Struct, frozen=True):
    """The reason that pods never run.

    `created` means that the pods exist, but their claims are missing. Otherwise, the API server
    rejects the pods.
    """

    reason: Reason
    created: bool = True


class QuotaRoom:
    """Admits pods and claims in order, within the quotas of their namespaces."""

    def __init__(
        self, manifests: Manifests, classes: Mapping[str, DeviceClass], features: Features
    ) -> None:
        self._features = features
        self._classes = {name: each.extended_resource_name or "" for name, each in classes.items()}
        self._quotas: dict[str, list[NamespaceQuota]] = {}
        for data in manifests.quotas:
            namespace = str((data.get("metadata") or {}).get("namespace") or "default")
            self._quotas.setdefault(namespace, []).append(
                NamespaceQuota(data, [read_room(data) for _ in range(_LEVELS)])
            )
        self._denied: dict[ObjectKey, Reason] = {}
        self._charges: dict[PodSetKey, dict[QuotaLimit, int]] = {}
        self._freed: dict[PodSetKey, dict[QuotaLimit, int]] = {}
        self._refused: dict[PodSetKey, Figures] = {}
        self._daemons: dict[PodSetKey, int] = {}
        if self._quotas:
            self._charge_existing(manifests)
            self._charge_claims(manifests)
        # usage without the demand's pods, even if the cluster already contains these pods without a
        # node
        self._at_start = {limit: rooms[_STEADY] for limit, rooms in self._limits()}

    @property
    def denied_claims(self) -> Mapping[ObjectKey, Reason]:
        """The claims in manifests that wouldn't be created, and the reasons."""
        return self._denied

    def as_pods_arrive(self) -> PodQuotas | None:
        """Return the quota use of the pods that were split, or None if quotas don't count them."""
        if not self._charges:
            return None
        left = dict(self._limits())
        return PodQuotas(
            room=self._at_start,
            charges=self._charges,
            refused=self._refused,
            freed=self._freed,
            left={limit: rooms[_STEADY] for limit, rooms in left.items()},
            daemons=self._daemons,
            least_left={limit: min(rooms) for limit, rooms in left.items()},
        )

    def _limits(self) -> Iterator[tuple[QuotaLimit, list[int]]]:
        """Yield every limit with its free amount at each level of demand, in thousandths."""
        for namespace, quotas in self._quotas.items():
            for quota in quotas:
                for resource in quota.room[_STEADY]:
                    rooms = [room[resource].milli_value for room in quota.room]
                    yield (ObjectKey(namespace, quota.name), resource), rooms

    def check_named(self, pod: PodSpec, namespace: str) -> None:
        """Raise UnresolvedClaims if a quota prevents the creation of a claim that the pod uses."""
        for entry in pod.resource_claims:
            reason = self._denied.get(ObjectKey(namespace, entry.resource_claim_name or ""))
            if reason is not None:
                raise UnresolvedClaims("does-not-fit", reason)

    def refuse_object(self, workload: Workload) -> Denial | None:
        """Return why a workload, or the object that creates its pods, isn't created.

        If it's created, count it.
        """
        charged = _OBJECTS.get((workload.api_version.rpartition("/")[0], workload.kind))
        quotas = [
            each
            for each in self._quotas.get(workload.meta.namespace, ())
            if covers(each.data, None)
        ]
        if charged is None or not quotas:
            return None
        usage = {f"count/{name}": Quantity.from_int(1) for name in charged}
        full = next((quota for quota in quotas if min(quota.fits(usage)) < 1), None)
        if full is not None:
            return Denial(denial_reason(full, usage, workload.meta.namespace), created=False)
        for quota in quotas:
            quota.charge(usage, [1] * _LEVELS)
        return None

    def release(
        self, pods: int, namespace: str, pod: PodSpec, claims: tuple[ShapeClaim, ...]
    ) -> None:
        """Record the deletion of this number of pods."""
        for quota in self._quotas.get(namespace, ()):
            quota.charge(self._usage(quota, render_pod_spec(pod), claims), [-pods] * _LEVELS)

    def split(
        self,
        member: Member,
        namespace: str,
        pod: PodSpec,
        claims: tuple[ShapeClaim, ...],
        before: tuple[PodSpec, tuple[ShapeClaim, ...]] | None = None,
        *,
        per_node: bool = False,
        without_claims: int = 0,
    ) -> Iterator[tuple[Member, Denial | None]]:
        """Yield the pods that the quotas admit, including running ones, and the other pods with the
        reason. A DaemonSet (`per_node`) counts as one pod, because its number of pods is known
        only after sizing. `before` are pods (with their claims) that the rollout replaces. If a
        rollout adds pods first and the quota doesn't allow one more, it stalls. `without_claims`
        is the number of pods in the cluster whose missing claims quotas don't count.
        """
        quotas = self._quotas.get(namespace)
        if not quotas:
            yield member, None
            return
        data = render_pod_spec(pod)
        if (unset := reason_for_unset_fields(quotas, data, namespace)) is not None:
            yield from _running_only(member, unset)
            return
        charged = [(quota, self._usage(quota, data, claims)) for quota in quotas]
        of_pods = [(quota, self._of_pod(quota, data)) for quota in quotas]
        for quota, usage in of_pods:  # in the code below, they count like all other pods
            quota.charge(usage, [-without_claims] * _LEVELS)
        self._note_charges(member, charged, before)
        # A pod is admitted only if its own claims also fit within the quota. `free` is the number
        # of such complete pods. In `_wait`, `of_pods` counts only pods, because a pod whose claim
        # is denied exists and stays pending.
        free, more, rollout = _room_for(charged), 0, member.rollout
        most, wanted = _balance(charged)[_STEADY] + member.charged, member.figures.steady
        rolls_out = member.changed or (before is not None and member.workload.kind == "Deployment")
        if rolls_out and member.rollout is not None:
            member, more, replaces = roll_out(member, member.rollout, free[_STEADY])
            if replaces and before is not None:
                replaced = member.charged if per_node else min(member.charged, wanted)
                self.release(replaced, namespace, *before)
                member, free = replace(member, charged=0), _room_for(charged)
            elif more and not per_node:  # pending pods of the earlier template are counted apart
                member = replace(member, charged=len(member.running))
        admitted, rest = take(member, [pods + member.charged for pods in free])
        if rolls_out and admitted.rollout is not None and not admitted.in_order:
            admitted = short_of(admitted, admitted.rollout, wanted, most)
        if more and (rest is None or not rest.figures.steady):
            rest = replace(
                member, figures=Figures.fixed(more), running=(), charged=0, changed=False
            )
        _charge(charged, [max(0, (pods or 0) - member.charged) for pods in admitted.figures])
        if per_node and any(admitted.figures):
            yield from self._of_daemons(member, without_claims, charged, of_pods)
        yield admitted, None
        if rest is not None:
            if per_node and without_claims:  # these pods exist, unlike those of other nodes
                rest = replace(rest, figures=Figures.fixed(without_claims))
            yield from self._refuse(replace(rest, rollout=rollout), charged, of_pods)

    def _refuse(
        self, rest: Member, charged: _Charged, of_pods: _Charged
    ) -> Iterator[tuple[Member, Denial]]:
        """Record the pods that the quotas don't admit, and yield them with the reason."""
        namespace = rest.workload.namespace
        self._refused[rest.workload, rest.pod_set] = rest.figures
        yield from _wait(rest, of_pods, _tightest(charged, namespace), namespace)

    def _note_charges(
        self,
        member: Member,
        charged: _Charged,
        before: tuple[PodSpec, tuple[ShapeClaim, ...]] | None,
    ) -> None:
        """Record the amounts that one pod of a workload charges, the amounts that its existing
        pending pods have already charged, and the amounts that a pod of `before` frees.
        """
        key = member.workload, member.pod_set
        if before is not None:
            self._freed[key] = self._charges_of(*before, member.workload.namespace)
        charges = _charges(charged, member.workload.namespace)
        self._charges[key] = charges
        existing = self._freed.get(key, charges)
        for limit, amount in existing.items():
            self._at_start[limit] += amount * (member.charged - len(member.running))

    def _charges_of(
        self, pod: PodSpec, claims: tuple[ShapeClaim, ...], namespace: str
    ) -> dict[QuotaLimit, int]:
        """Return the amounts that an existing pod with its claims charges."""
        data = render_pod_spec(pod)
        quotas = self._quotas.get(namespace, ())
        return _charges([(quota, self._usage(quota, data, claims)) for quota in quotas], namespace)

    def _of_daemons(
        self, member: Member, without_claims: int, charged: _Charged, of_pods: _Charged
    ) -> Iterator[tuple[Member, Denial]]:
        """Count the DaemonSet pods in the cluster, and yield the pods whose claims quotas deny."""
        allowed = min(without_claims, _room_for(charged)[_STEADY])
        _charge(charged, [allowed] * _LEVELS)
        self._daemons[member.workload, member.pod_set] = max(1, member.charged + allowed)
        denied = without_claims - allowed
        if denied:
            _charge(of_pods, [denied] * _LEVELS)
            waiting = replace(member, figures=Figures.fixed(denied), running=(), charged=0)
            yield waiting, Denial(_tightest(charged, member.workload.namespace))

    def _usage(
        self, quota: NamespaceQuota, pod: Mapping[str, Any], claims: tuple[ShapeClaim, ...]
    ) -> Usage:
        """Return the quota use of a pod with its own claims.

        Extended resources that a class serves count once: for the pod, not for its claim.

        Source: kubernetes/kubernetes:pkg/quota/v1/evaluator/core/resource_claims.go@v1.36.3
        (addExtendedResourceQuota).
        """
        of_pod, total = pod_usage(pod, self._features), self._of_pod(quota, pod)
        if covers(quota.data, None):
            for claim in claims:
                if claim.shared is None:
                    charged = claim_usage(
                        render_claim_spec(claim.spec), self._features, self._classes
                    )
                    for key, amount in charged.items():
                        if claim.name == CLAIM_NAME and key in of_pod:
                            continue
                        total[key] = total[key] + amount if key in total else amount
        return total

    def _of_pod(self, quota: NamespaceQuota, pod: Mapping[str, Any]) -> Usage:
        """Return the quota use of a pod without its claims."""
        return dict(pod_usage(pod, self._features)) if covers(quota.data, pod) else {}

    def _charge_existing(self, manifests: Manifests) -> None:
        """Count a cluster's existing objects for a new quota, whose usage is unknown."""
        for namespace, quotas in self._quotas.items():
            for quota in quotas:
                silent = set(quota.room[0]) - set(
                    (quota.data.get("status") or {}).get("used") or {}
                )
                for usage in self._existing(quota, manifests, namespace) if silent else ():
                    quota.charge(
                        {key: amount for key, amount in usage.items() if key in silent},
                        [1] * _LEVELS,
                    )

    def _existing(
        self, quota: NamespaceQuota, manifests: Manifests, namespace: str
    ) -> Iterator[Usage]:
        """Yield a quota's use by the existing pods, claims, and workloads in a namespace."""
        for pod in (*manifests.bound_pods, *manifests.waiting_pods):
            if pod.meta.namespace == namespace:
                yield self._of_pod(quota, render_pod_spec(pod.spec))
        if not covers(quota.data, None):
            return
        for claim in manifests.claims.values():
            if claim.meta.uid and claim.meta.namespace == namespace:
                yield claim_usage(render_claim_spec(claim.spec), self._features, self._classes)
        for ref, workload in manifests.existing.items():
            names = _OBJECTS.get((workload.api_version.rpartition("/")[0], workload.kind), ())
            if ref.namespace == namespace:
                yield {f"count/{name}": Quantity.from_int(1) for name in names}

    def _charge_claims(self, manifests: Manifests) -> None:
        """Count the claims in manifests. Existing claims are already part of the quota's usage."""
        for key in sorted(manifests.claims):
            claim = manifests.claims[key]
            if claim.meta.uid:
                continue
            usage = claim_usage(render_claim_spec(claim.spec), self._features, self._classes)
            quotas = [
                quota for quota in self._quotas.get(key.namespace, ()) if covers(quota.data, None)
            ]
            full = next((quota for quota in quotas if min(quota.fits(usage)) < 1), None)
            if full is not None:
                self._denied[key] = denial_reason(full, usage, key.namespace, str(key))
                continue
            for quota in quotas:
                quota.charge(usage, [1] * _LEVELS)


_Charged = list[tuple[NamespaceQuota, Usage]]
"""Quotas, and the amount that a pod charges to each."""


def _room_for(charged: _Charged) -> list[int]:
    """Return the number of further pods that all quotas allow, at each level."""
    return [max(0, pods) for pods in _balance(charged)]


def _balance(charged: _Charged) -> list[int]:
    """Return the number of further pods that all quotas allow, at each level, negative if pods
    must be deleted first.
    """
    return [
        min(column) for column in zip(*(quota.fits(usage) for quota, usage in charged), strict=True)
    ]


def _charges(charged: _Charged, namespace: str) -> dict[QuotaLimit, int]:
    """Return the amount that a pod charges to each limit of the quotas, in thousandths."""
    return {
        (ObjectKey(namespace, quota.name), resource): usage[resource].milli_value
        for quota, usage in charged
        for resource in quota.room[0]
        if resource in usage and usage[resource].sign > 0
    }


def _charge(charged: _Charged, pods: list[int]) -> None:
    for quota, usage in charged:
        quota.charge(usage, pods)


def _tightest(charged: _Charged, namespace: str) -> Reason:
    """Return the quota with the least free amount, which rejects further pods."""
    quota, usage = min(charged, key=lambda each: each[0].fits(each[1]))
    return denial_reason(quota, usage, namespace)


def _running_only(member: Member, reason: Reason) -> Iterator[tuple[Member, Denial | None]]:
    """Yield the running pods of a member, and separately its other pods, which the API server
    rejects.
    """
    running, rest = take(member, [len(member.running)] * _LEVELS)
    yield running, None
    if rest is not None:
        yield rest, Denial(reason, created=False)


def _wait(
    member: Member, of_pods: _Charged, reason: Reason, namespace: str
) -> Iterator[tuple[Member, Denial]]:
    """Yield the pods that exist and wait for claims that quotas deny, and the pods that aren't
    created.
    """
    room = _room_for(of_pods)
    if member.in_order:  # the controller creates the next pod only when the previous pod runs
        room = [min(pods, 1) for pods in room]
    waiting, refused = take(member, room)
    if any(waiting.figures):
        yield waiting, Denial(reason)
        _charge(of_pods, [pods or 0 for pods in waiting.figures])
    if refused is not None:
        tightest = reason if member.in_order else _tightest(of_pods, namespace)
        yield refused, Denial(tightest, created=False)
