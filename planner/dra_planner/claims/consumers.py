"""At most 256 pods can hold one claim at the same time: `status.reservedFor` has no more room.

Source: kubernetes/api:resource/v1/types.go@v0.36.3 (ResourceClaimReservedForMaxSize).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from dra_planner.model import Figures, Member, ObjectKey, Reason, ShapeClaim

MAX_CONSUMERS: Final = 256


class ConsumerLimit:
    """Counts the pods that hold each shared claim, in the order in which they are added."""

    def __init__(self) -> None:
        self._room: dict[ObjectKey, list[int]] = {}

    def split(self, member: Member, claims: tuple[ShapeClaim, ...]) -> Iterator[tuple[Member, Reason | None]]:
        """Yield the part of a member that its shared claims have room for, and the rest with the reason."""
        shared = sorted({claim.shared for claim in claims if claim.shared is not None})
        if not shared:
            yield member, None
            return
        rooms = {key: self._room.setdefault(key, [MAX_CONSUMERS] * 4) for key in shared}
        wanted = list(member.figures)
        room = [min(rooms[key][level] for key in shared) for level in range(4)]
        kept = [room[level] if want is None else min(want, room[level]) for level, want in enumerate(wanted)]
        left = [None if want is None else want - kept[level] for level, want in enumerate(wanted)]
        for key in shared:
            rooms[key][:] = [have - taken for have, taken in zip(rooms[key], kept, strict=True)]
        fitting = [None if want is None else have for want, have in zip(wanted, kept, strict=True)]
        yield replace(member, figures=_figures(fitting)), None
        if any(left):
            full = min(shared, key=lambda key: rooms[key])
            yield replace(member, figures=_figures(left)), _reason(full)


def _figures(values: list[int | None]) -> Figures:
    floor, steady, ceiling, peak = values
    return Figures(floor or 0, steady or 0, ceiling, peak)


def _reason(key: ObjectKey) -> Reason:
    return Reason(
        code="claim-consumers-limit",
        message=f"more than {MAX_CONSUMERS} pods share claim {key}; the API server takes no further reservation",
        fix="spread the pods over several claims, or give each its own by resourceClaimTemplateName",
        claim=str(key),
    )
