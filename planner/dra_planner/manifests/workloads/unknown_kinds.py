"""Read unknown kinds: find their pods by structure, and report assumptions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, Final

from msgspec import Struct

from dra_planner.manifests.workloads.kind_description import ObjectPart, Reading
from dra_planner.model import PodSet
from dra_planner.wording import counted, listed

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
_MULTIPLIER: Final = re.compile(
    r"(?!min|max)(?:num[A-Z]\w*|\w*(?:replicas|size|instances|count|parallelism|pipeline|workers|nodes))",
    re.IGNORECASE,
)
"""Names of numbers that can multiply the pods of a template, except limits of a scaler."""
_NOT_WANTED: Final = ("metadata", "status")
_DEEPEST: Final = 12


class UnknownTemplate(Struct, frozen=True):
    """A pod spec that requests devices, with its path and the part that might contain its count.
    `multipliers` are further numbers, except 1, that might multiply the count.
    """

    path: str
    spec: ObjectPart
    holder: ObjectPart
    multipliers: tuple[str, ...] = ()


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


def find_templates(data: Any, place: Any) -> list[UnknownTemplate]:
    """Return every pod spec that requests devices."""
    return list(_search(ObjectPart(data, place), "", [], 0))


def _search(
    node: ObjectPart, path: str, parents: list[ObjectPart], depth: int
) -> Iterator[UnknownTemplate]:
    if depth > _DEEPEST:
        return
    if isinstance(node.data, Mapping):
        containers = node.data.get("containers")
        if isinstance(containers, list) and containers and requests_devices(node.data):
            holder = next((each for each in reversed(parents) if _count(each) is not None), node)
            numbers = tuple(_multipliers([*parents, node], holder))
            yield UnknownTemplate(path, node, holder, numbers)
            return
    for name, child in node.members():
        if isinstance(child.data, Mapping | list):
            yield from _search(
                child, f"{path}.{name}" if path else name, [*parents, node], depth + 1
            )


def _multipliers(branch: list[ObjectPart], holder: ObjectPart) -> Iterator[str]:
    """Yield the numbers on the way to a pod spec that might multiply its pods, in addition to the
    count in the holder. The branch contains the parts from the object to the pod spec.
    """
    for node, below in pairwise(branch):
        if not isinstance(node.data, Mapping):
            continue
        chosen = _count(node) if node is holder else None
        for name, child in node.data.items():
            if name in _NOT_WANTED:
                continue
            if name != chosen and _multiplies(name, child):
                yield str(name)
            elif child is not below.data and isinstance(child, Mapping) and not _has_pods(child):
                yield from (f"{name}.{key}" for key in child if _multiplies(key, child[key]))


def _multiplies(name: Any, value: Any) -> bool:
    number = isinstance(value, int) and not isinstance(value, bool)
    return number and value != 1 and _MULTIPLIER.fullmatch(str(name)) is not None


def _has_pods(data: Any) -> bool:
    """Return True if a part describes the pods of another role."""
    if isinstance(data, list):
        return any(map(_has_pods, data))
    return isinstance(data, Mapping) and (
        isinstance(data.get("containers"), list) or any(map(_has_pods, data.values()))
    )


def _count(node: ObjectPart) -> str | None:
    if not isinstance(node.data, Mapping):
        return None
    return next((name for name in _COUNTS if isinstance(node.data.get(name), int)), None)


def read_unknown(reading: Reading) -> list[PodSet]:
    """Read every pod template of an object of an unknown kind."""
    sets: list[PodSet] = []
    for found in find_templates(reading.object.data, reading.object.place):
        field = _count(found.holder)
        pods = found.holder.number(field, 1) if field else 1
        count = f"{counted(pods, 'pod')}, based on {found.path}"
        if not field:
            reading.uncounted.append(f"a field for the number of its pods ({found.path})")
        elif found.multipliers:
            names = listed(found.multipliers)
            reading.uncounted.append(f"whether the number of its pods also depends on {names}")
        else:
            count += f" and the {field} field (medium confidence)"
        reading.assume(f"kind {reading.object.kind} is unknown, so the plan counts {count}")
        sets += reading.pod_set(found.path, found.spec, reading.figures(pods), inline=True)
    return sets
