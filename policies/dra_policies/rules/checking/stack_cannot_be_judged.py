"""Unknown facts that a mandatory rule needs. This rule reports them as advice, because each policy
has only one level.
"""

from __future__ import annotations

from collections.abc import Iterator

from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.stack_view import StackView


def check(view: StackView) -> Iterator[Finding]:
    for sentence in view.unknowns:
        yield Finding(message=sentence, certain=False)
    for error in view.judgement_errors:
        place = str(error.place)
        reason = f" because of {place}: {error.message}" if place else f", because {error.message}"
        yield Finding(
            message=f"can't check whether the claims fit this stack's pools{reason}",
            fix=error.fix,
            certain=False,
        )


RULE = Rule(
    id="stack-cannot-be-judged",
    description="A mandatory rule depends on an unknown value.",
    why="The rule can't pass or fail until the value is known, so a later preview or update can "
    "still reject the stack.",
    fix="Declare a plain value instead of an output, or check the finding yourself.",
    level="advisory",
    needs="stack",
    check=check,
)
