"""Read unknown kinds: find their pods by structure, and report assumptions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from dra_planner.manifests.workloads.kind_description import ObjectPart, Reading
from dra_planner.model import PodSet
from dra_planner.wording import counted

_COUNTS: Final = (
    "replicas",
    "size",
    "instances",
    "numNodes",
    "parallelism",
    "minReplicas",
    "count",
    "nodes",
)
_DEEPEST: Final = 12


def requests_devices(spec: Any) -> bool:
    """Return True if a pod spec has claims, or a resource with its own domain."""
    if not isinstance(spec, Mapping):
        return False
    if isinstance(spec.get("resourceClaims"), list) and spec["resourceClaims"]:
        return True
    for container in spec.get("containers") or ():
        resources = container.get("resources") if isinstance(container, Mapping) else None
        for field in ("limits", "requests"):
            amounts = resources.get(field) if isinstance(resources, Mapping) else None
            if isinstance(amounts, Mapping) and any("/" in str(name) for name in amounts):
                return True
    return False


def find_templates(data: Any, place: Any) -> list[tuple[str, ObjectPart, ObjectPart]]:
    """Return every pod spec that requests devices, with its path, and the mapping that might
    contain its count.
    """
    return list(_search(ObjectPart(data, place), "", [], 0))


def _search(
    node: ObjectPart, path: str, parents: list[ObjectPart], depth: int
) -> Iterator[tuple[str, ObjectPart, ObjectPart]]:
    if depth > _DEEPEST:
        return
    if isinstance(node.data, Mapping):
        containers = node.data.get("containers")
        if isinstance(containers, list) and containers and requests_devices(node.data):
            yield (
                path,
                node,
                next((parent for parent in reversed(parents) if _count(parent) is not None), node),
            )
            return
    for name, child in node.members():
        if isinstance(child.data, Mapping | list):
            yield from _search(
                child, f"{path}.{name}" if path else name, [*parents, node], depth + 1
            )


def _count(node: ObjectPart) -> str | None:
    if not isinstance(node.data, Mapping):
        return None
    return next((name for name in _COUNTS if isinstance(node.data.get(name), int)), None)


def read_unknown(reading: Reading) -> list[PodSet]:
    """Read every pod template of an object of an unknown kind."""
    sets: list[PodSet] = []
    for path, spec, holder in find_templates(reading.object.data, reading.object.place):
        field = _count(holder)
        pods = holder.number(field, 1) if field else 1
        count = f"{counted(pods, 'pod')}, based on {path}"
        if field:
            count += f" and the {field} field (medium confidence)"
        else:
            reading.uncounted.append(path)
        reading.assume(f"kind {reading.object.kind} is unknown, so the plan counts {count}")
        sets += reading.pod_set(path, spec, reading.figures(pods), inline=True)
    return sets
