"""GPU pools that leave the NVIDIA driver to an installer, in stacks that declare no installer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from dra_planner.clouds import cloud
from dra_policies.rules.rule import Finding, Rule
from dra_policies.unknowns import as_list, as_mapping
from dra_policies.view.stack_view import DeclaredPool, StackView

_INSTALLERS: Final = ("driver-installer", "nvidia-installer", "nvidia-driver")
"""Parts of the names of Google's DaemonSets, their images, and charts that wrap them."""


def check(view: StackView) -> Iterator[Finding]:
    if not view.complete or not view.drivers or view.has_gpu_operator:
        return  # without a driver for claims, the installer comes from the same place as the driver
    if any(_names_installer(each.props.values) or _is_named(each.name) for each in view.objects):
        return
    for pool in view.pools:
        if pool.has_gpus and _leaves_driver_out(pool):
            yield Finding(
                message=f"{pool.title}: its nodes don't get the NVIDIA driver, because it turns "
                "off the cloud's installation and this stack doesn't declare an installer",
                fix="declare Google's DaemonSet nvidia-driver-installer, or check that something "
                "else installs it",
                urn=pool.urn,
            )


def _leaves_driver_out(pool: DeclaredPool) -> bool:
    """Return whether the cloud's own driver installation is disabled for each of a pool's GPUs."""
    listed, path, value = cloud(pool.cloud).installer_off
    items = (pool.own.items(listed) or ()) if listed else ()
    return bool(items) and all(item.text(path) == value for item in items)


def _names_installer(value: Any) -> bool:
    """Return whether a nested text names an installer: an image, a chart, or a name."""
    if isinstance(value, str):
        return _is_named(value)
    below = (*(as_mapping(value) or {}).values(), *(as_list(value) or ()))
    return any(_names_installer(item) for item in below)


def _is_named(text: str) -> bool:
    return any(part in text for part in _INSTALLERS)


RULE = Rule(
    id="driver-installer-missing",
    says="GPU pools turn off the cloud's NVIDIA driver, and the stack doesn't install one.",
    why="Without the NVIDIA driver, the DRA driver can't find GPUs or publish devices.",
    fix="Declare an installer, or leave the installation to the cloud.",
    level="advisory",
    url="https://docs.cloud.google.com/kubernetes-engine/docs/how-to/set-up-dra",
    needs="stack",
    check=check,
)
