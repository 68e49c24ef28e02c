"""Rules of volume mounts and block devices of containers."""

from __future__ import annotations

from typing import Any, Final

from dra_planner.manifests.validation.checks import pointed_choice
from dra_planner.manifests.validation.fields.formats import descending_path, without_backsteps
from dra_planner.manifests.validation.rules import Data, Scope, each
from dra_planner.manifests.validation.violations import (
    Violations,
    each_invalid,
    forbidden,
    invalid,
    not_found,
    not_supported,
    required,
)

_PROPAGATION: Final = pointed_choice("Bidirectional", "HostToContainer", "None")
_READ_ONLY: Final = ("Disabled", "Enabled", "IfPossible")


def check_mounts(value: Any, path: str, scope: Scope) -> Violations:
    """Yield the errors in the mounts of a container. The server reports errors in sub-paths and
    propagation at the list.
    """
    devices = {
        item.get("name") or "": item.get("devicePath") or ""
        for item, _ in each(scope.container.get("volumeDevices"), "")
    }
    taken: set[str] = set()
    for item, where in each(value, path):
        name, mounted = item.get("name") or "", item.get("mountPath") or ""
        if not name:
            yield required(f"{where}.name")
        if name not in scope.pod.volumes:
            yield not_found(f"{where}.name", name)
        if not mounted:
            yield required(f"{where}.mountPath")
        if mounted in taken:
            yield invalid(f"{where}.mountPath", mounted, "must be unique")
        taken.add(mounted)
        if name in devices:
            yield invalid(f"{where}.name", name, "must not already exist in volumeDevices")
        if mounted in devices.values():
            yield invalid(
                f"{where}.mountPath", mounted, "must not already exist as a path in volumeDevices"
            )
        yield from _check_sub_paths(item, path, where)
        yield from _check_propagation(item, path, scope)


def _check_sub_paths(data: Data, path: str, where: str) -> Violations:
    plain, expression = data.get("subPath") or "", data.get("subPathExpr") or ""
    if plain:
        yield from each_invalid(f"{path}.subPath", plain, descending_path(plain))
    if expression:
        if plain:
            yield invalid(
                f"{where}.subPathExpr", expression, "subPathExpr and subPath are mutually exclusive"
            )
        yield from each_invalid(f"{path}.subPathExpr", expression, descending_path(expression))


def _check_propagation(data: Data, path: str, scope: Scope) -> Violations:
    propagation, read_only = data.get("mountPropagation"), data.get("recursiveReadOnly")
    yield from _PROPAGATION(propagation, f"{path}.mountPropagation", scope)
    privileged = (scope.container.get("securityContext") or {}).get("privileged") is True
    if propagation == "Bidirectional" and not privileged:
        detail = "Bidirectional mount propagation is available only to privileged containers"
        yield forbidden(f"{path}.mountPropagation", detail)
    if read_only is None:
        return
    path = f"{path}.recursiveReadOnly"
    if read_only not in _READ_ONLY:
        yield not_supported(path, read_only, _READ_ONLY)
    elif read_only != "Disabled":
        if not data.get("readOnly"):
            yield forbidden(path, "may only be specified when readOnly is true")
        if propagation is not None and propagation != "None":
            yield forbidden(
                path, "may only be specified when mountPropagation is None or not specified"
            )


def check_devices(value: Any, path: str, scope: Scope) -> Violations:
    """Yield the errors in the block devices of a container."""
    mounts = {
        item.get("name") or "": item.get("mountPath") or ""
        for item, _ in each(scope.container.get("volumeMounts"), "")
    }
    names: set[str] = set()
    paths: set[str] = set()
    for item, where in each(value, path):
        name, device = item.get("name") or "", item.get("devicePath") or ""
        volume = scope.pod.volumes.get(name)
        if not name:
            yield required(f"{where}.name")
        if name in names:
            yield invalid(f"{where}.name", name, "must be unique")
        if volume is None:
            yield not_found(f"{where}.name", name)
        elif volume.get("persistentVolumeClaim") is None and volume.get("ephemeral") is None:
            detail = (
                "can only use volume source type of PersistentVolumeClaim or Ephemeral for "
                "block mode"
            )
            yield invalid(f"{where}.name", name, detail)
        if not device:
            yield required(f"{where}.devicePath")
        if device in paths:
            yield invalid(f"{where}.devicePath", device, "must be unique")
        if without_backsteps(device):
            yield invalid(f"{where}.devicePath", device, "can not contain backsteps ('..')")
        else:
            paths.add(device)
        if name in mounts:
            yield invalid(f"{where}.name", name, "must not already exist in volumeMounts")
        if device in mounts.values():
            yield invalid(
                f"{where}.devicePath", device, "must not already exist as a path in volumeMounts"
            )
        if name:
            names.add(name)
