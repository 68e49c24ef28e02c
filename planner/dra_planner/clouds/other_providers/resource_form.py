"""Resources of other Pulumi providers, and the names that a cloud's own provider gives them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

KEEP = ""
"""Path of a property whose parts move to the structure that contains it."""


def unchanged(values: dict[str, Any]) -> dict[str, Any]:
    """Return values that need no conversion except for their names."""
    return values


class ResourceForm(Struct, frozen=True, kw_only=True):
    """A resource type of another provider, and the type `becomes` that declares the same.

    `names` has the dotted path of each property that has another name. `parts` renames keys of the
    structures below properties, by the property's name there. `finish` changes the renamed values
    whose form differs. `names_of_pools` is the property with a pool of nodes, which messages name
    without it.
    """

    token: str
    becomes: str
    names: Mapping[str, str] = {}
    parts: Mapping[str, Mapping[str, str]] = {}
    names_of_pools: str = ""
    finish: Callable[[dict[str, Any]], dict[str, Any]] = unchanged
