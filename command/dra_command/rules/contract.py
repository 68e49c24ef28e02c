"""Output of `pulumi-dra rules test`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from dra_command.contract.output import Output


class RuleCaseRow(Output):
    """A test case of a rule, and the rule's result."""

    rule: str
    file: str
    name: str
    expected: Literal["pass", "fail", "skip", "cannot-tell"]
    result: Literal["pass", "fail", "skip", "cannot-tell"]
    message: str = Field(description="Message of the rule, empty for pass and skip.")
    steps: int = Field(description="Number of evaluation steps that the rule used.")
    met: bool = Field(description="True if the result and the message are as expected.")


class RulesTestOutput(Output):
    """Results of all test cases of all rules."""

    version: Literal[1] = 1
    passed: int
    failed: int
    untested: list[str] = Field(description="Rules without test cases.")
    cases: list[RuleCaseRow]
