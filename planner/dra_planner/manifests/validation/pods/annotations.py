"""Rules of annotations that previously replaced fields of pods."""

from __future__ import annotations

import re
from typing import Any, Final

from dra_planner.manifests.validation.fields.formats import descending_path
from dra_planner.manifests.validation.pods.security import containers_of
from dra_planner.manifests.validation.rules import Data, Scope
from dra_planner.manifests.validation.violations import Violations, each_invalid, forbidden, invalid

_SECCOMP_POD: Final = "seccomp.security.alpha.kubernetes.io/pod"
_SECCOMP_CONTAINER: Final = "container.seccomp.security.alpha.kubernetes.io/"
_APP_ARMOR: Final = "container.apparmor.security.beta.kubernetes.io/"
_DELETION_COST: Final = "controller.kubernetes.io/pod-deletion-cost"
_MIRROR: Final = "kubernetes.io/config.mirror"
_COST: Final = re.compile(r"0|-?[1-9][0-9]*", re.ASCII)
_LOCALHOST: Final = "localhost/"
_FIXED: Final = {
    "RuntimeDefault": ("runtime/default", "docker/default"),
    "Unconfined": ("unconfined",),
}


def check_pod_annotations(annotations: Data, path: str, scope: Scope) -> Violations:
    """Yield the errors in the annotations of a pod that the server reads."""
    spec = scope.pod.spec
    if _MIRROR in annotations and not spec.get("nodeName"):
        detail = "must set spec.nodeName if mirror pod annotation is set"
        yield invalid(f"{path}[{_MIRROR}]", annotations[_MIRROR], detail)
    cost = annotations.get(_DELETION_COST)
    if cost is not None and not (_COST.fullmatch(cost) and -(2**31) <= int(cost) < 2**31):
        yield invalid(f"{path}[{_DELETION_COST}]", cost, "must be a 32bit integer")
    names = {item.get("name") or "" for item, _ in containers_of(spec, "")}
    for key, value in annotations.items():
        text = value or ""
        if key == _SECCOMP_POD or key.startswith(_SECCOMP_CONTAINER):
            yield from _check_seccomp(text, f"{path}.{key}")
        elif key.startswith(_APP_ARMOR):
            yield from _check_app_armor(key, text, names, f"{path}[{key}]")


def _check_seccomp(text: str, path: str) -> Violations:
    if text in ("runtime/default", "docker/default", "unconfined"):
        return
    if text.startswith(_LOCALHOST):
        profile = text.removeprefix(_LOCALHOST)
        yield from each_invalid(path, profile, descending_path(profile))
    else:
        yield invalid(path, text, "must be a valid seccomp profile")


def _check_app_armor(key: str, text: str, names: set[str], path: str) -> Violations:
    container = key.removeprefix(_APP_ARMOR)
    if container not in names:
        yield invalid(path, container, "container not found")
    if text not in ("", "runtime/default", "unconfined") and not text.startswith(_LOCALHOST):
        yield invalid(path, text, f'invalid AppArmor profile name: "{text}"')


def check_profiles_match(spec: Data, path: str, scope: Scope) -> Violations:
    """Yield differences between an annotation and the equivalent field."""
    annotations = scope.pod.annotations
    if not any(".security." in key for key in annotations):
        return
    own = spec.get("securityContext") or {}
    yield from _compare(
        own.get("seccompProfile"),
        annotations.get(_SECCOMP_POD),
        f"{path}.securityContext.seccompProfile",
    )
    for item, where in containers_of(spec, path):
        inner, name = item.get("securityContext") or {}, item.get("name") or ""
        there = f"{where}.securityContext"
        yield from _compare(
            inner.get("seccompProfile"),
            annotations.get(_SECCOMP_CONTAINER + name),
            f"{there}.seccompProfile",
        )
        if scope.pod.os_name != "windows":
            profile = inner.get("appArmorProfile") or own.get("appArmorProfile")
            yield from _compare(
                profile, annotations.get(_APP_ARMOR + name), f"{there}.appArmorProfile"
            )


def _compare(field: Any, annotation: Any, path: str) -> Violations:
    if field is None or annotation is None:
        return
    kind = field.get("type")
    if (kind in _FIXED and annotation not in _FIXED[kind]) or (
        kind == "Localhost" and not annotation.startswith(_LOCALHOST)
    ):
        yield forbidden(f"{path}.type", "type in annotation and field must match")
    elif kind == "Localhost" and annotation.removeprefix(_LOCALHOST) != field.get(
        "localhostProfile"
    ):
        yield forbidden(f"{path}.localhostProfile", "profile in annotation and field must match")
