"""Parts of objects that pages show without apiVersion and kind, completed to whole objects so that
the parts can be checked.

The fields that a part omits are filled in, so that findings apply only to the written fields. See
`whole_of`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from difflib import get_close_matches
from typing import Any, Final

from msgspec import Struct

from dra_planner.documents.tree import Location, Map, Seq, clone, line_of, new_map, new_seq
from dra_planner.drivers.nvidia import GPU_DRIVER
from dra_planner.errors import Diagnostic, Place
from dra_planner.manifests.objects import KubernetesObject
from dra_planner.manifests.schema import fields_of, recorded_minors
from dra_planner.manifests.setup import config_findings

NAME: Final = "fragment"
"""Replacement for names that a part omits."""

_CLAIM: Final = "ResourceClaim"
_REQUESTS: Final = ("spec", "devices", "requests")
_CONSTRAINTS: Final = ("spec", "devices", "constraints")
_CONFIG: Final = ("spec", "devices", "config")
_EXACTLY: Final = (*_REQUESTS, 0, "exactly")
_CONTAINER: Final = ("spec", "containers", 0)
_CLAIMS_OF_POD: Final = ("spec", "resourceClaims")
_VERSIONS: Final = {
    _CLAIM: "resource.k8s.io/v1",
    "DeviceClass": "resource.k8s.io/v1",
    "Pod": "v1",
    "ResourceQuota": "v1",
}
_FLAT: Final = (
    "deviceClassName",
    "selectors",
    "allocationMode",
    "count",
    "adminAccess",
    "tolerations",
    "capacity",
)
_AROUND: Final = ("jobTemplate", "template", "spec")
"""Levels above the checked part, from workloads and claim templates."""
_OF_PODS: Final = frozenset(
    {
        "containers",
        "initContainers",
        "resourceClaims",
        "nodeSelector",
        "tolerations",
        "affinity",
        "schedulingGates",
        "topologySpreadConstraints",
        "runtimeClassName",
        "priorityClassName",
    }
)
"""Fields that each identify a part of a pod. Other fields of pods also occur in other kinds of
documents.
"""
_OF_NVIDIA: Final = frozenset({"GpuConfig", "MigDeviceConfig", "VfioDeviceConfig"})
"""Kinds of configuration that only the gpu.nvidia.com driver accepts."""
_NEAR: Final = 0.8
_MINOR: Final = max(recorded_minors())


class Whole(Struct, frozen=True):
    """The object that a part belongs to, and remarks about the form of the part."""

    item: KubernetesObject
    remarks: tuple[Diagnostic, ...] = ()


def whole_of(data: Any, place: Place) -> Whole | None:
    """Return the object that a part on a page belongs to, with the omitted fields filled in.

    Supported parts are pods, claims (their requests, selectors, constraints, and configuration),
    and DeviceClasses, also inside `spec` and `template`. Return None for everything else. A part is
    recognized by fields that no other part has. All its fields must be fields of that part, or
    misspelled ones.
    """
    found = _find(data)
    if found is None:
        return None
    kind, path, node = found
    tree: Any = clone(node)
    line = getattr(tree, "line", 0) or place.line
    for key in reversed(path):
        tree = new_seq([tree], line) if isinstance(key, int) else new_map([(key, tree)], line)
    remarks = tuple(_FILL.get(kind, _nothing)(tree, place))
    tree.put("metadata", new_map([("name", NAME)], line), line)
    return Whole(KubernetesObject(_VERSIONS[kind], kind, tree, Place(place.file, line)), remarks)


def setting_findings(data: Any, place: Place, page: str) -> Iterator[Diagnostic]:
    """Yield the feature gates and versions in a part of a cluster configuration that no longer
    work.

    A part with components belongs to kubeadm, and any other part belongs to kind. Pages about Kueue
    aren't checked, because Kueue has feature gates with the same names.
    """
    if not isinstance(data, Map) or "kueue" in page.lower():
        return
    if {"apiServer", "controllerManager", "scheduler"} & set(data):
        item = KubernetesObject("kubeadm.k8s.io/v1beta4", "ClusterConfiguration", data, place)
    elif {"featureGates", "runtimeConfig"} & set(data) and "nodes" not in data:
        item = KubernetesObject("kind.x-k8s.io/v1alpha4", "Cluster", data, place)
    else:
        return
    yield from config_findings(item)


_Found = tuple[str, Location, Any]
"""The kind of the object, the path of the part in the object, and the part."""


def _find(data: Any) -> _Found | None:
    if isinstance(data, Seq):
        paths = {_path_of_item(item) for item in data}
        path = paths.pop() if len(paths) == 1 else None
        return (_kind_at(path), path, data) if path else None
    if not isinstance(data, Map):
        return None
    for level in _AROUND:
        if level in data:
            return _find(data[level])
    for is_one, kind, path in _SHAPES:
        if is_one(data):
            return kind, path, data
    item = _path_of_item(data)
    return (_kind_at(item), (*item, 0), data) if item else None


def _kind_at(path: Location) -> str:
    return "Pod" if path[1] in ("containers", "resourceClaims", "tolerations") else _CLAIM


def _path_of_item(item: Any) -> Location | None:
    """Return the path of the list that an item belongs to, or None if it's unknown."""
    if not isinstance(item, Map):
        return None
    return next((path for is_one, path in _ITEMS if is_one(item)), None)


def _has(*names: str) -> Callable[[Mapping[str, Any]], bool]:
    return lambda data: any(name in data for name in names)


def _are_fields(data: Mapping[str, Any], struct: str) -> bool:
    """Return whether all keys are fields of a type, or misspelled fields."""
    fields = list(fields_of(struct, _MINOR))
    return all(key in fields or get_close_matches(key, fields, 1, _NEAR) for key in data)


def _are_maps(value: Any, *names: str) -> bool:
    return (
        isinstance(value, Seq)
        and bool(value)
        and all(isinstance(each, Map) and _has(*names)(each) for each in value)
    )


def _is_claim(data: Mapping[str, Any]) -> bool:
    devices = data.get("devices")
    return (isinstance(devices, Map) and _is_devices(devices)) or "resourceClassName" in data


def _is_devices(data: Mapping[str, Any]) -> bool:
    parts = {"requests": _is_request, "constraints": _is_constraint, "config": _has("opaque")}
    return bool(data) and all(
        key in parts
        and isinstance(value, Seq)
        and all(isinstance(each, Map) and parts[key](each) for each in value)
        for key, value in data.items()
    )


def _is_request(data: Mapping[str, Any]) -> bool:
    return _has("exactly", "firstAvailable", "deviceClassName")(data) or (
        "name" in data and _near_to(data, ("deviceClassName",))
    )


def _is_constraint(data: Mapping[str, Any]) -> bool:
    return _near_to(data, ("matchAttribute", "distinctAttribute"))


def _near_to(data: Collection[str], names: tuple[str, ...]) -> bool:
    return any(get_close_matches(str(key), names, 1, _NEAR) for key in data)


def _is_exactly(data: Mapping[str, Any]) -> bool:
    return _are_maps(data.get("selectors"), "cel") and set(data) <= set(_FLAT)


def _is_class(data: Mapping[str, Any]) -> bool:
    has_own = "extendedResourceName" in data or (
        _are_maps(data.get("selectors"), "cel") and "config" in data
    )
    return has_own and _are_fields(data, "resource.DeviceClassSpec")


def _is_selector(data: Mapping[str, Any]) -> bool:
    cel = data.get("cel")
    return set(data) == {"cel"} and isinstance(cel, Map) and "expression" in cel


def _is_expression(data: Mapping[str, Any]) -> bool:
    return set(data) == {"expression"} and "device." in str(data["expression"])


def _is_opaque(data: Mapping[str, Any]) -> bool:
    parameters = data.get("parameters")
    return (
        set(data) <= {"driver", "parameters"}
        and isinstance(parameters, Map)
        and "kind" in parameters
    )


def _is_parameters(data: Mapping[str, Any]) -> bool:
    return str(data.get("kind")) in _OF_NVIDIA and "metadata" not in data and "spec" not in data


def _is_affinity(data: Mapping[str, Any]) -> bool:
    return bool(data) and set(data) <= {"nodeAffinity", "podAffinity", "podAntiAffinity"}


def _is_quota(data: Mapping[str, Any]) -> bool:
    return isinstance(data.get("hard"), Map) and set(data) <= {"hard", "scopes", "scopeSelector"}


def _is_pod(data: Mapping[str, Any]) -> bool:
    return bool(_OF_PODS & set(data)) and _are_fields(data, "core.PodSpec")


def _is_container(data: Mapping[str, Any]) -> bool:
    if _is_resources(data.get("resources")):
        return _are_fields(data, "core.Container")
    return {"name", "image"} <= set(data) <= set(fields_of("core.Container", _MINOR))


def _is_resources(data: Any) -> bool:
    """Return whether this is the `resources` field of a container: with claims, or with resources
    that have a domain.
    """
    if not isinstance(data, Map) or not data or not set(data) <= {"limits", "requests", "claims"}:
        return False
    amounts = [data.get(key) for key in ("limits", "requests")]
    return isinstance(data.get("claims"), Seq) or any(
        isinstance(each, Map) and any("/" in str(name) for name in each) for each in amounts
    )


def _is_claim_of_pod(data: Mapping[str, Any]) -> bool:
    source = data.get("source")
    names = ("resourceClaimName", "resourceClaimTemplateName")
    return _has(*names)(data) or (isinstance(source, Map) and _has(*names)(source))


def _is_toleration(data: Mapping[str, Any]) -> bool:
    return (
        {"key", "operator"} <= set(data)
        and "effect" in data
        and _are_fields(data, "core.Toleration")
    )


_SHAPES: Final[tuple[tuple[Callable[[Mapping[str, Any]], bool], str, Location], ...]] = (
    (_is_claim, _CLAIM, ("spec",)),
    (_is_devices, _CLAIM, ("spec", "devices")),
    (_is_class, "DeviceClass", ("spec",)),
    (_is_exactly, _CLAIM, _EXACTLY),
    (_is_expression, _CLAIM, (*_EXACTLY, "selectors", 0, "cel")),
    (_is_opaque, _CLAIM, (*_CONFIG, 0, "opaque")),
    (_is_parameters, _CLAIM, (*_CONFIG, 0, "opaque", "parameters")),
    (_is_pod, "Pod", ("spec",)),
    (_is_affinity, "Pod", ("spec", "affinity")),
    (_is_quota, "ResourceQuota", ("spec",)),
    (_is_resources, "Pod", (*_CONTAINER, "resources")),
)
_ITEMS: Final[tuple[tuple[Callable[[Mapping[str, Any]], bool], Location], ...]] = (
    (_is_request, _REQUESTS),
    (_is_constraint, _CONSTRAINTS),
    (_has("opaque"), _CONFIG),
    (_is_selector, (*_EXACTLY, "selectors")),
    (_is_claim_of_pod, _CLAIMS_OF_POD),
    (_is_toleration, ("spec", "tolerations")),
    (_is_container, ("spec", "containers")),
)


def _nothing(tree: Map, place: Place) -> Iterator[Diagnostic]:
    yield from ()


def _maps(value: Any) -> list[Map]:
    return [each for each in value if isinstance(each, Map)] if isinstance(value, Seq) else []


def _fill_in(node: Map, name: str, value: Any) -> None:
    if name not in node:
        node.put(name, value, node.line)


def _complete_claim(tree: Map, place: Place) -> Iterator[Diagnostic]:
    """Fill in names, classes, and the requests that constraints and configuration refer to. Yield a
    remark if a request has the flat form.
    """
    devices = tree["spec"].get("devices")
    if not isinstance(devices, Map):
        return
    for entry in _maps(devices.get("config")):
        opaque = entry.get("opaque")
        parameters = opaque.get("parameters") if isinstance(opaque, Map) else None
        if (
            isinstance(opaque, Map)
            and isinstance(parameters, Map)
            and str(parameters.get("kind")) in _OF_NVIDIA
        ):
            _fill_in(opaque, "driver", GPU_DRIVER)
    if "requests" not in devices:
        parts = [*_maps(devices.get("constraints")), *_maps(devices.get("config"))]
        lists = [part.get("requests") for part in parts]
        named = [
            name
            for each in lists
            if isinstance(each, Seq)
            for name in each
            if isinstance(name, str)
        ]
        names = dict.fromkeys(name.partition("/")[0] for name in [*named, NAME])
        devices.put(
            "requests",
            new_seq([new_map([("name", name)], devices.line) for name in names]),
            devices.line,
        )
    flat: Map | None = None
    for number, request in enumerate(_maps(devices["requests"])):
        _fill_in(request, "name", f"{NAME}-{number}")
        if set(request) & set(_FLAT) and not {"exactly", "firstAvailable"} & set(request):
            flat = flat or request
            _nest(request)
        if "exactly" not in request and not isinstance(request.get("firstAvailable"), Seq):
            request.put("exactly", new_map(line=request.line), request.line)
        if isinstance(request.get("exactly"), Map):
            _fill_in(request["exactly"], "deviceClassName", NAME)
    if flat is not None:
        message = (
            "this part of a ResourceClaim has the flat form of v1alpha3 and v1beta1, which v1 "
            "doesn't accept"
        )
        fix = "move all fields of the request except its name under `exactly`"
        at = Place(place.file, line_of(flat["exactly"], next(iter(flat["exactly"]))))
        yield Diagnostic("warning", "older-form", message, at, fix)


def _nest(request: Map) -> None:
    """Move the flat fields of a request below `exactly`."""
    names = [name for name in request if name in _FLAT]
    lines = tuple(line_of(request, name) - request.line for name in names)
    nested = new_map([(name, request[name]) for name in names], request.line, lines)
    for name in names:
        request.remove(name)
    request.put("exactly", nested, request.line)


def _complete_pod(tree: Map, place: Place) -> Iterator[Diagnostic]:
    """Fill in containers, names, images, and the claims that containers refer to."""
    spec: Map = tree["spec"]
    _fill_in(spec, "containers", new_seq([new_map(line=spec.line)], spec.line))
    containers = [*_maps(spec["containers"]), *_maps(spec.get("initContainers"))]
    used: dict[str, None] = {}
    for number, container in enumerate(containers):
        _fill_in(container, "name", f"{NAME}-{number}")
        _fill_in(container, "image", NAME)
        resources = container.get("resources")
        claims = _maps(resources.get("claims")) if isinstance(resources, Map) else []
        used |= dict.fromkeys(str(claim["name"]) for claim in claims if "name" in claim)
    if used and "resourceClaims" not in spec:
        entries = [new_map([("name", name)], spec.line) for name in used]
        spec.put("resourceClaims", new_seq(entries, spec.line), spec.line)
    for entry in _maps(spec.get("resourceClaims")):
        if set(entry) == {"name"}:
            entry.put("resourceClaimTemplateName", NAME, entry.line)
    yield from ()


_FILL: Final[dict[str, Callable[[Map, Place], Iterator[Diagnostic]]]] = {
    _CLAIM: _complete_claim,
    "Pod": _complete_pod,
}
