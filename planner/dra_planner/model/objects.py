"""Common parts of all Kubernetes objects: name, labels, and source place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from msgspec import Struct

from dra_planner.errors import NOWHERE, Place
from dra_planner.records import equality

Amounts = Mapping[str, int]
"""Resource amounts by name: `cpu` in thousandths of a core, and other resources in whole units
(bytes, counts).
"""


class ObjectKey(NamedTuple):
    """The name of a namespaced object."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


@equality(ignored=("place",), unhashed=("labels", "annotations"))
class ObjectMeta(Struct, frozen=True, kw_only=True):
    """Name, labels, and origin of an object. `namespace` is empty for cluster-scoped kinds."""

    name: str
    namespace: str = ""
    labels: Mapping[str, str] = {}
    annotations: Mapping[str, str] = {}
    uid: str = ""
    creation_timestamp: str = ""
    place: Place = NOWHERE

    @property
    def key(self) -> ObjectKey:
        return ObjectKey(self.namespace, self.name)


Operator = Literal["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"]


class Requirement(Struct, frozen=True):
    """One expression of a label or node selector."""

    key: str
    operator: Operator
    values: tuple[str, ...] = ()


class LabelSelector(Struct, frozen=True):
    """A label selector.

    All requirements must be met, and `matchLabels` is written as `In` with one value.
    """

    requirements: tuple[Requirement, ...] = ()


class NodeSelectorTerm(Struct, frozen=True):
    """Expressions over labels and fields (`metadata.name`), joined with AND. A term without
    expressions doesn't match any node.
    """

    match_expressions: tuple[Requirement, ...] = ()
    match_fields: tuple[Requirement, ...] = ()


class NodeSelector(Struct, frozen=True):
    """Terms that are joined with OR."""

    terms: tuple[NodeSelectorTerm, ...]

    @property
    def named_nodes(self) -> frozenset[str]:
        """The nodes that the terms name with their field `metadata.name`."""
        return frozenset(
            name for term in self.terms for each in term.match_fields for name in each.values
        )
