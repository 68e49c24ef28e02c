"""One resource quota: its limits, the free amounts, and why it denies pods or claims."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from msgspec import Struct

from dra_planner.claims.quota_rollouts import UNBOUNDED
from dra_planner.manifests.parsing.fields import parse_quantity
from dra_planner.manifests.validation.quotas import Usage, covers, unspecified
from dra_planner.model import Reason
from dra_planner.quantity import Quantity
from dra_planner.wording import listed, named, verb

QUOTA_EXCEEDED: Final = "quota-exceeded"
"""The code of the reason that a quota denies pods or claims."""


class NamespaceQuota(Struct):
    """One quota: its limit, and the free amount at each level of demand."""

    data: Mapping[str, Any]
    room: list[dict[str, Quantity]]

    @property
    def name(self) -> str:
        return str((self.data.get("metadata") or {}).get("name"))

    def fits(self, usage: Usage) -> list[int]:
        """Return how many times a usage fits at each level, negative if more is in use than the
        quota allows.
        """
        return [
            min((_times(room[key], usage[key]) for key in room if key in usage), default=UNBOUNDED)
            for room in self.room
        ]

    def charge(self, usage: Usage, times: list[int]) -> None:
        for room, count in zip(self.room, times, strict=True):
            for key in room:
                if key in usage and count:
                    room[key] = room[key] - _multiple(usage[key], count)


def read_room(data: Mapping[str, Any]) -> dict[str, Quantity]:
    """Return the free amount of each resource that a quota limits."""
    hard = (data.get("spec") or {}).get("hard") or {}
    used = (data.get("status") or {}).get("used") or {}
    return {
        key: parse_quantity(value) - parse_quantity(used.get(key, 0)) for key, value in hard.items()
    }


def _times(room: Quantity, amount: Quantity) -> int:
    if amount.sign <= 0:
        return UNBOUNDED
    return room.milli_value // amount.milli_value


def _multiple(amount: Quantity, count: int) -> Quantity:
    return Quantity(amount.unscaled * count, amount.scale, False, amount.suffixes)


def reason_for_unset_fields(
    quotas: Iterable[NamespaceQuota], pod: Mapping[str, Any], namespace: str
) -> Reason | None:
    """Return why pods without a field that a quota counts are rejected, or None if they set all
    such fields.
    """
    reasons = (_for_unset_fields(quota, pod, namespace) for quota in quotas)
    return next(filter(None, reasons), None)


def _for_unset_fields(
    quota: NamespaceQuota, pod: Mapping[str, Any], namespace: str
) -> Reason | None:
    hard = (quota.data.get("spec") or {}).get("hard") or {}
    missing = unspecified(hard, pod) if covers(quota.data, pod) else {}
    if not missing:
        return None
    containers = sorted({name for names in missing.values() for name in names})
    which = named("container", [f'"{name}"' for name in containers])
    return Reason(
        code=QUOTA_EXCEEDED,
        message=f"ResourceQuota {namespace}/{quota.name} limits {listed(missing)}, which {which} "
        f"{verb(len(containers), 'do')}n't set, so the API server rejects the pods",
        fix=f"set {listed(missing)} in {which}, or add a LimitRange with default "
        "values to the namespace",
    )


def _tight_key(quota: NamespaceQuota, usage: Usage) -> str:
    """Return the resource of a quota that runs out first."""
    hard: Mapping[str, Any] = (quota.data.get("spec") or {}).get("hard") or {}
    return min(
        (key for key in hard if key in usage),
        key=lambda key: _times(quota.room[-1][key], usage[key]),
    )


def denial_reason(quota: NamespaceQuota, usage: Usage, namespace: str, claim: str = "") -> Reason:
    """Return why a quota denies a usage: the usage of pods, or of a claim with this key."""
    hard = (quota.data.get("spec") or {}).get("hard") or {}
    tight = _tight_key(quota, usage)
    used = ((quota.data.get("status") or {}).get("used") or {}).get(tight)
    of_others = f", of which {used} is used" if used and str(used) != "0" else ""
    if claim:
        problem = f". The claim needs {usage[tight]}, but less than that remains"
    elif tight == "pods":
        problem = ", which isn't enough for all pods"
    elif tight.startswith("count/"):
        problem = ", which isn't enough for the workload"
    else:
        problem = f", which isn't enough for all pods ({usage[tight]} per pod)"
    return Reason(
        code=QUOTA_EXCEEDED,
        message=f"ResourceQuota {namespace}/{quota.name} limits {tight} to "
        f"{hard[tight]}{of_others}{problem}",
        fix=_without_raise(tight),
        claim=claim,
        exceeded=tight,
    )


def _without_raise(key: str) -> str:
    """Return the fix for a resource that a quota limits, without a larger quota."""
    if key == "pods":
        return "create fewer pods"
    if key.startswith("count/"):
        return "create fewer of these objects"
    is_device = key.endswith("/devices") or key.rpartition("/")[0].startswith("requests.")
    return "request fewer devices" if is_device else "lower the pods' requests and limits"
