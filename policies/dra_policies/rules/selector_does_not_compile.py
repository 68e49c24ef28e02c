"""A CEL selector that the API server of this release refuses."""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.manifests import selectors_of
from dra_policies.rules.rule import Finding, Rule
from dra_policies.rules.view import StackView

SHOWN = 80  # characters of an expression in a sentence


def check(view: StackView) -> Iterator[Finding]:
    if view.manifests is None or view.features is None:
        return
    from dra_planner.cel import Dialect, Refused, compile  # heavy, and most views hold no selector

    dialect = Dialect.of(view.features, environment="new")
    for selector in selectors_of(view.manifests):
        outcome = compile(selector.expression, dialect)
        if isinstance(outcome, Refused):
            text = " ".join(selector.expression.split())
            shown = text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"
            certain = outcome.kind != "unsupported"
            verb = "does not compile" if certain else "cannot be judged"
            yield Finding(
                message=f"selector `{shown}` {verb} for Kubernetes {view.features.version}: {outcome.message}",
                fix=outcome.fix or "",
                place=selector.place,
                certain=certain,
            )


RULE = Rule(
    id="selector-does-not-compile",
    says="Every CEL selector compiles in the cluster's release.",
    why="The API server refuses the claim, template or class; in a class that exists already, no claim is allocated.",
    fix="Mend the expression; quantities are compared with compareTo, isGreaterThan and isLessThan.",
    level="mandatory",
    check=check,
)
