"""The devices that claims would get."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenDevice:
    """One device that a claim would get."""

    request: str
    node: str
    driver: str
    pool: str
    device: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenClaim:
    """The devices of one claim. `pod` is the pod for which it was allocated."""

    namespace: str
    name: str
    pod: str
    devices: tuple[GivenDevice, ...]
