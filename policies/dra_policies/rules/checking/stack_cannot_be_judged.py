"""Unknown facts that a mandatory rule needs. This rule reports them as advice, because each policy
has only one level.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dra_planner.errors import PlannerError, located
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.stack_view import StackView

_NAMED: Final = (
    "region",
    "drivers.nvidia.version",
    "drivers.nvidia.featureGates",
    "drivers.nvidia.consumableShares",
)
"""Places in a fleet whose messages name their subject."""


def check(view: StackView) -> Iterator[Finding]:
    for sentence in view.unknowns:
        yield Finding(message=sentence, certain=False)
    for error in view.judgement_errors:
        reason = _reason(view, error)
        # a second "because" would be hard to read
        joint = ": " if "because" in reason else ", because "
        yield Finding(
            message=f"can't check whether the claims fit this stack's pools{joint}{reason}",
            fix=error.fix,
            certain=False,
        )


def _reason(view: StackView, error: PlannerError) -> str:
    place = str(error.place)
    if place in _NAMED:
        return error.message
    is_pool = place in {pool.title for pool in (*view.pools, *view.scaling_groups)}
    sentence = located(place, error.message)
    if is_pool and sentence.startswith(f"{place}: "):
        return f"{error.message} ({place})"
    return sentence


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
