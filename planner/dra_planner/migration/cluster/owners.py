"""The workload that creates a pod, even if several controllers are in between."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from dra_planner.documents.plain_values import blocks, text
from dra_planner.manifests.objects import KubernetesObject


class Owner(Struct, frozen=True, order=True):
    """The object that creates pods. `kind` is Pod for pods without a controller."""

    namespace: str
    name: str
    kind: str
    api_version: str

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}"


class Owners:
    """Finds owners through the references of a snapshot's objects."""

    def __init__(self, objects: Iterable[KubernetesObject]) -> None:
        self._objects = {(item.kind, item.namespace, item.name): item for item in objects}

    def of(self, item: KubernetesObject) -> Owner:
        """Return the topmost controller of an object, which the snapshot might not contain. Without
        a controller, return the object itself.
        """
        seen: set[tuple[str, str, str]] = set()
        found = Owner(item.namespace, item.name, item.kind, item.api_version)
        above: KubernetesObject | None = item
        while above is not None and (reference := _controller(above)) is not None:
            key = (text(reference.get("kind")), item.namespace, text(reference.get("name")))
            if key in seen:
                break
            seen.add(key)
            found = Owner(item.namespace, key[2], key[0], text(reference.get("apiVersion")))
            above = self._objects.get(key)
        return found

    def object_of(self, owner: Owner) -> KubernetesObject | None:
        """Return the owner's object if the snapshot contains it."""
        return self._objects.get((owner.kind, owner.namespace, owner.name))


def _controller(item: KubernetesObject) -> Mapping[str, Any] | None:
    return next(
        (
            each
            for each in blocks(item.metadata, "ownerReferences")
            if each.get("controller") is True
        ),
        None,
    )
