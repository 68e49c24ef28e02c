"""Kubernetes objects: documents with a kind, and the items of lists."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import force_setattr, replace

from dra_planner.documents.tree import Map, child, clone, new_map
from dra_planner.errors import ManifestError, Place
from dra_planner.manifests.documents import ManifestDocument
from dra_planner.model import ObjectKey
from dra_planner.records import equality

CLUSTER_SCOPED: Final = frozenset(
    {"DeviceClass", "ResourceSlice", "Node", "Namespace", "PriorityClass", "RuntimeClass"}
)

_WITHOUT_NAMESPACE: Final = CLUSTER_SCOPED | {
    "DeviceTaintRule",
    "PersistentVolume",
    "StorageClass",
    "ClusterQueue",
    "ResourceFlavor",
    "Topology",
    "CustomResourceDefinition",
    "ClusterRole",
    "ClusterRoleBinding",
}
"""Kinds that messages name without a namespace."""
VERSIONS: Final = {
    **dict.fromkeys(
        ("ResourceClaim", "ResourceClaimTemplate", "DeviceClass", "ResourceSlice"),
        "resource.k8s.io/v1",
    ),
    **dict.fromkeys(("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"), "apps/v1"),
    **dict.fromkeys(("Job", "CronJob"), "batch/v1"),
    **dict.fromkeys(("Pod", "ConfigMap", "Namespace", "Service", "ResourceQuota"), "v1"),
}
"""The API version of kinds that are often written without one."""


@equality(ignored=("group", "metadata", "name", "namespace", "key"))
class KubernetesObject(Struct, frozen=True):
    """An object in API form, with its place. Paths are relative to the object.

    `data` determines all fields from `group` on. `key` is the object's key, with an empty namespace
    for cluster-scoped kinds.
    """

    api_version: str
    kind: str
    data: Mapping[str, Any]
    place: Place
    group: str = ""
    metadata: Mapping[str, Any] = {}
    name: str = ""
    namespace: str = ""
    key: ObjectKey = ObjectKey("", "")

    def __post_init__(self) -> None:
        found = self.data.get("metadata")
        metadata = found if isinstance(found, dict) else {}
        name = str(metadata.get("name") or metadata.get("generateName") or "")
        namespace = str(metadata.get("namespace") or "default")
        force_setattr(self, "group", self.api_version.rpartition("/")[0])
        force_setattr(self, "metadata", metadata)
        force_setattr(self, "name", name)
        force_setattr(self, "namespace", namespace)
        force_setattr(
            self, "key", ObjectKey("" if self.kind in CLUSTER_SCOPED else namespace, name)
        )

    def with_data(self, data: Mapping[str, Any]) -> KubernetesObject:
        """Return the object with other content."""
        return self if data is self.data else replace(self, data=data)

    def __str__(self) -> str:
        return f"{self.kind} {self.full_name}" if self.name else self.kind

    @property
    def full_name(self) -> str:
        """The name, with the namespace of an object that has one."""
        return self.name if self.kind in _WITHOUT_NAMESPACE else str(self.key)


def read_objects(documents: Iterable[ManifestDocument]) -> list[KubernetesObject]:
    """Return the objects of all documents, with the items of each List. Raises ManifestError for
    documents that aren't objects. `others` contains all errors after the first.
    """
    objects: list[KubernetesObject] = []
    errors: list[ManifestError] = []
    for document in documents:
        try:
            found = _objects(document.data, document.place)
            objects.extend(
                found
                if not document.namespace
                else (_in(document.namespace, each) for each in found)
            )
        except ManifestError as error:
            errors += [
                error,
                *(other for other in error.others if isinstance(other, ManifestError)),
            ]
    if errors:
        first, *others = errors
        raise ManifestError(first.message, place=first.place, fix=first.fix, others=tuple(others))
    return objects


def _in(namespace: str, item: KubernetesObject) -> KubernetesObject:
    """Return the object as kubectl sends it with `-n`. An object of a namespaced kind without a
    namespace gets this one. Source: kubernetes/cli-runtime:pkg/resource/visitor.go@v0.34.0
    (SetNamespace).
    """
    if (
        item.kind in CLUSTER_SCOPED
        or item.metadata.get("namespace")
        or not isinstance(item.data, Map)
    ):
        return item
    whole, metadata = clone(item.data), item.metadata
    given = clone(metadata) if isinstance(metadata, Map) else new_map(())
    given.put("namespace", namespace, item.place.line)
    whole.put("metadata", given, item.place.line)
    return item.with_data(whole)


def _objects(data: Any, place: Place) -> Iterator[KubernetesObject]:
    if not isinstance(data, Mapping):
        raise ManifestError(f"is {_a(data)}, not a Kubernetes object", place=place, fix=_hint(data))
    api_version, kind = _identity(data, place)
    items = data.get("items")
    if not kind.endswith("List") or (items is not None and not isinstance(items, list)):
        yield KubernetesObject(api_version, kind, data, place)
        return
    where = child(place, data, "items")
    for index, item in enumerate(items or ()):
        at = Place(place.file, child(where, items, index).line)
        if isinstance(item, Mapping) and kind != "List":
            item = _typed_item(item, api_version, kind.removesuffix("List"))
        yield from _objects(item, at)


def _typed_item(item: Any, api_version: str, kind: str) -> Any:
    """Return an item with the kind of its list, because items of a PodList and similar lists can
    omit it.
    """
    missing = {
        name: value
        for name, value in (("apiVersion", api_version), ("kind", kind))
        if name not in item
    }
    if not missing:
        return item
    whole = clone(item) if isinstance(item, Map) else new_map(item.items())
    for name, value in missing.items():
        whole.put(name, value, whole.line)
    return whole


def _identity(data: Mapping[str, Any], place: Place) -> tuple[str, str]:
    for name in ("apiVersion", "kind"):
        value = data.get(name)
        if value is None or value == "":
            raise ManifestError(f"{name} isn't set", place=place, fix=_missing(name, data))
        if not isinstance(value, str):
            raise ManifestError(
                f"{name} is {_a(value)}",
                place=child(place, data, name),
                fix="put the value in quotes",
            )
    # An empty group is the core group: "/v1" is "v1"
    # (kubernetes/apimachinery:pkg/runtime/schema/group_version.go).
    return data["apiVersion"].removeprefix("/"), data["kind"]


def _missing(field: str, data: Mapping[str, Any]) -> str:
    if "apiVersion" not in data and "kind" not in data:
        return "pass a folder or file with Kubernetes manifests instead of this file"
    if field == "apiVersion":
        kind = data.get("kind")
        return (
            f"set the API version of {kind}, for example apiVersion: "
            f"{VERSIONS.get(str(kind), 'GROUP/VERSION')}"
        )
    return "set the object's kind, for example kind: ResourceClaim"


def _a(value: Any) -> str:
    if isinstance(value, list):
        return "a list"
    if isinstance(value, bool):
        return "a boolean"
    return "a number" if isinstance(value, int | float) else "a string"


def _hint(value: Any) -> str:
    if isinstance(value, list):
        return (
            "separate the objects with ---, or put them under `items` in an object with kind: List"
        )
    return "add apiVersion: and kind: to each object"
