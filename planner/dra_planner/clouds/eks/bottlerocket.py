"""Settings of Bottlerocket nodes, as text in their user data."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Any

BOTTLEROCKET_REFUSAL = (
    "Bottlerocket isn't supported, because its nodes read TOML settings at boot instead of a "
    "nodeadm configuration. Its NVIDIA images run a device plugin unless "
    "kubelet-device-plugins.nvidia.enabled is false, and since September 2026 they have "
    "their own DRA driver; use al2023"
)


def read_settings(boot_script: str) -> Mapping[str, Any] | None:
    """Return Bottlerocket's boot settings, or None if the text doesn't contain readable
    settings.
    """
    try:
        found = tomllib.loads(boot_script).get("settings", {})
    except tomllib.TOMLDecodeError:
        return None
    return found if isinstance(found, dict) else None


def is_on(settings: Mapping[str, Any], group: str, *, default: bool = False) -> bool:
    nvidia = (settings.get(group) or {}).get("nvidia") or {}
    return nvidia.get("enabled", default) in (True, "true")
