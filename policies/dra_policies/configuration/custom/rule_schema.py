"""A custom rule as `pulumi-dra.yaml` defines it."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from dra_policies.configuration.custom.object_types import Subject
from dra_policies.configuration.document_part import ConfigurationPart, NonEmpty

Expected = Literal["pass", "fail", "skip", "cannot-tell"]


class RuleTest(ConfigurationPart):
    """One case for `pulumi-dra rules test`."""

    name: NonEmpty = Field(description="Description of the case.")
    given: dict[str, Any] = Field(
        default_factory=dict,
        description="Values of the variables that the rule reads. Missing fields are treated "
        "as unknown values.",
    )
    expect: Expected = Field(
        description="pass, fail, skip if `when` is false, or cannot-tell if a value is unknown or "
        "an expression fails."
    )
    message: str = Field(default="", description="Text that the message contains.")


class CustomRule(ConfigurationPart):
    """A rule of this project (docs/reference/custom-rules.md)."""

    subject: Subject = Field(
        alias="for", description="Objects that the rule checks, one at a time."
    )
    when: str = Field(
        default="",
        description="CEL expression. If set, the rule checks only the objects for which the "
        "expression is true.",
    )
    expression: NonEmpty = Field(description="CEL expression that must be true.")
    message: NonEmpty = Field(description="Problem, printed after the object's name.")
    message_expression: str = Field(
        default="",
        description="CEL expression that returns the text to print instead of `message`.",
    )
    fix: str = Field(default="", description="Instruction that fixes the problem.")
    level: Literal["mandatory", "advisory", "disabled"] = Field(
        default="mandatory",
        description="mandatory (an error), advisory (a warning), or disabled. Default: mandatory.",
    )
    tests: list[RuleTest] = Field(
        default_factory=list[RuleTest], description="Cases for `pulumi-dra rules test`."
    )
