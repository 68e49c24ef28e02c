"""Time-slicing and MPS settings of the NVIDIA device plugin, in a file or a ConfigMap.

Source: NVIDIA/k8s-device-plugin:api/config/v1@v0.17.0 (`version`, `flags`, `sharing.timeSlicing`,
`sharing.mps`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from dra_planner.documents.tree import child, line_at
from dra_planner.documents.yaml_reader import Fault, read_yaml
from dra_planner.errors import Diagnostic, Place
from dra_planner.manifests.objects import KubernetesObject
from dra_planner.sources import Source

_STRATEGIES: Final = {
    "timeSlicing": ("time-slicing", "TimeSlicing", "TimeSlicingSettings"),
    "mps": ("MPS", "MPS", "MPSSupport"),
}
_SHARING: Final = re.compile(r"^\s*sharing\s*:", re.MULTILINE)
_OBJECT: Final = re.compile(r"^[\"']?(?:apiVersion|kind)[\"']?\s*:", re.MULTILINE)


def sharing_in_config_map(item: KubernetesObject) -> Iterator[Diagnostic]:
    """Yield how each plugin configuration with sharing in a ConfigMap affects devices of claims."""
    data = item.data.get("data")
    for key, text in data.items() if isinstance(data, Mapping) else ():
        strategy = _strategy(text)
        if strategy:
            place = child(child(item.place, item.data, "data"), data, key)
            yield _finding(f'key "{key}" in {item}', strategy, place)


def sharing_in_file(source: Source) -> Iterator[Diagnostic]:
    """Yield how a configuration file of the plugin affects devices of claims.

    Yields nothing for other texts.
    """
    strategy = "" if _OBJECT.search(source.text) else _strategy(source.text)
    if strategy:
        data, _ = read_yaml(source.text)
        yield _finding(
            "this file", strategy, Place(source.name, line_at(data, ("sharing",)), "sharing")
        )


def _strategy(text: Any) -> str:
    """Return the sharing strategy in a configuration file of the plugin, or ""."""
    if not isinstance(text, str) or _SHARING.search(text) is None:
        return ""
    try:
        data, _ = read_yaml(text)
    except Fault:
        return ""
    sharing = data.get("sharing") if isinstance(data, Mapping) else None
    return next(
        (name for name in _STRATEGIES if isinstance(sharing, Mapping) and sharing.get(name)), ""
    )


def _finding(what: str, strategy: str, place: Place) -> Diagnostic:
    title, kind, gate = _STRATEGIES[strategy]
    message = (
        f"{what} configures {title} for NVIDIA's device plugin, so it has no effect on nodes where "
        "the DRA driver publishes the GPUs"
    )
    fix = (
        f"remove this setting. To share a GPU, use one ResourceClaim in all pods. For {title}, "
        f"also add a GpuConfig with sharing: {{strategy: {kind}}} to the claim's config, and "
        f"enable the driver's {gate} feature gate"
    )
    return Diagnostic("warning", "plugin-sharing-does-nothing", message, place, fix)
