"""GPU pools that rely on a separate installer for the NVIDIA driver, in stacks that don't declare
an installer.

Source: gpuDriverVersion in GPUDriverInstallationConfig of the GKE API (v1, read on 2026-11-29).
INSTALLATION_DISABLED requires a manual installation. Without a value, GKE 1.30.1 and later install
the driver.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from dra_planner.clouds import cloud
from dra_policies.rules.rule import Finding, Rule
from dra_policies.unknown_values import as_list, as_mapping
from dra_policies.view.pool_machines import leaves_driver_out
from dra_policies.view.stack_view import DeclaredPool, StackView

_INSTALLERS: Final = ("driver-installer", "nvidia-installer", "nvidia-driver")
"""Parts of the names of Google's DaemonSets, their images, and charts that wrap them."""
_DELIVERY: Final = ("kubernetes:argoproj.io/", "kubernetes:kustomize.toolkit.fluxcd.io/")
"""Types of the objects with which a tool installs further objects from a repository."""


def check(view: StackView) -> Iterator[Finding]:
    if not view.complete or not view.drivers or view.has_gpu_operator:
        # if the stack doesn't have a DRA driver, the installer comes from the same source as the
        # driver
        return
    if any(_names_installer(each.props.values) or _is_named(each.name) for each in view.objects):
        yield from _of_other_images(view)
        return
    for pool in view.pools:
        if pool.has_gpus and leaves_driver_out(pool):
            is_certain = _shows_whole_cluster(view, pool)
            lack = "don't" if is_certain else "might not"
            yield Finding(
                message=f"{pool.title} disables {cloud(pool.cloud).title}'s driver "
                "installation, but this stack doesn't declare an installer, so the "
                f"nodes {lack} have the NVIDIA driver",
                fix="declare Google's nvidia-driver-installer DaemonSet, or make sure that another "
                "tool installs the driver",
                urn=pool.urn,
                certain=is_certain,
            )


def _shows_whole_cluster(view: StackView, pool: DeclaredPool) -> bool:
    """Return whether the stack creates the pool's cluster, and no tool installs objects that the
    stack doesn't contain.
    """
    token = cloud(pool.cloud).cluster.token
    clusters = {each.urn for each in view.declared if each.type == token}
    return pool.cluster_urn in clusters and not any(
        each.type.startswith(_DELIVERY) for each in view.objects
    )


def _of_other_images(view: StackView) -> Iterator[Finding]:
    """Yield pools without an installer for their images, if the images of every installer are
    known.
    """
    texts = [text for each in view.objects for text in _texts(each.props.values)]
    for pool in view.pools:
        named = {
            images
            for images, parts in cloud(pool.cloud).installer_images
            if any(part in text for text in texts for part in parts)
        }
        if (
            pool.has_gpus
            and leaves_driver_out(pool)
            and named
            and pool.image
            and not pool.image.upper().startswith(tuple(named))
        ):
            other = sorted(named)[0]
            yield Finding(
                message=f"{pool.title}: its nodes run {pool.image}, but the stack's driver "
                f"installer supports only {other} images, so the nodes don't get the NVIDIA driver",
                fix=f"use the installer for {pool.image}, or set the pool's image type to one that "
                f"starts with {other}",
                urn=pool.urn,
            )


def _texts(value: Any) -> Iterator[str]:
    """Yield the texts in a value and in all nested values."""
    if isinstance(value, str):
        yield value
    for item in (*(as_mapping(value) or {}).values(), *(as_list(value) or ())):
        yield from _texts(item)


def _names_installer(value: Any) -> bool:
    """Return whether any nested text names an installer: an image, a chart, or a name."""
    if isinstance(value, str):
        return _is_named(value)
    mapping = as_mapping(value)
    items = as_list(value) if mapping is None else mapping.values()
    return items is not None and any(map(_names_installer, items))


def _is_named(text: str) -> bool:
    return any(part in text for part in _INSTALLERS)


RULE = Rule(
    id="driver-installer-missing",
    description="GPU pools disable the cloud's NVIDIA driver, and the stack doesn't install one.",
    why="Without the NVIDIA driver, the DRA driver can't find GPUs or publish devices.",
    fix="Declare an installer, or enable the cloud's driver installation.",
    level="mandatory",
    is_outage=True,
    url="https://docs.cloud.google.com/kubernetes-engine/docs/how-to/set-up-dra",
    needs="stack",
    check=check,
)
