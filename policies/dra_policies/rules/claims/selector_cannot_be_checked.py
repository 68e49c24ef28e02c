"""A CEL selector that uses a feature that this CEL implementation doesn't support. Another rule
reports selectors that the API server rejects.
"""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.cel import Dialect, RejectedSelector, compile
from dra_planner.manifests import selectors_of
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.stack_view import StackView

SHOWN = 80  # maximum length of an expression in a sentence


def check(view: StackView) -> Iterator[Finding]:
    if view.manifests is None or view.features is None:
        return
    dialect = Dialect.of(view.features, environment="new")
    for selector in selectors_of(view.manifests):
        outcome = compile(selector.expression, dialect)
        if isinstance(outcome, RejectedSelector) and outcome.kind == "unsupported":
            text = " ".join(selector.expression.split())
            shown = text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"
            yield Finding(
                message=f"selector `{shown}` can't be checked for Kubernetes "
                f"{view.features.version}: {outcome.message}",
                fix=outcome.fix or "",
                place=selector.place,
                certain=False,
            )


RULE = Rule(
    id="selector-cannot-be-checked",
    description="A CEL selector uses a feature that pulumi-dra can't check.",
    why="pulumi-dra can't determine whether the API server accepts the selector, or which devices "
    "match the selector.",
    fix="Rewrite the condition with different functions, or apply the object to a test cluster "
    "with --dry-run=server.",
    level="advisory",
    check=check,
)
