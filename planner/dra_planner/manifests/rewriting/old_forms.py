"""An object in an older form, and the notes about its conversion."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from dra_planner.errors import Place
from dra_planner.manifests.rewriting import spans

GROUP: Final = "resource.k8s.io"
V1: Final = f"{GROUP}/v1"


class NotConvertible(Exception):
    """An object that can't be converted to v1 without changing its meaning. Contains the reason,
    and how to write it by hand.
    """

    def __init__(self, reason: str, example: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.example = example


class Old(Struct):
    """One object of a document: its data, its text, and notes about its conversion."""

    place: Place
    api_version: str
    kind: str
    data: Mapping[str, Any]
    node: spans.Mapping
    notes: list[str] = []

    @property
    def group(self) -> str:
        return self.api_version.rpartition("/")[0]

    @property
    def version(self) -> str:
        return self.api_version.rpartition("/")[2]

    @property
    def name(self) -> str:
        metadata = section(self.data, "metadata")
        return str(metadata.get("name") or metadata.get("generateName") or "")

    @property
    def namespace(self) -> str:
        return str(section(self.data, "metadata").get("namespace") or "default")

    def __str__(self) -> str:
        return f"{self.kind} {self.name}".strip()


def section(data: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """Return the mapping below a key, or an empty one."""
    found = data.get(key)
    return found if isinstance(found, Mapping) else {}


def members(data: Mapping[str, Any], key: str) -> Iterator[Mapping[str, Any]]:
    """Yield the mappings in the list below a key."""
    found = data.get(key)
    for item in found if isinstance(found, list) else ():
        if isinstance(item, Mapping):
            yield item


def refuse_unknown(data: Mapping[str, Any], known: frozenset[str], where: str) -> None:
    """Raise NotConvertible for unknown fields, because the conversion would lose them."""
    unknown = sorted(set(data) - known)
    if unknown:
        raise NotConvertible(f"{where} has unknown fields: {', '.join(unknown)}")
