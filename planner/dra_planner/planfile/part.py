"""The base of a plan file's parts: closed mappings with camelCase keys, without coercion."""

from __future__ import annotations

from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

Item = TypeVar("Item")
Rows = Annotated[tuple[Item, ...], Field(strict=False)]
"""A list, stored as a tuple."""


class PlanFilePart(BaseModel):
    """A mapping of the document."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        extra="forbid",
        frozen=True,
        strict=True,
        populate_by_name=True,
        defer_build=True,
    )
