"""Resource quotas: how many of the pods and claims of a namespace would be admitted.

A pod that has room is admitted even where its claims have none: then their creation fails, and it waits. Both are
blocked here, for neither ever runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dra_planner.claims.consumers import take
from dra_planner.claims.resolution import Unresolved
from dra_planner.manifests import Manifests, render_claim_spec, render_pod_spec
from dra_planner.manifests.validation.quotas import Usage, claim_usage, covers, pod_usage, unspecified
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
)
from dra_planner.quantity import Quantity
from dra_planner.records import dataclass
from dra_planner.releases import Features

_LEVELS = 4
_UNBOUNDED = 2**62


@dataclass(slots=True)
class _Quota:
    """One quota: what it limits, and the room that is left at each level of demand."""

    data: Mapping[str, Any]
    room: list[dict[str, Quantity]]

    @property
    def name(self) -> str:
        return str((self.data.get("metadata") or {}).get("name"))

    def fits(self, usage: Usage) -> list[int]:
        """Return how many times a usage fits at each level."""
        return [
            min((_times(room[key], usage[key]) for key in room if key in usage), default=_UNBOUNDED)
            for room in self.room
        ]

    def charge(self, usage: Usage, times: list[int]) -> None:
        for room, count in zip(self.room, times, strict=True):
            for key in room:
                if key in usage and count:
                    room[key] = room[key] - _multiple(usage[key], count)


@dataclass(frozen=True, slots=True)
class Denial:
    """Why pods never run. `created`: the pods themselves are, and wait for claims; else the API server refuses them."""

    reason: Reason
    created: bool = True


class QuotaRoom:
    """Takes pods and claims in, in order, as far as the quotas of their namespaces go."""

    def __init__(self, manifests: Manifests, classes: Mapping[str, DeviceClass], features: Features) -> None:
        self._features = features
        self._classes = {name: each.extended_resource_name or "" for name, each in classes.items()}
        self._quotas: dict[str, list[_Quota]] = {}
        for data in manifests.quotas:
            namespace = str((data.get("metadata") or {}).get("namespace") or "default")
            self._quotas.setdefault(namespace, []).append(_Quota(data, [_room(data) for _ in range(_LEVELS)]))
        self._denied: dict[ObjectKey, Reason] = {}
        self._charges: dict[PodSetKey, dict[QuotaLimit, int]] = {}
        self._refused: dict[PodSetKey, Figures] = {}
        if self._quotas:
            self._charge_claims(manifests)
        self._at_start = {limit: room.milli_value for limit, room in self._limits()}

    @property
    def denied_claims(self) -> Mapping[ObjectKey, Reason]:
        """The claims given by name that would not be created, and why."""
        return self._denied

    def as_pods_arrive(self) -> PodQuotas | None:
        """Return what quotas count of the pods that were split; None where they count none."""
        if not self._charges:
            return None
        return PodQuotas(room=self._at_start, charges=self._charges, refused=self._refused)

    def _limits(self) -> Iterator[tuple[QuotaLimit, Quantity]]:
        """Yield every limit with its room for steady demand."""
        for namespace, quotas in self._quotas.items():
            for quota in quotas:
                for resource, room in quota.room[1].items():
                    yield (ObjectKey(namespace, quota.name), resource), room

    def check_named(self, pod: PodSpec, namespace: str) -> None:
        """Raise Unresolved where a quota keeps a claim that the pod names from being created."""
        for entry in pod.resource_claims:
            reason = self._denied.get(ObjectKey(namespace, entry.resource_claim_name or ""))
            if reason is not None:
                raise Unresolved("does-not-fit", reason)

    def split(
        self, member: Member, namespace: str, pod: PodSpec, claims: tuple[ShapeClaim, ...]
    ) -> Iterator[tuple[Member, Denial | None]]:
        """Yield the pods that the quotas admit, those that run already among them, and the others with the reason."""
        quotas = self._quotas.get(namespace)
        if not quotas:
            yield member, None
            return
        data = render_pod_spec(pod)
        silent = next(filter(None, (_unsaid(quota, data, namespace) for quota in quotas)), None)
        if silent is not None:
            running, rest = take(member, [len(member.running)] * _LEVELS)
            yield running, None
            if rest is not None:
                yield rest, Denial(silent, created=False)
            return
        charged = [(quota, self._usage(quota, data, claims)) for quota in quotas]
        key = member.workload, member.pod_set
        self._charges[key] = {
            (ObjectKey(namespace, quota.name), resource): usage[resource].milli_value
            for quota, usage in charged
            for resource in quota.room[0]
            if resource in usage and usage[resource].sign > 0
        }
        fits = [quota.fits(usage) for quota, usage in charged]
        room = [min(column) + len(member.running) for column in zip(*fits, strict=True)]
        admitted, rest = take(member, room)
        counts = [max(0, (pods or 0) - len(member.running)) for pods in admitted.figures]
        for quota, usage in charged:
            quota.charge(usage, counts)
        yield admitted, None
        if rest is not None:
            self._refused[key] = rest.figures
            tightest = min(range(len(charged)), key=lambda index: fits[index])
            quota, usage = charged[tightest]
            of_pods = pod_usage(data, self._features) if covers(quota.data, data) else {}
            yield rest, Denial(_reason(quota, usage, namespace), created=_tight_key(quota, usage) not in of_pods)

    def _usage(self, quota: _Quota, pod: Mapping[str, Any], claims: tuple[ShapeClaim, ...]) -> Usage:
        total: Usage = dict(pod_usage(pod, self._features)) if covers(quota.data, pod) else {}
        if covers(quota.data, None):
            for claim in claims:
                if claim.shared is None:
                    for key, amount in claim_usage(
                        render_claim_spec(claim.spec), self._features, self._classes
                    ).items():
                        total[key] = total[key] + amount if key in total else amount
        return total

    def _charge_claims(self, manifests: Manifests) -> None:
        """Charge the claims that are given by name; those that exist already are in what the quota says is used."""
        for key in sorted(manifests.claims):
            claim = manifests.claims[key]
            if claim.meta.uid:
                continue
            usage = claim_usage(render_claim_spec(claim.spec), self._features, self._classes)
            quotas = [quota for quota in self._quotas.get(key.namespace, ()) if covers(quota.data, None)]
            full = next((quota for quota in quotas if min(quota.fits(usage)) < 1), None)
            if full is not None:
                self._denied[key] = _reason(full, usage, key.namespace, str(key))
                continue
            for quota in quotas:
                quota.charge(usage, [1] * _LEVELS)


def _room(data: Mapping[str, Any]) -> dict[str, Quantity]:
    hard = (data.get("spec") or {}).get("hard") or {}
    used = (data.get("status") or {}).get("used") or {}
    return {key: Quantity.parse(str(value)) - Quantity.parse(str(used.get(key, 0))) for key, value in hard.items()}


def _times(room: Quantity, amount: Quantity) -> int:
    if amount.sign <= 0:
        return _UNBOUNDED
    return max(room.milli_value // amount.milli_value, 0)


def _multiple(amount: Quantity, count: int) -> Quantity:
    return Quantity(amount.unscaled * count, amount.scale, False, amount.suffixes)


def _unsaid(quota: _Quota, pod: Mapping[str, Any], namespace: str) -> Reason | None:
    """Return why pods that leave open what a quota counts are refused; None where they leave nothing open."""
    hard = (quota.data.get("spec") or {}).get("hard") or {}
    missing = unspecified(hard, pod) if covers(quota.data, pod) else []
    if not missing:
        return None
    left_open = "; ".join(missing)
    return Reason(
        code="quota-exceeded",
        message=f"ResourceQuota {namespace}/{quota.name} refuses pods that leave open what it limits: {left_open}",
        fix="write that in the containers, or give the namespace a LimitRange with defaults",
    )


def _tight_key(quota: _Quota, usage: Usage) -> str:
    """Return what of a quota is used up first."""
    hard: Mapping[str, Any] = (quota.data.get("spec") or {}).get("hard") or {}
    return min((key for key in hard if key in usage), key=lambda key: _times(quota.room[-1][key], usage[key]))


def _reason(quota: _Quota, usage: Usage, namespace: str, claim: str = "") -> Reason:
    hard = (quota.data.get("spec") or {}).get("hard") or {}
    tight = _tight_key(quota, usage)
    return Reason(
        code="quota-exceeded",
        message=f"ResourceQuota {namespace}/{quota.name} limits {tight} to {hard[tight]}, and that is used up",
        fix="raise the quota, or request less",
        claim=claim,
    )
