"""A boot disk that GPU images fill."""

from __future__ import annotations

from collections.abc import Iterator

from dra_policies.rules.resource_rows import broken_rows
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.stack_view import StackView


def check(view: StackView) -> Iterator[Finding]:
    yield from broken_rows(view, RULE.id)


RULE = Rule(
    id="disk-too-small",
    says="A DRA node has less than 50 GiB of disk.",
    why="GPU images have 10 to 30 GiB each. If the disk fills up, kubelet evicts the pods that use "
    "the GPUs.",
    fix="Make the disk larger.",
    level="advisory",
    needs="stack",
    check=check,
)
