"""A recorded plan whose text isn't the planner's output."""

from __future__ import annotations

from collections.abc import Iterator

from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.stack_view import StackView


def check(view: StackView) -> Iterator[Finding]:
    record = view.record
    if record is None or record.plan_file is not None:
        return
    if record.problem:
        yield Finding(message=f"the plan file {record.problem}", fix=RULE.fix, urn=record.urn)
    else:
        yield Finding(
            message="the plan file's content isn't known yet, so the stack can't be compared with "
            "the plan",
            fix="pass the content as a string, not as a resource output",
            urn=record.urn,
            certain=False,
        )


RULE = Rule(
    id="plan-record-invalid",
    description="Someone edited the plan file manually.",
    why="The planner didn't check the edited node counts.",
    fix="run `pulumi-dra plan --stack STACK --write`",
    level="mandatory",
    needs="stack",
    check=check,
)
