"""The amounts that a claim consumes of shared devices, in words."""

from __future__ import annotations

from dra_planner.allocation.reasons.shares import Share


def share_sentence(share: Share) -> str:
    """Return the requested, consumed, and free amounts of one capacity of a device."""
    if share.requested is None:
        requested = f"{share.capacity}: not requested, so the device's request policy sets it; "
    elif share.is_rounded:
        requested = (
            f"{share.capacity}: requests {share.requested}, rounded up by the device's request "
            "policy; "
        )
    else:
        requested = f"{share.capacity}: requests {share.requested}; "
    return f"{requested}consumes {share.consumed} of {share.total}, {share.left} left on {share.device}"


def share_cells(shares: tuple[Share, ...], heading: str) -> tuple[str, str]:
    """Return the consumed and the free amounts of a device as two table cells, along with requests
    that the device's policy rounded up. `heading` is the capacity in the table's heading, or "".
    """
    consumed = [
        f"{each.consumed} of {each.total}"
        + ("" if each.capacity == heading else f" {each.capacity}")
        + (f" (requests {each.requested})" if each.is_rounded else "")
        for each in shares
    ]
    free = [f"{each.left}{f' {each.capacity}' if not heading else ''}" for each in shares]
    return ", ".join(consumed), ", ".join(free)
