"""The devices that claims would get."""

from __future__ import annotations

from msgspec import Struct

from dra_planner.allocation.reasons.shares import Share


class GivenDevice(Struct, frozen=True, kw_only=True):
    """One device that a claim would get.

    For a shared device, also the amounts that the claim would consume, and the rest after all
    claims of the node.
    """

    request: str
    node: str
    driver: str
    pool: str
    device: str
    shares: tuple[Share, ...] = ()


class GivenClaim(Struct, frozen=True, kw_only=True):
    """The devices of one claim. `pod` is the pod for which it was allocated."""

    namespace: str
    name: str
    pod: str
    devices: tuple[GivenDevice, ...]
