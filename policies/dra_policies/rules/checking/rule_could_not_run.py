"""An error in this pack, which must never look like a stack that passes."""

from __future__ import annotations

from collections.abc import Iterator
from traceback import extract_tb

from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.stack_view import StackView


def check(view: StackView) -> Iterator[Finding]:
    """Find nothing, because the code that runs rules creates this rule's findings."""
    return iter(())


def failure(error: Exception, urn: str = "", rule: str = "") -> Finding:
    """Return the finding about a rule that raised an exception, with its location."""
    frames = extract_tb(error.__traceback__)
    where = f" at {frames[-1].filename.rpartition('/')[2]}:{frames[-1].lineno}" if frames else ""
    what = f"rule {rule}" if rule else "reading the stack"
    return Finding(
        message=f"{what} failed with {type(error).__name__}{where}: {error}", fix=RULE.fix, urn=urn
    )


RULE = Rule(
    id="rule-could-not-run",
    description="A rule failed with an internal error.",
    why="The rule didn't check the stack, and an unchecked stack must not pass.",
    fix="report this error and its message; to continue, set the level of "
    "rule-could-not-run to advisory",
    level="mandatory",
    check=check,
)
