"""Node images of GPU pools that can change even if the program doesn't change."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dra_planner.catalog.image_releases import image_rules
from dra_planner.clouds import cloud
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.pool_machines import machine_names
from dra_policies.view.stack_view import DeclaredPool, StackView

URL: Final = "https://karpenter.sh/docs/tasks/managing-amis/"
_NEWEST: Final = "latest"


def check(view: StackView) -> Iterator[Finding]:
    reported: set[str] = set()
    for pool in view.pools:
        if pool.is_dra and pool.has_gpus is not False:
            for finding in (*_alias(pool), *_channel(pool, view)):
                if finding.urn not in reported:
                    reported.add(finding.urn)
                    yield finding


def _alias(pool: DeclaredPool) -> Iterator[Finding]:
    """Yield a Karpenter alias for the newest image, whose driver can change."""
    settings = cloud(pool.cloud).node_class
    if settings is None or pool.release != _NEWEST or pool.template is None:
        return
    alias = next(
        (
            term.text("alias")
            for term in pool.template.items(settings.images) or ()
            if term.text("alias")
        ),
        "",
    )
    yield Finding(
        message=f"{pool.title}: its nodes use image alias {alias}, so each new node can have a "
        "different NVIDIA driver",
        fix="set the alias to an image version that you have tested",
        urn=pool.template_urn,
    )


def _channel(pool: DeclaredPool, view: StackView) -> Iterator[Finding]:
    """Yield a cluster that replaces node images automatically, for machine types that an image
    version has broken before.
    """
    rules = [
        rule
        for rule in image_rules()
        if rule.cloud == pool.cloud and any(rule.covers(name) for name in machine_names(pool))
    ]
    paths = cloud(pool.cloud).cluster
    cluster = next((each for each in view.declared if each.urn == pool.cluster_urn), None)
    if cluster is None or not paths.image_channel:
        return
    channel = cluster.props.text(paths.image_channel, paths.new_images[0])
    for rule in rules:
        if rule.broken and channel in paths.new_images:
            yield Finding(
                message=f"{pool.machine} ({pool.title}) doesn't work with image version "
                f'{rule.broken}, but cluster "{cluster.name}" updates node images automatically '
                f"(channel {channel}). In this image version, {rule.reason}",
                fix=paths.image_fix,
                urn=cluster.urn,
            )
        elif rule.first and channel in paths.old_images:
            yield Finding(
                message=f"{pool.machine} ({pool.title}) needs image version {rule.first} or "
                f'later, but cluster "{cluster.name}" doesn\'t update node images (channel '
                f"{channel}). {rule.reason[0].upper()}{rule.reason[1:]}",
                fix=f"{paths.image_fix} (to version {rule.first} or later)",
                urn=cluster.urn,
            )


RULE = Rule(
    id="node-image-not-pinned",
    description="GPU node images can change without a change to the Pulumi program.",
    why="A new image contains a different NVIDIA driver, so new nodes might publish different "
    "devices, or no devices.",
    fix="Set an image version, or configure the cluster to install only security patches.",
    level="advisory",
    url=URL,
    needs="stack",
    check=check,
)
