"""Older forms of DRA manifests, rewritten as `resource.k8s.io/v1`.

Documents that need no change keep every byte. In v1beta2 only the version differs, so a document keeps its comments;
the others are written anew below their leading comments.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

import yaml

from dra_planner.documents.scalars import resolve_plain
from dra_planner.documents.stream import split_stream
from dra_planner.documents.yaml_reader import Fault, read_yaml
from dra_planner.sources import Source

GROUP: Final = "resource.k8s.io"
V1: Final = f"{GROUP}/v1"
_FLAT: Final = ("deviceClassName", "selectors", "allocationMode", "count", "adminAccess", "tolerations", "capacity")
_VERSION_LINE: Final = re.compile(r"^(\s*apiVersion:\s*)[\"']?resource\.k8s\.io/v1beta2[\"']?", re.MULTILINE)
_GONE: Final = {
    "PodSchedulingContext": "scheduling needs no such object any more",
    "PodScheduling": "scheduling needs no such object any more",
    "ResourceClaimParameters": "write what it asks for as selectors of the claim's request",
    "ResourceClassParameters": "write it as spec.config of the DeviceClass",
}


def rewrite(source: Source) -> str:
    """Return a source's text with every older form of a DRA manifest in the form of v1.

    What has no v1 form is left out, and a comment in its place says what to do. Documents that cannot be read stay
    as they are.
    """
    parts = list(split_stream(source.text))
    written = [_rewrite_document(text) for text, _ in parts]
    if all(new == text for new, (text, _) in zip(written, parts, strict=True)):
        return source.text
    return "".join(separator + new for new, (_, separator) in zip(written, parts, strict=True))


def _rewrite_document(text: str) -> str:
    try:
        data, _ = read_yaml(text)
    except Fault:
        return text
    if not isinstance(data, dict):
        return text
    if data.get("apiVersion") == f"{GROUP}/v1beta2":
        return _VERSION_LINE.sub(rf"\g<1>{V1}", text)
    remarks: list[str] = []
    new = _rewrite(_plain(data), remarks)
    if new == data and not remarks:
        return text
    comments = [f"# {remark}\n" for remark in remarks]
    return _leading_comments(text) + "".join(comments) + (_dump(new) if new is not None else "")


def _rewrite(data: dict[str, Any], remarks: list[str]) -> dict[str, Any] | None:
    """Return an object in today's form; None where there is none."""
    if str(data.get("kind", "")).endswith("List") and isinstance(data.get("items"), list):
        items = [_rewrite(item, remarks) if isinstance(item, dict) else item for item in data["items"]]
        return {**data, "items": [item for item in items if item is not None]}
    group, _, version = str(data.get("apiVersion", "")).rpartition("/")
    if group != GROUP:
        moved: dict[str, Any] = _without_source(data)
        return moved
    kind = str(data.get("kind", ""))
    if kind in _GONE:
        remarks.append(f"{kind} {_mapping(data.get('metadata')).get('name', '')} has no form in v1: {_GONE[kind]}")
        return None
    change = _CHANGES.get((version, kind))
    return data if change is None else {**change(data, remarks), "apiVersion": V1}


def _claim(data: dict[str, Any], remarks: list[str]) -> dict[str, Any]:
    return {**data, "spec": _claim_spec(_mapping(data.get("spec")))}


def _template(data: dict[str, Any], remarks: list[str]) -> dict[str, Any]:
    spec = _mapping(data.get("spec"))
    return {**data, "spec": {**spec, "spec": _claim_spec(_mapping(spec.get("spec")))}}


def _claim_spec(spec: dict[str, Any]) -> dict[str, Any]:
    """Put flat requests below `exactly`; `controller` is gone."""
    spec = {key: value for key, value in spec.items() if key != "controller"}
    devices = spec.get("devices")
    if not isinstance(devices, dict) or not isinstance(devices.get("requests"), list):
        return spec
    requests = [_request(item) if isinstance(item, dict) else item for item in devices["requests"]]
    return {**spec, "devices": {**devices, "requests": requests}}


def _request(request: dict[str, Any]) -> dict[str, Any]:
    flat = {key: request[key] for key in request if key in _FLAT}
    if not flat:
        return request
    rest = {key: value for key, value in request.items() if key not in _FLAT}
    return {**rest, "exactly": {**flat, **_mapping(rest.get("exactly"))}}


def _class(data: dict[str, Any], remarks: list[str]) -> dict[str, Any]:
    spec = {key: value for key, value in _mapping(data.get("spec")).items() if key != "suitableNodes"}
    if "suitableNodes" in _mapping(data.get("spec")):
        remarks.append("suitableNodes is gone: which nodes suit follows from their devices")
    return {**data, "spec": spec}


def _slice(data: dict[str, Any], remarks: list[str]) -> dict[str, Any]:
    spec = _mapping(data.get("spec"))
    devices = [
        {**{key: value for key, value in device.items() if key != "basic"}, **_mapping(device.get("basic"))}
        if isinstance(device, dict)
        else device
        for device in _list(spec.get("devices"))
    ]
    return {**data, "spec": {**spec, **({"devices": devices} if devices else {})}}


def _resource_class(data: dict[str, Any], remarks: list[str]) -> dict[str, Any]:
    """A class of v1alpha2 named a driver; a selector on the driver says the same."""
    driver = str(data.get("driverName", ""))
    if data.get("parametersRef"):
        remarks.append("parametersRef has no form in v1: write the parameters as spec.config")
    selectors = [{"cel": {"expression": f'device.driver == "{driver}"'}}]
    return {"apiVersion": V1, "kind": "DeviceClass", "metadata": data.get("metadata"), "spec": {"selectors": selectors}}


def _classic_claim(data: dict[str, Any], remarks: list[str]) -> dict[str, Any]:
    return {**data, "spec": _classic_spec(_mapping(data.get("spec")), remarks)}


def _classic_template(data: dict[str, Any], remarks: list[str]) -> dict[str, Any]:
    spec = _mapping(data.get("spec"))
    return {**data, "spec": {**spec, "spec": _classic_spec(_mapping(spec.get("spec")), remarks)}}


def _classic_spec(spec: dict[str, Any], remarks: list[str]) -> dict[str, Any]:
    """A claim of v1alpha2 asked for one device of a class."""
    parameters = spec.get("parametersRef")
    if isinstance(parameters, dict):
        name = f"{parameters.get('kind', '')} {parameters.get('name', '')}".strip()
        remarks.append(f"parametersRef {name} has no form in v1: write what it asks for as selectors below")
    exactly = {"deviceClassName": spec.get("resourceClassName", "")}
    return {"devices": {"requests": [{"name": "device", "exactly": exactly}]}}


_CHANGES: Final[dict[tuple[str, str], Callable[[dict[str, Any], list[str]], dict[str, Any]]]] = {
    **{
        (version, kind): change
        for version in ("v1alpha3", "v1beta1", "v1beta2", "v1")
        for kind, change in (
            ("ResourceClaim", _claim),
            ("ResourceClaimTemplate", _template),
            ("DeviceClass", _class),
            ("ResourceSlice", _slice),
        )
    },
    ("v1alpha2", "ResourceClass"): _resource_class,
    ("v1alpha2", "ResourceClaim"): _classic_claim,
    ("v1alpha2", "ResourceClaimTemplate"): _classic_template,
}


def _without_source(value: Any) -> Any:
    """Put what stood below `source` in a pod's claims, until 1.30, into the entry itself."""
    if isinstance(value, list):
        return [_without_source(item) for item in value]
    if not isinstance(value, dict):
        return value
    found = {key: _without_source(item) for key, item in value.items()}
    entries = found.get("resourceClaims")
    if isinstance(entries, list):
        found["resourceClaims"] = [_entry(entry) for entry in entries]
    return found


def _entry(entry: Any) -> Any:
    if not isinstance(entry, dict) or not isinstance(entry.get("source"), dict):
        return entry
    return {**{key: value for key, value in entry.items() if key != "source"}, **entry["source"]}


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _leading_comments(text: str) -> str:
    lines = []
    for line in text.splitlines(keepends=True):
        if line.strip() and not line.lstrip().startswith("#"):
            break
        lines.append(line)
    return "".join(lines)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value


class _Dumper(yaml.SafeDumper):
    """Writes blocks, indented lists, and quotes around what kubectl would not read as text."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _write_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    if "\n" in text.rstrip("\n") and not re.search(r"[ \t]\n", text):
        return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|")
    style = None if resolve_plain(text) == text else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _write_text)


def _dump(data: dict[str, Any]) -> str:
    text: str = yaml.dump(
        data, Dumper=_Dumper, sort_keys=False, width=120, allow_unicode=True, default_flow_style=False
    )
    return text
