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
    """A finding that is accepted, and why."""

    rule: Said = Field(description="The id of a rule (docs/rules.md).")
    object: Said = Field(
        description='What the finding is about, * for any text: "Deployment default/web", "DeviceClass gpu"; in a '
        'stack also a resource as "NodeGroup l4" or by its URN.'
    )
    reason: Said = Field(description="Why it is accepted: for whoever reads the file next.")
    expires: Annotated[str, AfterValidator(_is_date)] | None = Field(
        default=None,
        description="The last day on which it counts: 2027-01-31.",
        json_schema_extra={"format": "date"},
    )


class Configuration(ConfigurationPart):
    """What `pulumi-dra check` and the policy pack are told of a project."""

    rules: dict[str, ConfiguredLevel] = Field(
        default_factory=dict,
        description="Levels by rule: mandatory (an error, stops a preview), advisory (a warning), disabled; "
        "remediate, where the pack sets what the rule asks for (docs/configuration.md).",
    )
    outages: Literal["mandatory", "advisory"] = Field(
        default="mandatory",
        description="Level of all rules about total outages, such as a driver that runs on no node. A level in `rules` "
        "takes precedence.",
    )
    thresholds: dict[str, int | float] = Field(
        default_factory=dict, description="Numbers by rule, for rules that have one (docs/configuration.md)."
    )
    exclude: list[Said] = Field(
        default_factory=list,
        description="Files and folders that `check` leaves out: names, paths or patterns.",
    )
    exemptions: list[Exemption] = Field(default_factory=list[Exemption], description="Findings that are accepted.")
