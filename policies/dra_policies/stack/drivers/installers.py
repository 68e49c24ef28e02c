"""DaemonSets with the driver installer of Container-Optimized OS, and the version that they
install.

Source: GoogleCloudPlatform/container-engine-accelerators:nvidia-driver-installer/cos@992db812; the
version is an argument, or the variable NVIDIA_DRIVER_VERSION of older installers (issue 119 there).
"""

from __future__ import annotations

import re
from typing import Final

from dra_policies.stack.resource import Resource
from dra_policies.unknown_values import Properties
from dra_policies.view.stack_view import Installer

_IMAGE: Final = re.compile(r"(^|/)cos-(nvidia|gpu)-installer([:@]|$)")
_VERSION: Final = re.compile(r"--?version[= ]\"?([0-9]+(?:\.[0-9]+)+)")
_VARIABLES: Final = ("NVIDIA_DRIVER_VERSION", "DRIVER_VERSION")


def installer_of(resource: Resource) -> Installer | None:
    """Return the driver installer in a DaemonSet, or None if it isn't one."""
    if not resource.type.endswith(":DaemonSet"):
        return None
    pod = resource.props.below("spec.template.spec")
    for container in (*(pod.items("initContainers") or ()), *(pod.items("containers") or ())):
        if _IMAGE.search(container.text("image") or ""):
            title, version = resource.title("DaemonSet"), _version(container)
            return Installer(title=title, urn=resource.urn, version=version, pod=pod)
    return None


def _version(container: Properties) -> str:
    """Return the version that a container installs, or "" if it has none."""
    words = (*(container.texts("command") or ()), *(container.texts("args") or ()))
    found = _VERSION.search(" ".join(word or "" for word in words))
    if found:
        return found[1]
    values = {item.text("name"): item.text("value") or "" for item in container.items("env") or ()}
    named = (values.get(name, "") for name in _VARIABLES)
    return next((value for value in named if re.fullmatch(r"[0-9]+(\.[0-9]+)+", value)), "")
