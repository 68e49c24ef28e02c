"""The variables that an expression can read, and the fields of their object types."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from dra_planner.cel.types import CelType


class VariableTypes(Struct, frozen=True):
    """Types of variables by name, and types of each object type's fields by the object type's
    name.
    """

    variables: Mapping[str, CelType]
    objects: Mapping[str, Mapping[str, CelType]]
