"""An object that the API server would reject."""

from __future__ import annotations

from collections.abc import Iterator

from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.stack_view import StackView


def check(view: StackView) -> Iterator[Finding]:
    for diagnostic in view.diagnostics:
        if diagnostic.severity == "error":
            path, problem = diagnostic.place.path, diagnostic.message
            yield Finding(
                message=f"{path}: {problem}" if path and path not in problem else problem,
                fix=diagnostic.fix,
                place=diagnostic.place,
            )


RULE = Rule(
    id="object-is-refused",
    description="The API server rejects a DRA object or a pod with claims.",
    why="The update fails, or the workload's controller can't create the pods.",
    fix="Correct the field that the finding reports.",
    level="mandatory",
    check=check,
)
