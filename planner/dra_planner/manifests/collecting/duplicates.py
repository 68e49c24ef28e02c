"""Objects with the same name. Only the first one in document order counts."""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.errors import Diagnostic, Severity
from dra_planner.manifests.folder_variants import alternative_notes
from dra_planner.manifests.objects import KubernetesObject
from dra_planner.model import ObjectKey
from dra_planner.sources import has_embedded


class FirstOfName:
    """The first object of each name, and later objects with the same name, which are ignored."""

    def __init__(self, diagnostics: list[Diagnostic]) -> None:
        self._diagnostics = diagnostics
        self._first: dict[tuple[str, str, ObjectKey], KubernetesObject] = {}
        self._in_other_files: list[tuple[KubernetesObject, KubernetesObject]] = []

    def admit(self, item: KubernetesObject) -> bool:
        """Return True if an object counts.

        A second object with the same name is an error in the same file, and an alternative in
        another file.
        """
        first = self._first.setdefault((item.group, item.kind, item.key), item)
        if first is item or not item.metadata.get("name"):
            return True
        if first.place.file != item.place.file:
            self._in_other_files.append((item, first))
        else:
            self._diagnostics.append(_duplicate(item, first))
        return False

    def objects(self) -> Iterator[KubernetesObject]:
        """Yield the objects that count (the first of each name)."""
        yield from self._first.values()

    def alternatives(self) -> Iterator[Diagnostic]:
        """Yield notes about objects that are defined in several files."""
        yield from alternative_notes(self._in_other_files)


def _duplicate(item: KubernetesObject, first: KubernetesObject) -> Diagnostic:
    same = first.data == item.data
    where = f"{first.place.file}:{first.place.line}"
    severity: Severity = "warning" if same else "error"
    fix = f"remove one of the two objects. The plan uses the object at {where}"
    if not same and has_embedded(item.place.file):
        severity = "note"  # a page can describe an alternative, a later step, or another cluster
        fix = (
            "if both objects are for the same cluster, rename one of them. The plan uses the "
            f"object at {where}"
        )
    differs = "" if same else f" and differs from the object at {where}"
    message = f"{item} is defined here a second time{differs}"
    return Diagnostic(severity, "duplicate-object", message, item.place, fix)
