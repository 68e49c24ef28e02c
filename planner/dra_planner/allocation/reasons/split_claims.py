"""One claim for more devices than a claim can have, split into several claims."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from dra_planner.allocation.search.requests import MAX_DEVICES
from dra_planner.model import ClaimSpec, DeviceRequest, ExactDeviceRequest

_MOST_CLAIMS: Final = 16  # no node has the devices of more claims, and counts have no upper limit


def split_text(claim: str, spec: ClaimSpec) -> str:
    """Return `split_claim` as an imperative, or "" if it doesn't apply to the claim."""
    if len(split_claim(spec)) == 1:
        return ""
    return f"split claim {claim} into several claims, because a claim can have at most {MAX_DEVICES} devices"


def split_claim(spec: ClaimSpec) -> tuple[ClaimSpec, ...]:
    """Return claims that request the same devices, with at most `MAX_DEVICES` devices each.

    Returns the claim itself if it's small enough or too large for any node, if a constraint or an
    alternative ties its requests together, or if a request is for all devices.
    """
    ways = [(request.name, request.exactly) for request in spec.requests]
    counted = [(name, way) for name, way in ways if way is not None and _has_count(way)]
    total = sum(way.count for _, way in counted)
    fits_claims = MAX_DEVICES < total <= MAX_DEVICES * _MOST_CLAIMS
    if not fits_claims or len(counted) < len(ways) or spec.constraints:
        return (spec,)
    claims: list[list[DeviceRequest]] = []
    room = 0
    for request in (part for name, way in counted for part in _parts(name, way)):
        assert request.exactly is not None  # `_parts` sets it
        if request.exactly.count > room:
            claims.append([])
            room = MAX_DEVICES
        claims[-1].append(request)
        room -= request.exactly.count
    return tuple(replace(spec, requests=tuple(requests)) for requests in claims)


def _has_count(way: ExactDeviceRequest) -> bool:
    return way.allocation_mode == "ExactCount"


def _parts(name: str, way: ExactDeviceRequest) -> Iterator[DeviceRequest]:
    left = way.count
    while left > 0:
        count = min(left, MAX_DEVICES)
        yield DeviceRequest(name=name, exactly=replace(way, count=count))
        left -= count
