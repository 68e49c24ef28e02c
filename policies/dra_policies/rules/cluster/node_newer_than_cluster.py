"""Nodes with a Kubernetes version that is newer than their control plane's, or too old for it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from dra_planner.clouds import cloud, names
from dra_planner.releases import is_left_behind, is_newer, is_too_old
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.stack_view import StackView

URL: Final = "https://kubernetes.io/releases/version-skew-policy/"

_ADDONS: Final = tuple(cloud(name).addon_token for name in names() if cloud(name).addon_token)
_MINOR: Final = re.compile(r"v1\.(\d+)\.")


def check(view: StackView) -> Iterator[Finding]:
    clusters = [each for each in view.versions if each.is_cluster]
    if len(clusters) != 1 or not clusters[0].minor:
        return
    minor, is_floor = clusters[0].minor, clusters[0].is_floor
    if view.wants_devices and is_too_old(minor):
        return  # the cluster's own finding already states that the cluster must be updated first
    for each in view.versions:
        own = None if each.is_cluster else each.minor
        if own is not None and (is_newer(own, minor) or is_left_behind(own, minor)):
            than = "newer than" if is_newer(own, minor) else "too old for"
            yield Finding(
                message=f"{each.title} runs Kubernetes 1.{own}, which is {than} its control "
                f"plane (1.{minor})",
                fix=f'set {each.property} to "1.{minor}"',
                urn=each.urn,
                # a release channel might have upgraded the control plane
                certain=not (is_floor and is_newer(own, minor)),
            )
    yield from _proxies(view, minor)


def _proxies(view: StackView, minor: int) -> Iterator[Finding]:
    """Yield kube-proxy add-ons whose version doesn't match the control plane: newer or too old."""
    for each in view.declared:
        if each.type not in _ADDONS or each.props.text("addonName") != "kube-proxy":
            continue
        version = _MINOR.match(each.props.text("addonVersion") or "")
        own = int(version[1]) if version else minor
        if is_newer(own, minor) or is_left_behind(own, minor):
            than = "newer than" if is_newer(own, minor) else "too old for"
            yield Finding(
                message=f'add-on "{each.name}": kube-proxy 1.{own} is {than} the control plane '
                f"(1.{minor})",
                fix=f"set addonVersion to a 1.{minor} version, or remove addonVersion",
                urn=each.urn,
            )


RULE = Rule(
    id="node-newer-than-cluster",
    description="A node's Kubernetes version is newer than the control plane's version, or too old "
    "for the control plane.",
    why="The cloud rejects nodes that are newer than the control plane. If nodes are too old, the "
    "cloud can't upgrade the nodes or the control plane.",
    fix="Upgrade the control plane before its nodes.",
    level="mandatory",
    url=URL,
    needs="stack",
    check=check,
)
