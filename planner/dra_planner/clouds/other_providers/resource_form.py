"""Convert resources of other Pulumi providers to the names that a cloud's own provider uses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

KEEP = ""
"""Path of a property whose parts move to the enclosing structure."""


def unchanged(values: dict[str, Any]) -> dict[str, Any]:
    """Return the values unchanged, for types of which only the names differ."""
    return values


class ResourceForm(Struct, frozen=True, kw_only=True):
    """A resource type of another provider, and the equivalent type `becomes` of the cloud's own
    provider. `names` has the dotted path of each property with a different name. `parts` renames
    keys of the structures below properties, by the property's name in the other provider.
    `finish` converts the renamed values whose form differs. `names_of_pools` is the property
    that contains a pool of nodes, which messages leave out.
    """

    token: str
    becomes: str
    names: Mapping[str, str] = {}
    parts: Mapping[str, Mapping[str, str]] = {}
    names_of_pools: str = ""
    finish: Callable[[dict[str, Any]], dict[str, Any]] = unchanged
