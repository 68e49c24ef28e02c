"""What takes the place of an extended resource: the request of a claim, and conditions on its devices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Counterpart:
    """The devices of a claim that stand for one unit of an extended resource.

    `conditions` are CEL expressions about one device, all of which must hold. `capacity` is what a request takes of a
    device that several claims share; empty for whole devices. `noun` names the devices in names of claims.
    """

    device_class: str
    conditions: tuple[str, ...] = ()
    capacity: Mapping[str, str] = field(default_factory=dict, hash=False)
    noun: str = "gpu"
    toleration: str = ""  # key of the taint of nodes with these devices, "" if their pools have none

    def request(self, name: str, count: int) -> dict[str, Any]:
        """Return the request of `count` such devices, in API form."""
        exactly: dict[str, Any] = {"deviceClassName": self.device_class}
        if count != 1:
            exactly["count"] = count
        if self.conditions:
            expression = " && ".join(self.conditions)
            exactly["selectors"] = [{"cel": {"expression": expression}}]
        if self.capacity:
            exactly["capacity"] = {"requests": dict(self.capacity)}
        return {"name": name, "exactly": exactly}


@dataclass(frozen=True, slots=True)
class NoCounterpart:
    """Why no claim can stand for an extended resource, and what to do instead, the best first."""

    reason: str
    alternatives: tuple[str, ...] = ()
    stays: bool = False  # it can stay on the device plugin's pool


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeNeeds:
    """What a pod's node selection says about devices, apart from what it says about nodes.

    `conditions` are CEL expressions that devices must meet. `profile` is a partition's profile, `sharing` a strategy
    (`time-slicing` or `mps`) if the labels demand shared devices, with `clients` per device (0 if unknown).
    """

    conditions: tuple[str, ...] = ()
    profile: str = ""
    sharing: str = ""
    clients: int = 0
    notes: tuple[str, ...] = ()
