"""Changes to a constraint that keep its purpose: one constraint for each group of devices, or
another attribute.
"""

from __future__ import annotations

from msgspec.structs import replace

from dra_planner.model import ClaimSpec, DeviceRequest
from dra_planner.wording import listed

_MOST_REQUESTS = 32  # maximum number of requests in a claim


def pairs_of(spec: ClaimSpec, index: int) -> tuple[int, tuple[str, ...]] | None:
    """Return the number of devices per request in one constraint, and the names of the requests.

    Returns None unless there are several requests for the same number of devices (at least two).
    """
    constraint = spec.constraints[index]
    tied = [
        each
        for each in spec.requests
        if not constraint.requests or each.name in constraint.requests
    ]
    ways = [each.exactly for each in tied]
    counts = {way.count for way in ways if way is not None and way.allocation_mode == "ExactCount"}
    if not constraint.match_attribute or len(tied) < 2 or None in ways or len(counts) != 1:
        return None
    (count,) = counts
    whole = len(spec.requests) + len(tied) * (count - 1) <= _MOST_REQUESTS
    return (count, tuple(each.name for each in tied)) if count > 1 and whole else None


def pairs_text(claim: str, spec: ClaimSpec, index: int) -> str:
    """Return `constrain_pairs` as an imperative, or "" if it doesn't apply to the constraint."""
    pairs = pairs_of(spec, index)
    if pairs is None:
        return ""
    count, names = pairs
    return (
        f"split each of the requests {listed(names)} in claim {claim} into {count} requests for "
        f"one device each, and add a matchAttribute constraint on "
        f"{spec.constraints[index].match_attribute} for each group of split requests"
    )


def constrain_pairs(spec: ClaimSpec, index: int) -> ClaimSpec:
    """Return the claim with one request for each device, and one constraint for each
    group of them.
    """
    pairs = pairs_of(spec, index)
    assert pairs is not None  # this edit is derived from it
    count, names = pairs
    parts = {name: tuple(f"{name}-{number}" for number in range(count)) for name in names}
    requests: list[DeviceRequest] = []
    for each in spec.requests:
        if each.exactly is None or each.name not in parts:
            requests.append(each)
            continue
        requests += [
            replace(each, name=part, exactly=replace(each.exactly, count=1))
            for part in parts[each.name]
        ]
    own = spec.constraints[index]
    groups = tuple(
        replace(own, requests=tuple(parts[name][number] for name in names))
        for number in range(count)
    )

    def renamed(listed: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(part for name in listed for part in parts.get(name, (name,)))

    others = tuple(
        replace(each, requests=renamed(each.requests))
        for position, each in enumerate(spec.constraints)
        if position != index
    )
    config = tuple(replace(each, requests=renamed(each.requests)) for each in spec.config)
    return replace(spec, requests=tuple(requests), constraints=(*groups, *others), config=config)


def instead_text(instead: str, name: str, claim: str) -> str:
    """Return the change to a constraint that compares another attribute."""
    return f"use {instead} instead of {name} in the constraint of claim {claim}"
