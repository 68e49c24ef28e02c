"""The document `pulumi-dra.yaml`: levels, thresholds, what is left out, exemptions."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

ConfiguredLevel = Literal["mandatory", "advisory", "disabled", "remediate"]


def date_of(text: str) -> date:
    """Return the day that a text names; raises ValueError with a sentence where it names none."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise ValueError(f'"{text}" is not a date; write 2027-01-31') from None


def _is_date(text: str) -> str:
    date_of(text)
    return text


def _is_said(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be empty")
    return text


Said = Annotated[str, AfterValidator(_is_said)]


class ConfigurationPart(BaseModel):
    """A mapping of the document: unknown keys are errors, values are not coerced."""

    model_config = ConfigDict(
        alias_generator=to_camel, extra="forbid", frozen=True, strict=True, populate_by_name=True, defer_build=True
    )


class Exemption(ConfigurationPart):
    """An accepted finding and its reason."""

    rule: Said = Field(description="ID of a rule (docs/rules.md).")
    object: Said = Field(
        description='Object of the finding, with * for any text: "Deployment default/web", "DeviceClass gpu". In a '
        'stack, also a resource by type and name ("NodeGroup l4") or URN.'
    )
    reason: Said = Field(description="Reason for accepting the finding, for readers of the file.")
    expires: Annotated[str, AfterValidator(_is_date)] | None = Field(
        default=None,
        description="Last day of the exemption, for example 2027-01-31.",
        json_schema_extra={"format": "date"},
    )


class Configuration(ConfigurationPart):
    """Settings of a project for `pulumi-dra check` and the policy pack."""

    rules: dict[str, ConfiguredLevel] = Field(
        default_factory=dict,
        description="Level of each rule: mandatory (an error that fails a preview), advisory (a warning), disabled, "
        "or remediate (the policy pack applies the fix; see docs/configuration.md).",
    )
    outages: Literal["mandatory", "advisory"] = Field(
        default="mandatory",
        description="Level of all rules about total outages, such as a driver that runs on no node. A level in `rules` "
        "takes precedence.",
    )
    thresholds: dict[str, int | float] = Field(
        default_factory=dict, description="Threshold of each rule that has one (docs/configuration.md)."
    )
    exclude: list[Said] = Field(
        default_factory=list,
        description="Files and folders that `check` skips: names, paths, or patterns.",
    )
    exemptions: list[Exemption] = Field(default_factory=list[Exemption], description="Accepted findings.")
