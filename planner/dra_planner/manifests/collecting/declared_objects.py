"""Names of objects to which pods refer, and that planning doesn't read otherwise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from dra_planner.documents.plain_values import block, blocks
from dra_planner.manifests.collecting.kubeflow_profiles import PROFILE, SERVICE_ACCOUNTS
from dra_planner.manifests.objects import KubernetesObject
from dra_planner.model import ObjectKey

_KINDS: Final = frozenset({"ConfigMap", "PersistentVolumeClaim", "Secret", "ServiceAccount"})
_MAKERS: Final[Mapping[str, tuple[str, ...]]] = {
    "Certificate": ("spec", "secretName"),
    "ExternalSecret": ("spec", "target", "name"),
    "SealedSecret": ("spec", "template", "metadata", "name"),
    "VaultStaticSecret": ("spec", "destination", "name"),
    "VaultDynamicSecret": ("spec", "destination", "name"),
}
"""Kinds whose controllers create a Secret, and the field that names it; by default it has the
name of the object.
"""


class DeclaredObjects:
    """The ConfigMaps, PersistentVolumeClaims, Secrets, ServiceAccounts, and StorageClasses of the
    manifests, and the namespaces of Profiles.
    """

    def __init__(self) -> None:
        self.names: set[tuple[str, ObjectKey]] = set()

    def note(self, item: KubernetesObject) -> None:
        """Store the names that an object declares."""
        is_class = (item.group, item.kind) == ("storage.k8s.io", "StorageClass")
        if is_class or (not item.group and item.kind in _KINDS):
            self.names.add((item.kind, item.key))
        elif item.kind in _MAKERS:
            for name in {item.name, *_at(item.data, _MAKERS[item.kind])}:
                self.names.add(("Secret", ObjectKey(item.namespace, name)))
        elif item.kind == "ClusterServiceVersion":
            accounts = _accounts_of_bundle(item.data)
            self.names |= {("ServiceAccount", ObjectKey(item.namespace, each)) for each in accounts}
        elif (item.group, item.kind) == PROFILE:
            self.names.add(("Namespace", ObjectKey("", item.name)))
            self.names |= {
                ("ServiceAccount", ObjectKey(item.name, each)) for each in SERVICE_ACCOUNTS
            }


def _at(data: Any, path: tuple[str, ...]) -> Iterator[str]:
    for key in path:
        data = data.get(key) if isinstance(data, Mapping) else None
    if isinstance(data, str):
        yield data


def _accounts_of_bundle(data: Any) -> Iterator[str]:
    """Yield the ServiceAccounts that the Operator Lifecycle Manager creates for a bundle. Source:
    operator-framework/api:pkg/operators/v1alpha1/clusterserviceversion_types.go@v0.35.
    """
    install = block(block(block(data, "spec"), "install"), "spec")
    for key in ("permissions", "clusterPermissions"):
        for permission in blocks(install, key):
            yield str(permission.get("serviceAccountName"))
