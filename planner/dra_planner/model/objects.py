"""Common parts of all Kubernetes objects: name, labels, and source place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from dra_planner.errors import NOWHERE, Place

Amounts = Mapping[str, int]
"""Resource amounts by name: `cpu` in thousandths of a core, everything else in whole units (bytes,
counts).
"""


class ObjectKey(NamedTuple):
    """The name of a namespaced object."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectMeta:
    """Name, labels, and origin of an object. `namespace` is empty for cluster-scoped kinds."""

    name: str
    namespace: str = ""
    labels: Mapping[str, str] = field(default_factory=dict, hash=False)
    annotations: Mapping[str, str] = field(default_factory=dict, hash=False)
    uid: str = ""
    creation_timestamp: str = ""
    place: Place = field(default=NOWHERE, compare=False)

    @property
    def key(self) -> ObjectKey:
        return ObjectKey(self.namespace, self.name)


Operator = Literal["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"]


@dataclass(frozen=True, slots=True)
class Requirement:
    """One expression of a label or node selector."""

    key: str
    operator: Operator
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LabelSelector:
    """A label selector. All requirements must hold, and `matchLabels` is written as `In` with one
    value.
    """

    requirements: tuple[Requirement, ...] = ()


@dataclass(frozen=True, slots=True)
class NodeSelectorTerm:
    """Expressions over labels and fields (`metadata.name`), ANDed; a term without any matches
    nothing.
    """

    match_expressions: tuple[Requirement, ...] = ()
    match_fields: tuple[Requirement, ...] = ()


@dataclass(frozen=True, slots=True)
class NodeSelector:
    """Terms, ORed."""

    terms: tuple[NodeSelectorTerm, ...]
