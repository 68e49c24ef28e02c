"""LimitRanges that give containers an extended resource that their manifests don't request.

Source: kubernetes/kubernetes:plugin/pkg/admission/limitranger/admission.go@v1.37.2
(mergePodResourceRequirements), pkg/apis/core/v1/defaults.go (SetDefaults_LimitRangeItem).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from dra_planner.documents.plain_values import block, blocks, number
from dra_planner.manifests.objects import KubernetesObject
from dra_planner.migration.editor import Editor, Path
from dra_planner.migration.pod_templates import PodPart

DeviceDefaults = Mapping[str, Mapping[str, int]]
"""The extended resources that each container of a namespace gets by default, by namespace."""
_DEFAULTING: Final = ("min", "defaultRequest", "max", "default")
"""Fields that the API server also uses as defaults. Later fields take precedence."""
_CONTAINERS: Final = ("initContainers", "containers")


def device_defaults(
    objects: Iterable[KubernetesObject], is_device: Callable[[str], bool]
) -> DeviceDefaults:
    """Return the defaults of LimitRanges for containers without requests."""
    found: dict[str, dict[str, int]] = {}
    for item in objects:
        if item.kind != "LimitRange":
            continue
        for limit in blocks(block(item.data, "spec"), "limits"):
            amounts: dict[Any, Any] = {}
            for section in _DEFAULTING:
                amounts |= block(limit, section)
            for name, amount in amounts.items() if limit.get("type") == "Container" else ():
                count = number(amount) if is_device(str(name)) else None
                if count:
                    found.setdefault(item.namespace, {}).setdefault(str(name), count)
    return found


def with_defaults(spec: Mapping[str, Any], defaults: Mapping[str, int]) -> Mapping[str, Any]:
    """Return a pod spec whose containers explicitly request their defaults."""
    if not defaults:
        return spec
    filled = {
        key: [_filled(each, defaults) if isinstance(each, Mapping) else each for each in spec[key]]
        for key in _CONTAINERS
        if isinstance(spec.get(key), list)
    }
    return {**spec, **filled}


def _filled(container: Mapping[str, Any], defaults: Mapping[str, int]) -> Mapping[str, Any]:
    missing = missing_requests(container, defaults)
    resources = block(container, "resources")
    limits = {**block(resources, "limits"), **missing}
    return {**container, "resources": {**resources, "limits": limits}} if missing else container


def missing_requests(container: Mapping[str, Any], defaults: Mapping[str, int]) -> dict[str, int]:
    """Return the defaults that a container doesn't set itself, not even as 0."""
    resources = block(container, "resources")
    own = {**block(resources, "limits"), **block(resources, "requests")}
    return {name: count for name, count in defaults.items() if name not in own}


def write_defaults(
    editor: Editor, prefix: Path, part: PodPart, defaults: Mapping[str, int]
) -> None:
    """Add explicit requests for their defaults to containers of pods that stay on the device
    plugin.

    Raises NotEditable.
    """
    for container in (each for key in _CONTAINERS for each in blocks(part.spec, key)):
        path = part.containers.get(str(container.get("name", "")))
        if path is not None:
            for name, count in missing_requests(container, defaults).items():
                editor.set((*prefix, *path, "resources", "limits", name), str(count))


def migrate_limit_range(
    editor: Editor, prefix: Path, is_device: Callable[[str], bool]
) -> Iterator[str]:
    """Remove extended resources from a LimitRange, because it would add a device to every
    container, including migrated containers.
    """
    limits = editor.get((*prefix, "spec", "limits"))
    for index in reversed(range(len(limits) if isinstance(limits, list) else 0)):
        entry = limits[index]
        for section in ("default", "defaultRequest", "max", "min", "maxLimitRequestRatio"):
            for name in [each for each in block(entry, section) if is_device(str(each))]:
                editor.remove((*prefix, "spec", "limits", index, section, name))
                yield f"{section} no longer sets {name}, {_consequence(section, name)}"


def _consequence(section: str, name: str) -> str:
    if section == "maxLimitRequestRatio":
        return "because claims don't support defaults"
    gives = (
        f"because it would add {name} to every container, including containers that request a "
        "claim; containers that rely on the default now request their devices themselves"
    )
    if section in ("default", "defaultRequest"):
        return gives
    return f"{gives}; to limit the count in claim requests, use a ValidatingAdmissionPolicy"
