"""Raise ResourceQuotas as far as the workloads in manifests need."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.manifests import Manifests
from dra_planner.manifests.parsing.fields import parse_quantity
from dra_planner.model import Blocked, Demand, ObjectKey
from dra_planner.quantity import Quantity
from dra_planner.wording import listed

_UNLIMITED: Final = 10**15
"""A limit that no manifest reaches, whose thousandths fit in 64 bits."""


class RaisedQuota(Struct, frozen=True):
    """The lowest limit of a quota's resource with which all pods are created."""

    quota: ObjectKey
    resource: str
    limit: str

    @property
    def step(self) -> str:
        """The raise as an imperative."""
        limited = "the pod limit" if self.resource == "pods" else self.resource
        return f"raise {limited} in ResourceQuota {self.quota} to {self.limit}"


def without_limits(manifests: Manifests) -> Manifests:
    """Return manifests whose quotas count the same resources, but don't limit them."""
    unlimited = str(_UNLIMITED)
    return replace(
        manifests,
        quotas=tuple(
            {**data, "spec": {**data["spec"], "hard": dict.fromkeys(_hard(data), unlimited)}}
            for data in manifests.quotas
            if _hard(data)
        ),
    )


def find_raised_quotas(manifests: Manifests, unlimited: Demand) -> tuple[RaisedQuota, ...]:
    """Return the limits that are too low for a demand at any level. `unlimited` is the demand
    `without_limits`.
    """
    if unlimited.quotas is None:
        return ()
    raised = []
    for data in manifests.quotas:
        key = _key(data)
        for resource, text in _hard(data).items():
            now = parse_quantity(text)
            left = unlimited.quotas.least_left[key, resource]
            needed = _at_least(_UNLIMITED * 1000 - left, now)
            if needed > now:
                raised.append(RaisedQuota(key, resource, str(needed)))
    return tuple(raised)


def with_quota_fixes(demand: Demand, raised: tuple[RaisedQuota, ...], unlimited: Demand) -> Demand:
    """Return a demand whose fixes for quotas name the limits with which all pods are created.

    Pods that quotas deny for another reason, such as missing requests, keep their fix.
    """
    grows = grows_beyond_declared(unlimited)
    return replace(demand, blocked=tuple(_with_fix(each, raised, grows) for each in demand.blocked))


def grows_beyond_declared(demand: Demand) -> bool:
    """Return whether autoscalers or rollouts add pods, for which quotas are also raised."""
    return any(shape.figures.peak != shape.figures.steady for shape in demand.shapes)


def _with_fix(blocked: Blocked, raised: tuple[RaisedQuota, ...], grows: bool) -> Blocked:
    reason, namespace = blocked.reason, blocked.member.workload.namespace
    steps = [each.step for each in raised if each.quota.namespace == namespace]
    if not reason.exceeded or not steps:
        return blocked
    raises = f"{listed(steps)}{' (for peak demand)' if grows else ''}"
    return replace(blocked, reason=replace(reason, fix=f"{raises}, or {reason.fix}"))


def with_raised_quotas(manifests: Manifests, raised: tuple[RaisedQuota, ...]) -> Manifests:
    """Return the manifests with these quota limits."""
    limits: dict[ObjectKey, dict[str, str]] = {}
    for each in raised:
        limits.setdefault(each.quota, {})[each.resource] = each.limit
    return replace(
        manifests,
        quotas=tuple(
            {**data, "spec": {**data["spec"], "hard": {**_hard(data), **limits[_key(data)]}}}
            if _key(data) in limits
            else data
            for data in manifests.quotas
        ),
    )


def _at_least(milli: int, now: Quantity) -> Quantity:
    """Return a quantity of these thousandths, written like the current limit."""
    if milli % 1000:
        return Quantity(milli, -3, suffixes=now.suffixes)
    return Quantity(milli // 1000, suffixes=now.suffixes)


def _key(data: Mapping[str, Any]) -> ObjectKey:
    meta = data.get("metadata") or {}
    return ObjectKey(str(meta.get("namespace") or "default"), str(meta.get("name")))


def _hard(data: Mapping[str, Any]) -> Mapping[str, object]:
    return (data.get("spec") or {}).get("hard") or {}
