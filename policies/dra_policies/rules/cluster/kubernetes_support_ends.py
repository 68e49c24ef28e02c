"""Kubernetes versions whose standard support ends soon or has ended, and clusters that expire."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Final

from dra_planner.catalog.kubernetes_support import support
from dra_planner.clouds import cloud
from dra_policies.rules.resource_rows import broken_rows
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.stack_view import KubernetesVersion, StackView

URL: Final = "https://endoflife.date/amazon-eks"


def check(view: StackView) -> Iterator[Finding]:
    yield from broken_rows(view, RULE.id)
    if view.today == date.min:
        return
    for version in view.versions:
        if not version.is_cluster or version.minor is None or version.is_floor or not version.cloud:
            continue
        found = support(version.cloud, version.minor)
        if found is None or (_is_extended(view, version) and not found.expires_soon(view.today)):
            continue
        if sentence := found.sentence(view.today):
            yield Finding(
                message=f"{version.title}: {sentence.rstrip('.')}",
                fix=f"increase {version.property} by one minor version at a time",
                urn=version.urn,
            )


def _is_extended(view: StackView, version: KubernetesVersion) -> bool:
    """Return whether a cluster pays for extended support already, so its price doesn't change when
    standard support ends.
    """
    path, value = cloud(version.cloud).cluster.extended_support
    return bool(path) and any(
        each.urn == version.urn and each.props.text(path) == value for each in view.declared
    )


RULE = Rule(
    id="kubernetes-support-ends",
    description="Standard support for the cluster's Kubernetes version ends soon or has ended, or the "
    "cluster is a GKE alpha cluster, which expires.",
    why="Extended support costs more per hour. Without extended support, the cloud upgrades the "
    "cluster automatically.",
    fix="Upgrade the cluster one minor version at a time.",
    level="advisory",
    url=URL,
    needs="stack",
    check=check,
)
