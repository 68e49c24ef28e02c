"""Rollouts that continue only as far as a quota allows."""

from __future__ import annotations

from msgspec.structs import replace

from dra_planner.model import (
    Member,
    Rollout,
)

UNBOUNDED = 2**62


def roll_out(member: Member, rollout: Rollout, room: int) -> tuple[Member, int, bool]:
    """Return a member whose rollout continues as far as the quota allows, the number of missing
    pods, and whether the rollout replaces pods.
    """
    # A StatefulSet doesn't replace pods until all its replicas exist.
    if member.workload.kind == "StatefulSet" and room + member.charged < member.figures.steady:
        return replace(member, rollout=rollout._replace(kept=UNBOUNDED)), 0, False
    member, missing = _as_far_as(member, rollout, room)
    return member, missing, not missing


def _as_far_as(member: Member, rollout: Rollout, room: int) -> tuple[Member, int]:
    """Return a member whose rollout adds at most as many pods at a time as the quota allows, and
    the number of missing pods.

    A rollout without surge and unavailable pods keeps the running pods.
    """
    if room >= rollout.surge:
        return member, 0
    if room or rollout.unavailable:
        return replace(member, rollout=rollout._replace(surge=room)), 0
    return replace(
        member, rollout=rollout._replace(surge=0, kept=len(member.running))
    ), rollout.surge


def short_of(member: Member, rollout: Rollout, wanted: int, most: int) -> Member:
    """Return a member whose rollout counts its unavailable pods, including pods that quotas never
    admit.

    `wanted` is the number of all its pods, and `most` is the number that quotas allow in addition
    to running pods.
    """
    missing = wanted - member.figures.steady
    if missing <= 0:
        return member
    surge = max(0, most - member.figures.steady)
    return replace(
        member, rollout=rollout._replace(surge=surge, unavailable=rollout.unavailable - missing)
    )
