"""The schema of `pulumi-dra.yaml`: levels, thresholds, ignored files, and exemptions."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from dra_policies.configuration.custom.rule_schema import CustomRule
from dra_policies.configuration.document_part import ConfigurationPart, NonEmpty

ConfiguredLevel = Literal["mandatory", "advisory", "disabled", "remediate"]


def date_of(text: str) -> date:
    """Return the date in a text. Raises ValueError with a sentence if it isn't a date."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise ValueError(f'"{text}" isn\'t a date in the form 2027-01-31') from None


def _is_date(text: str) -> str:
    date_of(text)
    return text


class Exemption(ConfigurationPart):
    """An accepted finding and its reason."""

    rule: NonEmpty = Field(description="ID of a rule (docs/rules.md).")
    object: NonEmpty = Field(
        description='Object of the finding, where * matches any text: "Deployment '
        'default/web", "DeviceClass gpu". In a stack, also a resource\'s type '
        'and name ("NodeGroup l4") or its URN.'
    )
    reason: NonEmpty = Field(description="Reason for accepting the finding.")
    expires: Annotated[str, AfterValidator(_is_date)] | None = Field(
        default=None,
        description="Last day of the exemption, for example 2027-01-31.",
        json_schema_extra={"format": "date"},
    )


class Configuration(ConfigurationPart):
    """Settings of a project for `pulumi-dra check` and the policy pack."""

    extends: list[NonEmpty] = Field(
        default_factory=list,
        description="Configurations to extend. Later configurations take precedence. Each entry "
        "is a path relative to this file, git+https://HOST/REPOSITORY.git@REF#PATH (git+ssh and "
        "git+file also work), "
        "https://…#sha256=DIGEST, or oci://REGISTRY/REPOSITORY:TAG.",
    )
    fleets: dict[str, NonEmpty] = Field(
        default_factory=dict,
        description="Map from fleet names to files or URLs (as in `extends`). Use a name with "
        "`--fleet NAME`.",
    )
    catalog: list[NonEmpty] = Field(
        default_factory=list,
        description="Files or URLs (as in `extends`) with machine types and drivers from "
        "`pulumi-dra catalog add`, for all fleets. Later files take precedence over earlier "
        "files, and a fleet's own `catalog` takes precedence over all of them.",
    )
    rules: dict[str, ConfiguredLevel | CustomRule] = Field(
        default_factory=dict,
        description="Level of each rule: mandatory (an error that fails a preview), advisory (a "
        "warning), disabled, "
        "or remediate (the policy pack applies the fix; see docs/configuration.md). An entry with "
        "a new ID defines a custom rule (docs/reference/custom-rules.md).",
    )
    outages: Literal["mandatory", "advisory"] = Field(
        default="mandatory",
        description="Level of all rules about total outages, such as a driver that can't run "
        "on any node. A level in `rules` takes precedence.",
    )
    thresholds: dict[str, int | float] = Field(
        default_factory=dict,
        description="Thresholds for the rules that support a threshold (see "
        "docs/configuration.md).",
    )
    exclude: list[NonEmpty] = Field(
        default_factory=list,
        description="Files and folders that `check` skips: names, paths, or patterns.",
    )
    exemptions: list[Exemption] = Field(
        default_factory=list[Exemption], description="Accepted findings."
    )

    @property
    def levels(self) -> dict[str, str]:
        """The level of each rule that the file lists, including custom rules."""
        return {
            id: each if isinstance(each, str) else each.level for id, each in self.rules.items()
        }

    @property
    def custom_rules(self) -> dict[str, CustomRule]:
        """The project's custom rules by ID."""
        return {id: each for id, each in self.rules.items() if not isinstance(each, str)}
