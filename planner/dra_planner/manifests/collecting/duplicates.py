"""Objects with several definitions. The last definition counts, as with `kubectl apply`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Final

from dra_planner.errors import Diagnostic, Severity
from dra_planner.manifests.objects import KubernetesObject
from dra_planner.model import ObjectKey
from dra_planner.sources import has_embedded
from dra_planner.wording import counted, either

_NAMED: Final = 3
"""Maximum number of objects that a note names."""
_FIX: Final = "if the files are alternatives, pass only one of them. Otherwise, rename the objects"


class LastOfName:
    """The last object of each name in document order. Earlier objects with this name are ignored.

    `kubectl apply` applies files in the order of their paths, and each definition of an object
    replaces the previous one. Source: kubernetes/cli-runtime:pkg/resource/visitor.go@v0.34.0
    (ExpandPathsToFileVisitors).
    """

    def __init__(self, objects: Iterable[KubernetesObject]) -> None:
        given = tuple(objects)
        self._definitions: dict[tuple[str, str, ObjectKey], list[KubernetesObject]] = {}
        for item in given:
            if item.metadata.get("name"):  # otherwise, the API server generates different names
                self._definitions.setdefault(_identity(item), []).append(item)
        self.objects = tuple(item for item in given if self.counts(item))

    def counts(self, item: KubernetesObject) -> bool:
        """Return True for an object that no later definition replaces."""
        return self._definitions.get(_identity(item), [item])[-1] is item

    def findings(self) -> Iterator[Diagnostic]:
        """Yield objects that a file defines twice, and a note for each folder with objects that
        several files define differently.
        """
        folders: dict[str, list[tuple[KubernetesObject, ...]]] = {}
        for definitions in self._definitions.values():
            of_files: dict[str, KubernetesObject] = {}
            for item in definitions:
                first = of_files.get(item.place.file)
                if first is not None:
                    yield _repetition(item, first, definitions[-1])
                of_files[item.place.file] = item
            used = definitions[-1]
            if any(each.data != used.data for each in of_files.values()):
                folder = os.path.dirname(used.place.file) or "."
                folders.setdefault(folder, []).append(tuple(of_files.values()))
        for folder, alternatives in folders.items():
            yield _alternatives_note(folder, alternatives)


def _identity(item: KubernetesObject) -> tuple[str, str, ObjectKey]:
    return item.group, item.kind, item.key


def _repetition(
    item: KubernetesObject, earlier: KubernetesObject, used: KubernetesObject
) -> Diagnostic:
    same = earlier.data == item.data
    severity: Severity = "warning" if same else "error"
    fix = f"remove one of the two objects. The plan uses the object at {_position(used)}"
    if not same and has_embedded(item.place.file):
        severity = "note"  # a page can describe an alternative, a later step, or another cluster
        fix = (
            "if both objects are for the same cluster, rename one of them. The plan uses the "
            f"object at {_position(used)}"
        )
    differs = "" if same else f" and differs from the object at {_position(earlier)}"
    message = f"{item} is defined here a second time{differs}"
    return Diagnostic(severity, "duplicate-object", message, item.place, fix)


def _alternatives_note(folder: str, alternatives: list[tuple[KubernetesObject, ...]]) -> Diagnostic:
    """Return the note about the objects of a folder. Each one has its definitions, the used one
    last.
    """
    named = "; ".join(_choice(*each) for each in alternatives[:_NAMED])
    left = len(alternatives) - _NAMED
    more = f"; and {counted(left, 'other object')}" if left > 0 else ""
    message = (
        f'several files define {counted(len(alternatives), "object")} in "{folder}" differently. '
        "Like `kubectl apply`, the plan uses the last definition of each object: "
        f"{named}{more}"
    )
    return Diagnostic("note", "duplicate-object", message, alternatives[0][-1].place, _FIX)


def _choice(*definitions: KubernetesObject) -> str:
    *replaced, used = definitions
    return f"{used} from {_position(used)}, not from {either(map(_position, replaced))}"


def _position(item: KubernetesObject) -> str:
    return f"{item.place.file}:{item.place.line}"
