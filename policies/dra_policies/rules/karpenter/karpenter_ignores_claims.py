"""Karpenter pools for DRA without the setting that makes Karpenter support claims."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from dra_policies.rules.rule import Finding, Rule
from dra_policies.unknown_values import Properties
from dra_policies.view.stack_view import StackView

# Source: karpenter.sh "Utilizing GPUs and EFAs with Dynamic Resource Allocation",
# settings.enableDRA since 1.15
_SINCE: Final = (1, 15)
URL: Final = "https://karpenter.sh/docs/tasks/dra/"


def check(view: StackView) -> Iterator[Finding]:
    pools = [
        pool
        for pool in view.pools
        if pool.is_dra
        and pool.own.has("spec.template.spec.nodeClassRef")
        and pool.own.has("spec.replicas") is False
    ]
    for each in view.objects if pools else ():
        chart = (each.props.text("chart") or "").rstrip("/").rpartition("/")[2]
        if chart != "karpenter":
            continue
        version = re.match(r"v?(\d+)\.(\d+)", each.props.text("version") or "")
        if version and (int(version[1]), int(version[2])) < _SINCE:
            problem, fix = (
                f"version {version[0]} doesn't create nodes for pods with claims",
                'set the chart version to "1.15.0" or later',
            )
        elif _ignores_claims(each.props):
            problem, fix = (
                "Karpenter ignores claims by default",
                "set settings.enableDRA to true in the release's values",
            )
        else:
            continue
        yield Finding(
            message=f'Release "{each.name}" installs Karpenter for {pools[0].title}, whose '
            f"pods use claims, but {problem}",
            fix=fix,
            urn=each.urn,
        )


def _ignores_claims(release: Properties) -> bool:
    """Return True if the chart's values certainly make Karpenter ignore claims."""
    known = release.has("valueYamlFiles") is False
    return known and release.below("values").flag("settings.enableDRA", False) is False


RULE = Rule(
    id="karpenter-ignores-claims",
    description="Karpenter ignores claims, but pods with claims use its pools.",
    why="By default, Karpenter ignores pods with claims and doesn't create nodes for them.",
    fix="Use Karpenter 1.15 or later with settings.enableDRA: true.",
    level="advisory",
    url=URL,
    needs="stack",
    check=check,
)
