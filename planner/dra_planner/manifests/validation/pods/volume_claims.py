"""Rules of PersistentVolumeClaims, as objects and in pods and StatefulSets."""

from __future__ import annotations

from typing import Any, Final

from dra_planner.manifests.parsing.fields import parse_quantity
from dra_planner.manifests.validation.checks import formatted, needed, pointed_choice
from dra_planner.manifests.validation.fields.formats import dns_label, dns_subdomain
from dra_planner.manifests.validation.fields.metadata import check_template_metadata
from dra_planner.manifests.validation.rules import Data, Scope, StructRules, Table
from dra_planner.manifests.validation.violations import (
    Violations,
    each_invalid,
    forbidden,
    invalid,
    not_supported,
    required,
)

_MODES: Final = ("ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod")
_ALONE: Final = "ReadWriteOncePod"


def _check_modes(value: Any, path: str, scope: Scope) -> Violations:
    modes = [mode or "" for mode in value or ()]
    if not modes:
        yield required(path, "at least 1 access mode is required")
    for mode in modes:
        if mode not in _MODES:
            yield not_supported(path, mode, _MODES)
    if _ALONE in modes and any(mode in _MODES and mode != _ALONE for mode in modes):
        yield forbidden(path, "may not use ReadWriteOncePod with other access modes")


def _check_storage(data: Data, path: str, scope: Scope) -> Violations:
    requests, path = (
        (data.get("resources") or {}).get("requests") or {},
        f"{path}.resources[storage]",
    )
    if "storage" not in requests:
        yield required(path)
    elif parse_quantity(requests["storage"] or 0).sign <= 0:
        yield invalid(path, str(requests["storage"]), "must be greater than zero")


def _check_source(data: Data, path: str, scope: Scope) -> Violations:
    kind, group = data.get("kind") or "", data.get("apiGroup") or ""
    if not group and kind != "PersistentVolumeClaim":
        yield invalid(
            path, kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup"
        )
    if group:
        yield from each_invalid(f"{path}.apiGroup", group, dns_subdomain(group))


def _check_one_source(data: Data, path: str, scope: Scope) -> Violations:
    source, reference = data.get("dataSource"), data.get("dataSourceRef")
    if source is None or reference is None:
        return
    shown = [{key: item.get(key) or "" for key in ("kind", "name")} for item in (source, reference)]
    if shown[0] != shown[1] or source.get("apiGroup") != reference.get("apiGroup"):
        yield invalid(path, "dataSource", "must match dataSourceRef")


def _check_template(data: Data, path: str, scope: Scope) -> Violations:
    yield from check_template_metadata(data.get("metadata") or {}, f"{path}.metadata")


_SOURCE: Final = {"name": needed(), "kind": needed()}
_CLASS: Final = formatted(dns_subdomain)
VOLUME_CLAIMS: Final[Table] = {
    "core.PersistentVolumeClaimTemplate": StructRules(
        whole=(_check_template,), into=lambda data, scope: ("spec",)
    ),
    "core.PersistentVolumeClaimSpec": StructRules(
        fields={
            "accessModes": _check_modes,
            "storageClassName": _CLASS,
            "volumeAttributesClassName": _CLASS,
            "volumeMode": pointed_choice("Block", "Filesystem"),
        },
        whole=(_check_storage, _check_one_source),
    ),
    "core.TypedLocalObjectReference": StructRules(fields=_SOURCE, whole=(_check_source,)),
    "core.TypedObjectReference": StructRules(
        fields={**_SOURCE, "namespace": formatted(dns_label)}, whole=(_check_source,)
    ),
}
