"""Fields that can't change in an existing object.

Source: kubernetes/kubernetes:pkg/apis/{resource,core,apps,batch}/validation@v1.36.3 (…Update
functions).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dra_planner.manifests.validation.violations import Violations, forbidden, invalid

Data = Mapping[str, Any]
_IMMUTABLE: Final = "field is immutable"
_POD_FIELDS: Final = (
    "activeDeadlineSeconds",
    "tolerations",
    "terminationGracePeriodSeconds",
    "schedulingGates",
)
_POD_CHANGE: Final = (
    "pod updates may not change fields other than "
    "`spec.containers[*].image`,`spec.initContainers[*].image`,"
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)
_STATEFUL_FIELDS: Final = frozenset({
    "replicas", "ordinals", "template", "updateStrategy", "revisionHistoryLimit", "minReadySeconds",
    "persistentVolumeClaimRetentionPolicy",
})  # fmt: skip
_FIXED: Final = {
    "ResourceClaim": ("spec",),
    "ResourceClaimTemplate": ("spec",),
    "ResourceSlice": ("spec.pool.name", "spec.driver", "spec.nodeName"),
    "Deployment": ("spec.selector",),
    "ReplicaSet": ("spec.selector",),
    "DaemonSet": ("spec.selector",),
    "Job": ("spec.selector", "spec.template", "spec.completionMode"),
}


def check_update(kind: str, new: Data, old: Data) -> Violations:
    """Yield the changes that the server rejects. Both objects are in stored form."""
    for path in _FIXED.get(kind, ()):
        before, after = _at(old, path), _at(new, path)
        if _plain(before) != _plain(after):
            yield invalid(path, after, _IMMUTABLE)
    if kind == "Pod" and _pod_rest(new) != _pod_rest(old):
        yield forbidden("spec", _POD_CHANGE)
    if kind == "StatefulSet":
        before, after = (_without(item.get("spec") or {}, _STATEFUL_FIELDS) for item in (old, new))
        if before != after:
            fields = ", ".join(f"'{name}'" for name in sorted(_STATEFUL_FIELDS))
            yield forbidden(
                "spec", f"updates to statefulset spec for fields other than {fields} are forbidden"
            )


def _at(data: Any, path: str) -> Any:
    for key in path.split("."):
        data = data.get(key) if isinstance(data, Mapping) else None
    return data


def _plain(value: Any) -> Any:
    """Return a value without empty parts, so that `{}` equals a missing value."""
    if isinstance(value, Mapping):
        kept = {key: _plain(item) for key, item in value.items()}
        return {key: item for key, item in kept.items() if item not in (None, {}, [])} or None
    if isinstance(value, list):
        return [_plain(item) for item in value] or None
    return value


def _without(spec: Data, fields: frozenset[str]) -> Any:
    return _plain({key: value for key, value in spec.items() if key not in fields})


def _pod_rest(pod: Data) -> Any:
    spec = dict(pod.get("spec") or {})
    for field in ("containers", "initContainers"):
        listed = spec.get(field) or ()
        spec[field] = [{**(item or {}), "image": None, "resources": None} for item in listed]
    return _without(spec, frozenset(_POD_FIELDS))
