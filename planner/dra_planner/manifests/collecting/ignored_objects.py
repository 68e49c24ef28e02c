"""Objects that planning ignores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from dra_planner.manifests.manifests import UnreadObject
from dra_planner.manifests.objects import KubernetesObject
from dra_planner.manifests.workloads.unread_objects import is_known, unread_object


class IgnoredObjects:
    """The number of ignored objects by kind, ignored objects that might create pods with devices,
    and the unknown kinds of the others.
    """

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self.unread: list[UnreadObject] = []
        self.unknown: set[str] = set()

    def count(self, item: KubernetesObject, state: str = "") -> None:
        """Count an object, with its state if the state is the reason for ignoring it."""
        title = f"{item.api_version} {item.kind}"
        self._counts[f"{title} ({state})" if state else title] += 1

    def add_unread(self, item: KubernetesObject) -> None:
        """Record an object if it might create pods with devices, or its kind if it's unknown."""
        unread = unread_object(item)
        if unread is not None:
            self.unread.append(unread)
        elif not is_known(item):
            self.unknown.add(f"{item.kind} ({item.group})")

    def kinds(self, read_after_all: Iterable[KubernetesObject]) -> dict[str, int]:
        """Return the number of ignored objects of each kind, except objects that might create
        pods.
        """
        known = Counter(f"{item.api_version} {item.kind}" for item in read_after_all)
        return dict(sorted((self._counts - known).items()))
