"""Convert objects of older versions of resource.k8s.io, which the API server can serve, to v1.

Source: kubernetes/kubernetes:pkg/apis/resource/v1beta1/conversion.go@v1.36.3. v1alpha3 and v1beta2
have the fields of v1.
"""

from __future__ import annotations

from typing import Any, Final

from msgspec.structs import replace

from dra_planner.documents.tree import Map, clone, line_of, new_map
from dra_planner.manifests.objects import KubernetesObject
from dra_planner.releases.optional_versions import RESOURCE

_OLDER: Final = frozenset(
    {f"{RESOURCE}/{version}" for version in ("v1alpha3", "v1beta1", "v1beta2")}
)
_KEPT: Final = frozenset({"name", "firstAvailable", "exactly"})


def as_v1(item: KubernetesObject) -> KubernetesObject:
    """Return an object of resource.k8s.io in the form of v1. Other objects stay unchanged."""
    if item.api_version not in _OLDER:
        return item
    data: Map = clone(item.data)
    data.put("apiVersion", f"{RESOURCE}/v1", line_of(data, "apiVersion"))
    spec = data.get("spec")
    if item.api_version.endswith("v1beta1"):
        if item.kind == "ResourceClaimTemplate" and isinstance(spec, Map):
            spec = spec.get("spec")
        for request in _items(spec, "devices", "requests"):
            _nest_exactly(request)
        for device in _items(spec, "devices"):
            _unwrap_basic(device)
    return replace(item, api_version=f"{RESOURCE}/v1", data=data)


def _items(node: Any, *keys: str) -> list[Map]:
    for key in keys:
        node = node.get(key) if isinstance(node, Map) else None
    return [each for each in node if isinstance(each, Map)] if isinstance(node, list) else []


def _nest_exactly(request: Map) -> None:
    """Move the fields of a request to `exactly`, unless it has alternatives."""
    moved = [key for key in request if key not in _KEPT]
    if not moved or "firstAvailable" in request:
        return
    lines = {key: line_of(request, key) for key in moved}
    exactly = new_map(line=lines[moved[0]])
    for key in moved:
        exactly.put(key, request[key], lines[key])
        request.remove(key)
    request.put("exactly", exactly, exactly.line)


def _unwrap_basic(device: Map) -> None:
    """Move the fields of a device out of `basic`."""
    basic = device.get("basic")
    if isinstance(basic, Map):
        device.remove("basic")
        for key, value in basic.items():
            device.put(key, value, line_of(basic, key))
