"""At most 256 pods can use one claim at the same time, because `status.reservedFor` is limited.

Source: kubernetes/api:resource/v1/types.go@v0.36.3 (ResourceClaimReservedForMaxSize).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from dra_planner.model import Figures, Member, ObjectKey, Reason, ShapeClaim

MAX_CONSUMERS: Final = 256


class ConsumerLimit:
    """Counts the pods of each shared claim, in the order in which they are added."""

    def __init__(self, unlimited: frozenset[ObjectKey] = frozenset()) -> None:
        """Create the counter.

        `unlimited` are claims that are reserved for a whole group of pods at once.
        """
        self._unlimited = unlimited
        self._room: dict[ObjectKey, list[int]] = {}

    def split(
        self, member: Member, claims: tuple[ShapeClaim, ...]
    ) -> Iterator[tuple[Member, Reason | None]]:
        """Yield the part of a member that its shared claims allow, and the remaining part with the
        reason.
        """
        shared = sorted(
            {claim.shared for claim in claims if claim.shared is not None} - self._unlimited
        )
        if not shared:
            yield member, None
            return
        rooms = {key: self._room.setdefault(key, [MAX_CONSUMERS] * 4) for key in shared}
        kept, left = take(member, [min(rooms[key][level] for key in shared) for level in range(4)])
        for key in shared:
            taken = [
                pods if pods is not None else rooms[key][level]
                for level, pods in enumerate(kept.figures)
            ]
            rooms[key][:] = [have - pods for have, pods in zip(rooms[key], taken, strict=True)]
        yield kept, None
        if left is not None:
            yield left, _reason(min(shared, key=lambda key: rooms[key]))


def take(member: Member, room: Sequence[int]) -> tuple[Member, Member | None]:
    """Return the allowed part of a member at each demand level, and the remaining part.

    The allowed part is None if no pod is allowed.
    """
    wanted = list(member.figures)
    kept = [None if want is None else min(want, room[level]) for level, want in enumerate(wanted)]
    left = [
        None if want is None else want - (kept[level] or 0) for level, want in enumerate(wanted)
    ]
    rest = replace(member, figures=_figures(left)) if any(left) else None
    return replace(member, figures=_figures(kept)), rest


def _figures(values: list[int | None]) -> Figures:
    floor, steady, ceiling, peak = values
    return Figures(floor or 0, steady or 0, ceiling, peak)


def _reason(key: ObjectKey) -> Reason:
    return Reason(
        code="claim-consumers-limit",
        message=f"more than {MAX_CONSUMERS} pods share claim {key}, so the API server rejects "
        "further reservations",
        fix="spread the pods over several claims, or use resourceClaimTemplateName so that "
        "each pod has its own claim",
        claim=str(key),
    )
