"""Kubeflow Profiles, for which a controller creates a namespace of the same name, with service
accounts and a quota.

Source: kubeflow/dashboard:components/profile-controller/controllers/profile_controller.go@063d073.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from dra_planner.documents.tree import new_map
from dra_planner.manifests.objects import KubernetesObject

PROFILE: Final = ("kubeflow.org", "Profile")
SERVICE_ACCOUNTS: Final = ("default-editor", "default-viewer")
_QUOTA: Final = "kf-resource-quota"


def quota_of_profile(item: KubernetesObject) -> KubernetesObject | None:
    """Return the ResourceQuota of a Profile, or None if the Profile doesn't limit any resource."""
    profile = item.data.get("spec")
    spec = profile.get("resourceQuotaSpec") if isinstance(profile, Mapping) else None
    if not isinstance(spec, Mapping) or not spec.get("hard"):
        return None
    line = item.place.line
    metadata = new_map((("name", _QUOTA), ("namespace", item.name)), line)
    fields = (
        ("apiVersion", "v1"),
        ("kind", "ResourceQuota"),
        ("metadata", metadata),
        ("spec", spec),
    )
    return KubernetesObject("v1", "ResourceQuota", new_map(fields, line), item.place)
