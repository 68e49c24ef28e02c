"""The stored form of an object in the API server, and its differences from the sent form."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from dra_planner.documents.tree import Map, Seq, clone, new_map
from dra_planner.manifests.objects import CLUSTER_SCOPED, KubernetesObject
from dra_planner.manifests.parsing.fields import parse_pod_amount, parse_quantity
from dra_planner.manifests.schema import ApiType, fields_of, struct_of
from dra_planner.manifests.schema.decoding import decode, parse_time
from dra_planner.manifests.validation.context import Context
from dra_planner.manifests.validation.defaults import fill_defaults
from dra_planner.manifests.validation.gates import drop_disabled
from dra_planner.releases import Features

_WITHOUT_STATUS: Final = frozenset(
    {"ResourceClaim", "Pod", "Deployment", "Job", "Node", "ResourceQuota", "DeviceTaintRule"}
)
_ALWAYS_WITH_VALUE: Final = frozenset({"resource.DeviceCapacity", "resource.Counter"})
_AMOUNTS: Final = ApiType("map", item=ApiType("quantity"))
_REQUESTS: Final = ("resource.DeviceClaim", "requests")
_DEVICES: Final = ("resource.ResourceSliceSpec", "devices")


def stored_form(item: KubernetesObject, context: Context) -> Map:
    """Return an accepted object as a new server would store it. Fields that the version doesn't
    know or keep are removed, defaults are filled in, and quantities are canonical.
    """
    struct = struct_of(item.api_version, item.kind)
    kept = (
        item.data
        if struct is None
        else decode(item.data, struct, item.kind, context.minor, "lenient").data
    )
    data: Map = clone(kept)
    cluster = context.cluster
    fill_defaults(item.kind, data, cluster.priority_classes, cluster.non_preempting)
    drop_disabled(item.kind, data, context.features)
    if (
        item.kind in CLUSTER_SCOPED
        and isinstance(data.get("metadata"), Map)
        and "namespace" in data["metadata"]
    ):
        data["metadata"].remove("namespace")
    if item.kind in _WITHOUT_STATUS and "status" in data:
        data["status"] = new_map()
    if struct is not None:
        _normalise(data, struct, context.features)
    return data


def _normalise(data: Map, struct: str, features: Features) -> None:
    fields = fields_of(struct, features.minor)
    if struct in _ALWAYS_WITH_VALUE and data.get("value") is None:
        data.put("value", "0", data.line)
    for name in list(data):
        kind = fields.get(name)
        if kind is None:
            data.remove(name)
            continue
        value = _normal(data[name], kind, features)
        if struct.startswith("core.") and kind == _AMOUNTS and value is not None:
            value = new_map([(key, str(parse_pod_amount(amount))) for key, amount in value.items()])
        if value == [] and _is_null_when_empty(struct, name, features):
            value = None
        data[name] = value


def _is_null_when_empty(struct: str, name: str, features: Features) -> bool:
    """Return True if an empty list is stored as null, because Go's field lacks `omitempty`."""
    return (struct, name) == _REQUESTS or (
        (struct, name) == _DEVICES and features.stores_no_devices_as_null
    )


def _normal(value: Any, kind: ApiType, features: Features) -> Any:
    if value is None:
        return None
    if kind.kind == "struct" and isinstance(value, Map):
        _normalise(value, kind.name, features)
    elif kind.kind == "list" and isinstance(value, Seq) and kind.item is not None:
        value[:] = [_normal(item, kind.item, features) for item in value]
    elif kind.kind == "map" and isinstance(value, Map) and kind.item is not None:
        for name in value:
            value[name] = _normal(value[name], kind.item, features)
    elif kind.kind == "quantity":
        return str(parse_quantity(value))
    elif kind.kind == "time" and isinstance(value, str):
        time = parse_time(value)
        return value if time is None else time.strftime("%Y-%m-%dT%H:%M:%SZ")
    elif kind.kind in ("int32", "int64") and isinstance(value, float):
        return int(value)
    return value


Change = tuple[str, str, Any, Any]
"""A change of a field: its path, `dropped`, `defaulted`, or `rewritten`, the sent value, and the
stored value.
"""


def changes(sent: Any, stored: Any, path: str = "") -> Iterator[Change]:
    """Yield the differences between the stored and the sent form of an object. Empty values count
    as unset.
    """
    if isinstance(sent, dict) and isinstance(stored, dict):
        for name in [*sent, *(name for name in stored if name not in sent)]:
            where = _step(path, name)
            if name not in stored:
                if sent[name] not in (None, [], {}, "", False):
                    yield from _gone(sent[name], where)
            elif name not in sent:
                yield from _new(stored[name], where)
            else:
                yield from changes(sent[name], stored[name], where)
    elif isinstance(sent, list) and isinstance(stored, list):
        for index, item in enumerate(sent):
            if index < len(stored):
                yield from changes(item, stored[index], f"{path}[{index}]")
    elif sent == [] and stored is None:
        yield path, "dropped", sent, None
    elif sent != stored or isinstance(sent, bool) != isinstance(stored, bool):
        yield path, "rewritten", sent, stored


def _gone(value: Any, path: str) -> Iterator[Change]:
    yield path, "dropped", value, None


def _new(value: Any, path: str) -> Iterator[Change]:
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _new(item, _step(path, name))
    else:
        yield path, "defaulted", None, value


def _step(path: str, name: str) -> str:
    if "." in name or "/" in name:
        return f"{path}[{name}]"
    return f"{path}.{name}" if path else name
