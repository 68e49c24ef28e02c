"""A resource of a stack: its properties, and the resources that they come from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from msgspec import Struct
from msgspec.structs import force_setattr

from dra_planner.records import equality
from dra_policies.unknown_values import UNKNOWN, Properties

NAMESPACE = "kubernetes:core/v1:Namespace"
_API_DATE: Final = re.compile(r"_[a-z]+_v\d{8}[a-z]*(?=:|$)|/v\d{8}[a-z]*(?=:)")
"""The date of an API version in types of programs that choose one: `:containerservice/v20240901:`
and, from a local package, `_containerservice_v20250801:containerservice/v20250801:`.
"""


@equality(unhashed=("sources",))
class Resource(Struct, frozen=True, kw_only=True):
    """One resource.

    `sources` maps each property to the resources whose outputs it uses, known only for whole
    stacks. Its type doesn't contain the date of an API version. `provider` is the URN of its
    provider. `depends_on` are the resources that are created before it, only for whole stacks.
    `of_outputs` are the properties that the program doesn't set.
    """

    urn: str
    type: str
    name: str
    props: Properties
    ignore_changes: tuple[str, ...] = ()
    sources: Mapping[str, tuple[str, ...]] = {}
    provider: str = ""
    depends_on: tuple[str, ...] = ()
    of_outputs: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        force_setattr(self, "type", _API_DATE.sub("", self.type))

    def title(self, kind: str) -> str:
        """The name of the resource in a sentence."""
        return f'{kind} "{self.name}"'

    def ignores(self, path: str) -> bool:
        """Return whether changes of that property are ignored."""
        return any(
            path == ignored or path.startswith(f"{ignored}.") for ignored in self.ignore_changes
        )


def source_of(
    resource: Resource, path: str, type_token: str, among: Iterable[Resource]
) -> Resource | None:
    """Return the only resource of that type whose outputs a property uses, or None."""
    urns = {
        urn
        for key, sources in resource.sources.items()
        if key == path or key.startswith((f"{path}.", f"{path}["))
        for urn in sources
    }
    found = [other for other in among if other.urn in urns and other.type == type_token]
    return found[0] if len(found) == 1 else None


def namespace_of(resource: Resource, path: str, others: Iterable[Resource]) -> str | None:
    """Return the namespace in a property, or None if it isn't known.

    If it comes from a Namespace of the same stack, the result is its name, even before the
    Namespace exists. The Namespace's URN replaces an unknown name, so that objects in the same
    namespace stay together.
    """
    if resource.props.at(path) is not UNKNOWN:
        return resource.props.text(path, "default")
    namespace = source_of(resource, path.partition(".")[0], NAMESPACE, others)
    if namespace is None:
        return None
    return namespace.props.text("metadata.name") or namespace.urn
