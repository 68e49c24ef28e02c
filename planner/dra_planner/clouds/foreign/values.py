"""Taints in the spellings of other tools."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal

from dra_planner.documents.plain_values import text
from dra_planner.model import Taint

Effect = Literal["NoSchedule", "PreferNoSchedule", "NoExecute"]
_EFFECTS: Final[Mapping[str, Effect]] = {
    "noschedule": "NoSchedule",
    "prefernoschedule": "PreferNoSchedule",
    "noexecute": "NoExecute",
}


def _effect(written: Any) -> Effect | None:
    """Return an effect in any tool's spelling: NoSchedule, NO_SCHEDULE, or no-schedule."""
    return _EFFECTS.get(text(written).replace("-", "").replace("_", "").lower())


def taints(items: Iterable[Mapping[str, Any]]) -> tuple[Taint, ...]:
    """Return taints that are written as mappings of key, value, and effect, the effect in any
    tool's spelling.
    """
    found = []
    for item in items:
        effect = _effect(item.get("effect"))
        if effect and text(item.get("key")):
            found.append(Taint(key=item["key"], value=text(item.get("value")), effect=effect))
    return tuple(found)


def taint_of_text(written: str) -> Taint | None:
    """Return the taint `key=value:Effect`; None for other text."""
    head, colon, effect = written.rpartition(":")
    key, _, value = head.partition("=")
    known = _effect(effect)
    return Taint(key=key, value=value, effect=known) if colon and known and key else None
