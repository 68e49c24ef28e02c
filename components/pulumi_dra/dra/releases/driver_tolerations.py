"""Taints that a DRA driver's pods tolerate, in addition to the common taint of GPU nodes."""

# No `from __future__ import annotations` in component modules: Pulumi's schema analyzer reads the
# annotations.
from collections.abc import Mapping
from typing import Any, NotRequired, TypedDict

from pulumi_dra.inputs.reader import InputReader

EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")


class DriverToleration(TypedDict):
    """A taint that a driver's pods tolerate."""

    key: str
    """Key of the taint."""
    value: NotRequired[str]
    """Value of the taint. Default: any."""
    effect: NotRequired[str]
    """NoSchedule, PreferNoSchedule, or NoExecute. Default: any."""


def read_tolerations(read: InputReader) -> list[dict[str, str]]:
    """Return `tolerations` in API form. Errors are recorded in `read`."""
    return [
        _read_toleration(read, index, item) for index, item in enumerate(read.blocks("tolerations"))
    ]


def _read_toleration(outer: InputReader, index: int, item: Mapping[str, Any]) -> dict[str, str]:
    read = outer.inside(f"tolerations[{index}]", item, DriverToleration)
    key, value = read.text("key"), read.text("value", "")
    toleration = {"key": key, "operator": "Equal" if value else "Exists"}
    if value:
        toleration["value"] = value
    if read.has("effect"):
        toleration["effect"] = read.choice("effect", EFFECTS, "NoSchedule")
    return toleration
