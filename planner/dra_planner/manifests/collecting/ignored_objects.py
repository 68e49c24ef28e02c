"""Objects that planning ignores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from dra_planner.manifests.manifests import UnreadObject
from dra_planner.manifests.objects import KubernetesObject
from dra_planner.manifests.workloads.unread_objects import (
    is_known,
    object_of_unclear_kind,
    unread_object,
)


class IgnoredObjects:
    """The number of ignored objects by kind, ignored objects that might create pods, and the
    unknown kinds of the others.
    """

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._unread: list[UnreadObject] = []
        self.unclear: list[UnreadObject] = []
        self.unknown: set[str] = set()

    def count(self, item: KubernetesObject, state: str = "") -> None:
        """Count an object, with its state if the state is the reason for ignoring it."""
        title = f"{item.api_version} {item.kind}"
        self._counts[f"{title} ({state})" if state else title] += 1

    def add_unread(self, item: KubernetesObject) -> None:
        """Record an object if it might create pods, or its kind if it's unknown."""
        unread = unread_object(item)
        if unread is not None:
            self._unread.append(unread)
        elif (unclear := object_of_unclear_kind(item)) is not None:
            self.unclear.append(unclear)
        elif not is_known(item):
            self.unknown.add(f"{item.kind} ({item.group})")

    def unread(self, *, beside_workloads: bool) -> tuple[UnreadObject, ...]:
        """Return the objects without which the verdict can't be known. Beside workloads, objects
        of unclear kinds aren't among them, because the verdict is about these workloads.
        """
        return (*self._unread, *(() if beside_workloads else self.unclear))

    def kinds(self, read_after_all: Iterable[KubernetesObject]) -> dict[str, int]:
        """Return the number of ignored objects of each kind, except objects that might create
        pods.
        """
        known = Counter(f"{item.api_version} {item.kind}" for item in read_after_all)
        return dict(sorted((self._counts - known).items()))
