"""Values of the NVIDIA driver's Helm chart: known values, rejected values, and values without
effect.

Source:
kubernetes-sigs/dra-driver-nvidia-gpu:deployments/helm/*/{values.yaml,templates/validation.yaml}@v25.3.0
to v0.4.1 and 95932046.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any, Final

from msgspec import Struct

from dra_planner.drivers.nvidia.releases import driver_releases
from dra_planner.drivers.nvidia.settings import PublishingSettings, gate_faults

OVERRIDE: Final = "gpuResourcesEnabledOverride"
KEYS: Final = (
    "allowDefaultNamespace",
    "altProcDevices",
    "consumableShares",
    "controller",
    "featureGates",
    "fullnameOverride",
    "gpuResourcesEnabledOverride",
    "image",
    "imagePullSecrets",
    "kubeletPlugin",
    "logVerbosity",
    "nameOverride",
    "namespaceOverride",
    "nvidiaCDIHookPath",
    "nvidiaDriverRoot",
    "resourceApiVersion",
    "resources",
    "selectorLabelsOverride",
    "serviceAccount",
    "webhook",
)
REFUSED: Final = {
    "namespace": "the chart uses the release's namespace instead",
    "nvidiaCtkPath": "the driver finds the path automatically",
}
"""Values with which the chart fails to render, and the reasons."""
IGNORED: Final = {
    "kubeletRootDirectory": "use kubeletPlugin.kubeletPluginsDirectoryPath instead",
    "maskNvidiaDriverParams": "remove maskNvidiaDriverParams",
    "deviceClasses": "use resources.gpus.enabled and resources.computeDomains.enabled instead",
    "cdi": "remove it",
}
"""Values of charts from 2023 to 2025 and of other charts, which this chart ignores, with their
replacements.
"""
OWN: Final = frozenset(
    {*REFUSED, *IGNORED, "gpuResourcesEnabledOverride", "nvidiaDriverRoot", "altProcDevices"}
) - {
    "namespace",
    "cdi",
}
"""Keys that identify the values of this chart."""
# minimum similarity for a key to count as a misspelling; other unknown keys might have another
# purpose
NEAR: Final = 0.8
DOTTED: Final = "Helm doesn't expand dotted keys in values, so this setting has no effect"

_OTHER_DRIVER: Final = re.compile(r"dra-driver(?!-nvidia-gpu|-gpu)[\w-]*$")


class ValueFault(Struct, frozen=True):
    """The error in one value. `is_refused` means that the chart fails to render with this value."""

    key: str
    message: str
    fix: str
    is_refused: bool = False


def are_driver_values(values: object) -> bool:
    """Return whether a mapping contains values of this chart: a key that other charts are unlikely
    to have.
    """
    if not isinstance(values, Mapping) or "apiVersion" in values or "kind" in values:
        return False
    image = values.get("image")
    if isinstance(image, Mapping) and _OTHER_DRIVER.search(str(image.get("repository", ""))):
        return False  # other drivers' charts are based on this chart
    resources = values.get("resources")
    parts = (
        [resources.get(name) for name in ("gpus", "computeDomains")]
        if isinstance(resources, Mapping)
        else []
    )
    own = OWN & set(values)
    if own == {"nvidiaDriverRoot"}:  # NVIDIA's device plugin also has this key
        return set(values) <= {*KEYS, *REFUSED, *IGNORED}
    return bool(own) or any(isinstance(part, Mapping) and "enabled" in part for part in parts)


def value_faults(values: Mapping[str, Any]) -> Iterator[ValueFault]:
    """Yield the values in a file that the chart rejects or ignores."""
    for key in values:
        if key in REFUSED and values[key]:
            yield ValueFault(
                key,
                f'the chart rejects the value "{key}", because {REFUSED[key]}',
                f"remove {key}",
                True,
            )
        elif key in IGNORED:
            yield ValueFault(
                key,
                f'the chart doesn\'t have a value "{key}", so this setting has no effect',
                IGNORED[key],
            )
        elif known := key_fix(key):
            problem = (
                f'"{key}" is a dotted key. {DOTTED}'
                if known.is_dotted
                else f'the chart doesn\'t have a value "{key}", so this setting has no effect'
            )
            yield ValueFault(key, problem, known.fix)
    resources = values.get("resources")
    for part in ("gpus", "computeDomains"):
        given = resources.get(part) if isinstance(resources, Mapping) else None
        for key in given if isinstance(given, Mapping) else ():
            near = get_close_matches(key, ("enabled",), 1, NEAR)
            if near and key != near[0]:
                message = (
                    f'the chart doesn\'t have a value "resources.{part}.{key}", so this '
                    "setting has no effect"
                )
                yield ValueFault("resources", message, f'use "{near[0]}"')
    gpus = resources.get("gpus") if isinstance(resources, Mapping) else None
    enabled = gpus.get("enabled", True) if isinstance(gpus, Mapping) else True
    if enabled and not values.get(OVERRIDE):
        message = (
            f"to enable GPUs, the chart requires {OVERRIDE}, which confirms that no device "
            "plugin runs on the same nodes"
        )
        yield ValueFault("resources", message, f"set {OVERRIDE} to true", True)
    domains = resources.get("computeDomains") if isinstance(resources, Mapping) else None
    # the user deliberately enables only ComputeDomains
    for_domains = isinstance(domains, Mapping) and domains.get("enabled") is True
    if not enabled and not for_domains:
        message = (
            "without GPUs, the chart doesn't install the class gpu.nvidia.com, so claims for "
            "GPUs are never allocated"
        )
        fix = (
            "set resources.gpus.enabled to true"
            if values.get(OVERRIDE)
            else f"set {OVERRIDE} to true instead of setting resources.gpus.enabled to false"
        )
        yield ValueFault("resources", message, fix)
    gates = values.get("featureGates")
    if isinstance(gates, Mapping):
        yield from _gate_faults(gates)


def _gate_faults(gates: Mapping[str, Any]) -> Iterator[ValueFault]:
    known = {gate for release in driver_releases() for gate in release.feature_gates}
    for gate in gates:
        if gate not in known:
            near = get_close_matches(gate, sorted(known), 1)
            message = (
                f'no driver version has the feature gate "{gate}", so the driver\'s plugin '
                "doesn't start"
            )
            yield ValueFault(
                "featureGates", message, f"use {near[0]}" if near else f"remove {gate}", True
            )


def release_faults(version: str, gates: object) -> Iterator[ValueFault]:
    """Yield feature gates that a version doesn't have, or with which its plugin doesn't start.

    Yields nothing for unknown versions. `value_faults` reports gates that don't exist in any
    version.
    """
    release = next(
        (each for each in driver_releases() if each.version == version.removeprefix("v")), None
    )
    if release is None or not isinstance(gates, Mapping):
        return
    known = {gate for each in driver_releases() for gate in each.feature_gates}
    on = {str(gate): value in (True, "true") for gate, value in gates.items() if gate in known}
    for _, error in gate_faults(release, PublishingSettings(gates=on)):
        yield ValueFault(
            "featureGates",
            f"{error.message}, so the driver's plugin doesn't start",
            error.fix,
            True,
        )


def nesting_fix(first: str, rest: Iterable[str]) -> str:
    """Return the fix for a dotted key, for example "nest the keys: a: {b: …}"."""
    parts = list(rest)
    return f"nest the keys: {first}: {{{': {'.join(parts)}: …{'}' * len(parts)}"


class KeyFix(Struct, frozen=True):
    """The fix for a key that the chart ignores, and whether the key contains dots."""

    fix: str
    is_dotted: bool = False


def key_fix(key: str) -> KeyFix | None:
    """Return the fix for a misspelled or dotted key, or None if it isn't known to be wrong."""
    first, *rest = re.split(r"[._-]", key)
    if rest and all(rest) and first in KEYS:
        return KeyFix(nesting_fix(first, rest), "." in key)
    near = [] if key in KEYS else get_close_matches(key, KEYS, 1, NEAR)
    return KeyFix(f'rename it to "{near[0]}"') if near else None
