"""Clusters and nodes as a security baseline wants them: one finding for each row that a resource breaks."""

from __future__ import annotations

from collections.abc import Iterator

from dra_policies.rules.rule import Finding, Rule
from dra_policies.rules.security_rows import rows
from dra_policies.rules.view import StackView


def check(view: StackView) -> Iterator[Finding]:
    for each in view.declared:
        for row in rows():
            if row.type == each.type and row.is_broken(each.props):
                yield Finding(
                    message=f'{row.kind} "{each.name}": {row.says} ({row.reference})', fix=row.fix, urn=each.urn
                )


RULE = Rule(
    id="security-baseline",
    says="Clusters and nodes keep to the baseline: closed endpoints, audit logs, encrypted secrets and disks, IMDSv2.",
    why="GPU nodes are worth stealing, and these are what auditors and attackers look at first.",
    fix="Set the property that the finding names.",
    level="advisory",
    needs="stack",
    check=check,
)
