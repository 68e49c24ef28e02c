"""Pod fields that a Kubernetes version drops, because their feature gate is off by default.

Source: kubernetes/kubernetes:pkg/features/kube_features.go@v1.37.0, pkg/api/pod/util.go
(dropDisabledFields).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dra_planner.manifests.schema import ApiType, fields_of

Data = Mapping[str, Any]
NEVER: Final = 1000
"""Stands for the minor version of a gate that is never on by default."""

RESTART_RULES: Final = 35
RESTART_ALL: Final = 36
IMAGE_VOLUMES: Final = 35
STRICT_ADDRESSES: Final = 36
ENVIRONMENT_FILES: Final = 35
ON_SINCE: Final[Mapping[tuple[str, str], int]] = {
    ("core.Container", "restartPolicyRules"): RESTART_RULES,
    ("core.EphemeralContainer", "restartPolicyRules"): RESTART_RULES,
    ("core.EnvVarSource", "fileKeyRef"): ENVIRONMENT_FILES,
    ("core.PodSpec", "hostnameOverride"): 35,
    ("core.PodSpec", "schedulingGroup"): NEVER,
    ("core.PodSpec", "workloadRef"): NEVER,
    ("core.PodSpec", "evictionResponders"): NEVER,
    ("core.VolumeProjection", "clusterTrustBundle"): 37,
    ("core.VolumeProjection", "podCertificate"): 37,
    ("core.Lifecycle", "stopSignal"): NEVER,
    ("core.EmptyDirVolumeSource", "mode"): NEVER,
    ("core.VolumeMount", "bindMountOptions"): NEVER,
    ("core.GRPCAction", "mode"): NEVER,
    ("core.HTTPGetAction", "protocol"): NEVER,
    ("core.SecretVolumeSource", "defaultUser"): NEVER,
    ("core.ConfigMapVolumeSource", "defaultUser"): NEVER,
    ("core.DownwardAPIVolumeSource", "defaultUser"): NEVER,
    ("core.ProjectedVolumeSource", "defaultUser"): NEVER,
    ("core.KeyToPath", "user"): NEVER,
    ("core.DownwardAPIVolumeFile", "user"): NEVER,
    ("core.ServiceAccountTokenProjection", "user"): NEVER,
    ("core.ClusterTrustBundleProjection", "user"): NEVER,
    ("core.PodCertificateProjection", "user"): NEVER,
}
"""The first minor version that keeps a field by default, by struct and field."""


def without_disabled(data: Data, struct: str, minor: int) -> Data:
    """Return a struct without the fields that the version drops, or the same object if it has none
    of them.
    """
    kept = {
        name: _without(value, kind, minor)
        for name, value in data.items()
        if (kind := fields_of(struct, minor).get(name)) is not None
        and ON_SINCE.get((struct, name), 0) <= minor
    }
    if struct in ("core.Container", "core.EphemeralContainer"):
        _drop_lifecycle(kept, data)
    if struct == "core.PodSpec":
        _drop_restart_policies(kept, minor)
        _drop_image_volumes(kept, minor)
    return (
        data if len(kept) == len(data) and all(kept[name] is data[name] for name in kept) else kept
    )


def _without(value: Any, kind: ApiType, minor: int) -> Any:
    if kind.kind == "struct" and isinstance(value, Mapping):
        return without_disabled(value, kind.name, minor)
    if kind.kind == "list" and kind.item is not None and kind.item.kind == "struct" and value:
        made = [_without(item, kind.item, minor) for item in value]
        return value if all(new is old for new, old in zip(made, value, strict=True)) else made
    return value


def _drop_lifecycle(container: dict[str, Any], before: Data) -> None:
    """Remove a lifecycle that is empty after dropping its fields."""
    if before.get("lifecycle") and not container.get("lifecycle"):
        container.pop("lifecycle", None)


def _drop_restart_policies(spec: dict[str, Any], minor: int) -> None:
    """Remove restart policies.

    Before restart rules existed, only init containers could have a policy, with one valid value.
    """
    if minor >= RESTART_RULES:
        return
    for field in ("containers", "initContainers", "ephemeralContainers"):
        listed = spec.get(field) or ()
        kept = [
            {key: value for key, value in item.items() if key != "restartPolicy"}
            if item
            and (field != "initContainers" or item.get("restartPolicy") != "Always")
            and "restartPolicy" in item
            else item
            for item in listed
        ]
        if any(new is not old for new, old in zip(kept, listed, strict=True)):
            spec[field] = kept


def _drop_image_volumes(spec: dict[str, Any], minor: int) -> None:
    """Remove image volumes and their mounts."""
    if minor >= IMAGE_VOLUMES:
        return
    volumes = spec.get("volumes") or ()
    gone = {
        (item or {}).get("name") or "" for item in volumes if (item or {}).get("image") is not None
    }
    if not gone:
        return
    spec["volumes"] = [item for item in volumes if (item or {}).get("image") is None]
    for field in ("containers", "initContainers", "ephemeralContainers"):
        if spec.get(field):
            spec[field] = [_without_mounts(item or {}, gone) for item in spec[field]]


def _without_mounts(container: Data, gone: set[str]) -> Data:
    mounts = [
        item
        for item in container.get("volumeMounts") or ()
        if ((item or {}).get("name") or "") not in gone
    ]
    return {**container, "volumeMounts": mounts}
