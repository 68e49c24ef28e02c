"""Values in the plain data of other tools: lists that stand for one block, numbers as text, unknowns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, cast

from dra_planner.model import Taint

Effect = Literal["NoSchedule", "PreferNoSchedule", "NoExecute"]
_EFFECTS = {
    "NO_SCHEDULE": "NoSchedule",
    "PREFER_NO_SCHEDULE": "PreferNoSchedule",
    "NO_EXECUTE": "NoExecute",
    "NoSchedule": "NoSchedule",
    "PreferNoSchedule": "PreferNoSchedule",
    "NoExecute": "NoExecute",
}


def block(data: Any, key: str) -> Mapping[str, Any]:
    """Return the block below a key, also if it's written as a list of one; empty if there is none."""
    found = data.get(key) if isinstance(data, Mapping) else None
    if isinstance(found, list):
        found = found[0] if found else None
    return found if isinstance(found, Mapping) else {}


def blocks(data: Any, key: str) -> list[Mapping[str, Any]]:
    """Return the blocks below a key."""
    found = data.get(key) if isinstance(data, Mapping) else None
    return [each for each in found if isinstance(each, Mapping)] if isinstance(found, list) else []


def number(value: Any) -> int | None:
    """Return an integer, also if it's text; None if the value is none."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return int(value) if isinstance(value, int) or (isinstance(value, str) and value.strip().isdigit()) else None


def text(value: Any) -> str:
    """Return text; "" for a value that is none or unknown."""
    return value if isinstance(value, str) else ""


def texts(value: Any) -> tuple[str, ...]:
    """Return the texts of a list."""
    return tuple(each for each in value if isinstance(each, str)) if isinstance(value, list) else ()


def labels(value: Any) -> dict[str, str]:
    """Return labels; values that aren't text are written as Kubernetes would read them."""
    if not isinstance(value, Mapping):
        return {}
    return {str(key): str(each).lower() if isinstance(each, bool) else str(each) for key, each in value.items()}


def taints(items: Iterable[Mapping[str, Any]]) -> tuple[Taint, ...]:
    """Return taints that are written as mappings of key, value, and effect, the effect in any tool's spelling."""
    found = []
    for item in items:
        effect = _EFFECTS.get(text(item.get("effect")))
        if effect and text(item.get("key")):
            found.append(Taint(key=item["key"], value=text(item.get("value")), effect=cast(Effect, effect)))
    return tuple(found)


def taint_of_text(written: str) -> Taint | None:
    """Return the taint `key=value:Effect`; None for other text."""
    head, colon, effect = written.rpartition(":")
    key, _, value = head.partition("=")
    known = _EFFECTS.get(effect)
    return Taint(key=key, value=value, effect=cast(Effect, known)) if colon and known and key else None
