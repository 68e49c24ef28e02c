"""The variables that an expression can read, and the fields of their object types."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dra_planner.cel.types import CelType


@dataclass(frozen=True, slots=True)
class VariableTypes:
    """Types of variables by name, and of the fields of each object type by the type's name."""

    variables: Mapping[str, CelType]
    objects: Mapping[str, Mapping[str, CelType]]
