"""The base of every mapping in `pulumi-dra.yaml`."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


def _is_not_empty(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be empty")
    return text


NonEmpty = Annotated[str, AfterValidator(_is_not_empty)]


class ConfigurationPart(BaseModel):
    """A mapping of the document. Unknown keys are errors, and values aren't coerced."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        extra="forbid",
        frozen=True,
        strict=True,
        populate_by_name=True,
        defer_build=True,
    )
