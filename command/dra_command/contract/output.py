"""Base model of all JSON answers and of the rows in them."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

VerdictText = Literal["fits", "does-not-fit", "cannot-tell"]


class Output(BaseModel):
    """Part of an answer. Instances are immutable, and every field is always written."""

    model_config = ConfigDict(frozen=True, json_schema_serialization_defaults_required=True)
