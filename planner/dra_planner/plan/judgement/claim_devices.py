"""The devices that claims would get."""

from __future__ import annotations

from msgspec import Struct


class GivenDevice(Struct, frozen=True, kw_only=True):
    """One device that a claim would get."""

    request: str
    node: str
    driver: str
    pool: str
    device: str


class GivenClaim(Struct, frozen=True, kw_only=True):
    """The devices of one claim. `pod` is the pod for which it was allocated."""

    namespace: str
    name: str
    pod: str
    devices: tuple[GivenDevice, ...]
