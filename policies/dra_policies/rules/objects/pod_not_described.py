"""Workloads whose pod template is in a manifest that wasn't passed, for example a pipeline or a
runtime.
"""

from __future__ import annotations

from collections.abc import Iterator

from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.stack_view import StackView


def check(view: StackView) -> Iterator[Finding]:
    for blocked in view.not_described:
        yield Finding(
            message=blocked.reason.message,
            fix=blocked.reason.fix,
            urn=view.judged_urn,
            place=blocked.member.place,
            remark=True,
        )


RULE = Rule(
    id="pod-not-described",
    description="The manifests don't include a workload's pod template.",
    why="The rule can't determine whether the workload's pods request devices, so it doesn't "
    "check them.",
    fix="Add the manifest that the finding names.",
    level="advisory",
    needs="pools",
    check=check,
)
