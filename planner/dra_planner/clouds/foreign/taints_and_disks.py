"""Taints in the spellings of other tools, and disks of launch templates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal

from msgspec import Struct

from dra_planner.documents.plain_values import block, blocks, number, text
from dra_planner.model import Taint

Effect = Literal["NoSchedule", "PreferNoSchedule", "NoExecute"]
_EFFECTS: Final[Mapping[str, Effect]] = {
    "noschedule": "NoSchedule",
    "prefernoschedule": "PreferNoSchedule",
    "noexecute": "NoExecute",
}

_ROOTS: Final = ("/dev/xvda", "/dev/sda1")
"""Root devices of Amazon Linux and Ubuntu."""


def _effect(written: Any) -> Effect | None:
    """Return the effect for any tool's spelling: NoSchedule, NO_SCHEDULE, or no-schedule."""
    return _EFFECTS.get(text(written).replace("-", "").replace("_", "").lower())


class ReadTaints(Struct, frozen=True):
    """Taints of a pool, and taints without a key or a known effect, unchanged."""

    known: tuple[Taint, ...] = ()
    unread: tuple[str, ...] = ()


def taints(items: Iterable[Any]) -> ReadTaints:
    """Return taints that are written as mappings of key, value, and effect, or as text
    `key=value:Effect`. The effect can have any tool's spelling.
    """
    known, unread = [], []
    for item in items:
        if isinstance(item, str):
            found, written = _taint_of_text(item), item
        else:
            found, written = _taint_of_block(item)
        if found:
            known.append(found)
        else:
            unread.append(written)
    return ReadTaints(tuple(known), tuple(unread))


def _taint_of_block(item: Any) -> tuple[Taint | None, str]:
    """Return the taint of a mapping (if it's valid), and the taint's text."""
    if not isinstance(item, Mapping):
        return None, str(item)
    key, value, effect = (item.get(name) for name in ("key", "value", "effect"))
    head = f"{key}={value}" if value else str(key)
    known = _effect(effect)
    if not known or not text(key) or not isinstance(value, str | None):
        return None, f"{head}:{effect}"
    return Taint(key=text(key), value=value or "", effect=known), ""


def _taint_of_text(written: str) -> Taint | None:
    """Return the taint in `key=value:Effect`, or None for other text."""
    head, colon, effect = written.rpartition(":")
    key, _, value = head.partition("=")
    known = _effect(effect)
    return Taint(key=key, value=value, effect=known) if colon and known and key else None


def root_disk_gib(template: Mapping[str, Any]) -> int | None:
    """Return the size of an EC2 launch template's root volume in GiB, or None if it isn't set."""
    rows = blocks(template, "block_device_mappings")
    roots = [each for each in rows if each.get("device_name") in _ROOTS] or rows
    return number(block(roots[0], "ebs").get("volume_size")) if len(roots) == 1 else None
