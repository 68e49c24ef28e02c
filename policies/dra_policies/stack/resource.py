"""A resource of a stack: what it declares, and which other resources its properties come from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from dra_policies.unknowns import UNKNOWN, Properties

NAMESPACE = "kubernetes:core/v1:Namespace"
_API_DATE: Final = re.compile(r"_[a-z]+_v\d{8}[a-z]*(?=:|$)|/v\d{8}[a-z]*(?=:)")
"""The API version by date in types of programs that choose one: `:containerservice/v20240901:` and,
from a local package, `_containerservice_v20250801:containerservice/v20250801:`.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """One resource. `sources` says for each property whose outputs it was made from; known for
    whole stacks only. Its type is kept without the date of an API version.

    `provider` is the URN of its provider; `depends_on` are the resources that are made before it,
    of whole stacks only.
    """

    urn: str
    type: str
    name: str
    props: Properties
    ignore_changes: tuple[str, ...] = ()
    sources: Mapping[str, tuple[str, ...]] = field(
        default_factory=dict[str, tuple[str, ...]], hash=False
    )
    provider: str = ""
    depends_on: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "type", _API_DATE.sub("", self.type))

    def title(self, kind: str) -> str:
        """Return how the resource is called in a sentence."""
        return f'{kind} "{self.name}"'

    def ignores(self, path: str) -> bool:
        """Return whether changes of that property are ignored."""
        return any(
            path == ignored or path.startswith(f"{ignored}.") for ignored in self.ignore_changes
        )


def source_of(
    resource: Resource, path: str, type_token: str, among: Iterable[Resource]
) -> Resource | None:
    """Return the one resource of that type whose outputs a property was made from; None when it is
    not one.
    """
    urns = {
        urn
        for key, sources in resource.sources.items()
        if key == path or key.startswith((f"{path}.", f"{path}["))
        for urn in sources
    }
    found = [other for other in among if other.urn in urns and other.type == type_token]
    return found[0] if len(found) == 1 else None


def namespace_of(resource: Resource, path: str, others: Iterable[Resource]) -> str | None:
    """Return the namespace that a property names; None when it is not known.

    Where it comes from a Namespace of the same stack it has that one's name, also before the
    Namespace exists; a name that is unknown yet is stood for by the Namespace's URN, so that
    objects of one namespace still are of one.
    """
    if resource.props.at(path) is not UNKNOWN:
        return resource.props.text(path, "default")
    namespace = source_of(resource, path.partition(".")[0], NAMESPACE, others)
    if namespace is None:
        return None
    return namespace.props.text("metadata.name") or namespace.urn
