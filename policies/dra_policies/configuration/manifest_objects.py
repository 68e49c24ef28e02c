"""Names and places of the objects in manifests, and the exemptions in their texts."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator

from msgspec import Struct

from dra_planner.documents.tree import line_at
from dra_planner.errors import Place, PlannerError
from dra_planner.manifests.documents import read_documents
from dra_planner.manifests.objects import KubernetesObject, read_objects
from dra_planner.sources import Source
from dra_policies.configuration.exemptions import Excuse
from dra_policies.configuration.inline_exemptions import ANNOTATION, comment_in, read_beside
from dra_policies.rules import Finding
from dra_policies.unknown_values import as_mapping


class WrittenObject(Struct, frozen=True):
    """An object, its first line, and its exemptions."""

    line: int
    name: str
    beside: tuple[Excuse | Finding, ...] = ()


class WrittenObjects:
    """The objects of some sources by file and line. `custom` are the IDs of the project's custom
    rules.
    """

    def __init__(self, sources: Iterable[Source], custom: Collection[str] = ()) -> None:
        self._files = {source.name: tuple(_objects(source, custom)) for source in sources}
        self._lines = {file: [each.line for each in found] for file, found in self._files.items()}

    def name_at(self, place: Place) -> str:
        """Return the name of the object at a place, or "" if there is none."""
        before = bisect_right(self._lines.get(place.file, []), place.line)
        return self._files[place.file][before - 1].name if before else ""

    @property
    def names(self) -> frozenset[str]:
        return frozenset(each.name for found in self._files.values() for each in found)

    @property
    def beside(self) -> Iterator[Excuse | Finding]:
        """Return the exemptions in the texts, and the errors in them."""
        return (
            exemption
            for found in self._files.values()
            for each in found
            for exemption in each.beside
        )


def _objects(source: Source, custom: Collection[str]) -> Iterator[WrittenObject]:
    try:
        documents, _ = read_documents([source])
        found = read_objects(documents)
    except PlannerError:
        return  # the code that reads the text for checking reports its errors
    comments = _comments(source, [each.place.line for each in found])
    for index, each in enumerate(found):
        texts = [*_annotated(each), *comments.get(index, ())]
        beside = (
            one
            for text, at in texts
            for one in read_beside(text, str(each), Place(source.name, at), custom=custom)
        )
        yield WrittenObject(each.place.line, str(each), tuple(beside))


def _annotated(each: KubernetesObject) -> Iterator[tuple[str, int]]:
    annotation = (as_mapping(each.metadata.get("annotations")) or {}).get(ANNOTATION)
    if isinstance(annotation, str):
        yield annotation, line_at(each.data, ("metadata", "annotations", ANNOTATION))


def _comments(source: Source, firsts: list[int]) -> dict[int, list[tuple[str, int]]]:
    """Return the comments with exemptions by the number of the object that contains or follows
    them.
    """
    lines = source.text.split("\n")
    found: dict[int, list[tuple[str, int]]] = {}
    for number, line in enumerate(lines, 1):
        comment = comment_in(line)
        if comment is not None and firsts:
            owner = max(bisect_right(firsts, number) - 1, 0)
            if line.lstrip().startswith("#") and _leads_to(
                lines, number, firsts[owner + 1 : owner + 2]
            ):
                owner += 1
            found.setdefault(owner, []).append((comment, number))
    return found


def _leads_to(lines: list[str], number: int, following: list[int]) -> bool:
    """Return whether a line and the next object are separated only by comments and blank lines."""
    if not following:
        return False
    between = lines[number : following[0] - 1]
    return all(not each.strip() or each.lstrip().startswith("#") for each in between)
