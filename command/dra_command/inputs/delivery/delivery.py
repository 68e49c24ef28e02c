"""GitOps objects among the manifests, replaced by the manifests that they deliver from this
repository.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from dra_command.inputs.delivery.argo_cd import application_sources, is_application
from dra_command.inputs.delivery.flux import flux_source, is_flux
from dra_command.inputs.delivery.local_source import LocalSource, NotRendered
from dra_command.inputs.delivery.repository import Repository, repository_of
from dra_command.inputs.rendering import rendered_folder
from dra_planner.documents.plain_values import block, text
from dra_planner.documents.stream import split_stream
from dra_planner.documents.yaml_reader import Fault, read_yaml
from dra_planner.errors import Diagnostic, Place
from dra_planner.sources import MANIFEST_SUFFIXES, STDIN_NAME, Source

_OBJECT: Final = re.compile(
    r"""apiVersion["']?\s*:\s*["']?(?:argoproj\.io|[\w.-]+\.toolkit\.fluxcd\.io)/"""
)
"""The API version of a GitOps object. Large CustomResourceDefinitions also contain the groups."""
_DEEPEST: Final = 5  # an Application can deliver other Applications
NOT_RENDERED: Final = "source-not-rendered"


class Delivered(Struct, frozen=True):
    """The sources without the rendered objects, the rendered manifests, and notes about all other
    GitOps objects.
    """

    rest: tuple[Source, ...]
    rendered: tuple[Source, ...] = ()
    notes: tuple[Diagnostic, ...] = ()


def deliver(sources: Sequence[Source]) -> Delivered:
    """Render the Applications, HelmReleases, and Kustomizations whose source is a folder of their
    own repository.

    Line numbers don't change. The files in the rendered folders are excluded, because the result
    contains their rendered manifests. Raises UsageError if `helm` or `kustomize` fails.
    """
    return (
        _Delivery(sources).run() if any(map(_may_deliver, sources)) else Delivered(tuple(sources))
    )


def _may_deliver(source: Source) -> bool:
    is_read = source.name == STDIN_NAME or Path(source.name).suffix in MANIFEST_SUFFIXES
    return (is_read or bool(rendered_folder(source.name))) and _has_object(source.text)


class _Replaced(Struct, frozen=True):
    """A source without the objects that were rendered, the manifests that these objects deliver,
    and the folders of the manifests.
    """

    rest: Source
    rendered: tuple[Source, ...] = ()
    folders: frozenset[tuple[Path, bool]] = frozenset()


class _Delivery:
    """Renders the objects in the sources, and any GitOps objects that they deliver."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self._sources = sources
        self._objects = {
            (
                text(each.get("kind")),
                text(block(each, "metadata").get("namespace")) or "default",
                _name(each),
            ): each
            for source in sources
            if _is_configuration(source)
            for each in (document.tree for document in source.documents.documents)
            if isinstance(each, Mapping)
        }
        self._notes: dict[Diagnostic, None] = {}

    def run(self) -> Delivered:
        found = [
            self._replace(each, repository_of(_folder(each)), frozenset())
            if _may_deliver(each)
            else _Replaced(each)
            for each in self._sources
        ]
        kept: list[_Replaced] = []
        for each in found:
            others = (other for other in found if other is not each)
            if not any(_is_in(each.rest, *folder) for other in others for folder in other.folders):
                kept.append(each)
        rest = tuple(each.rest for each in kept if each.rest.text.strip() or not each.folders)
        return Delivered(
            rest, tuple(source for each in kept for source in each.rendered), tuple(self._notes)
        )

    def _replace(self, source: Source, here: Repository, above: frozenset[Path]) -> _Replaced:
        kept: list[str] = []
        rendered: list[Source] = []
        folders: set[tuple[Path, bool]] = set()
        line = 1
        for document, first_line, item in _documents(source.text):
            remaining = document
            if (
                isinstance(item, Mapping)
                and (is_application(item) or is_flux(item))
                and len(above) < _DEEPEST
            ):
                place = Place(source.name, line + first_line)
                try:
                    for each in self._render(item, here, above):
                        rendered += (each.rest, *each.rendered)
                        folders |= each.folders
                    remaining = "\n" * document.count("\n")
                except NotRendered as reason:
                    title = f"{item['kind']} {_name(item)}"
                    self._notes[Diagnostic("note", NOT_RENDERED, f"{title}: {reason}", place)] = (
                        None
                    )
            kept.append(remaining)
            line += document.count("\n")
        rest = replace(source, text="".join(kept))
        # an unchanged source keeps its parsed documents
        rest = source if rest.text == source.text else rest
        return _Replaced(rest, tuple(rendered), frozenset(folders))

    def _render(
        self, item: Mapping[str, Any], here: Repository, above: frozenset[Path]
    ) -> Iterator[_Replaced]:
        """Yield the manifests that each source of an object renders to. The object itself is
        excluded if it delivers further manifests.
        """
        for each in self._local_sources(item, here):
            if each.folder in above:
                continue  # an Application that delivers Applications can be among its own files
            manifests = each.render()
            applied = ((1, manifests.count("\n") + 1, each.namespace),) if each.namespace else ()
            name = f"{_shown(each.folder)} ({item['kind']} {_name(item)}, rendered)"
            found = self._replace(
                Source(name, manifests, namespaces=applied), here, above | {each.folder}
            )
            yield replace(found, folders=found.folders | frozenset(each.covers()))

    def _local_sources(self, item: Mapping[str, Any], here: Repository) -> Iterable[LocalSource]:
        if is_application(item):
            return list(application_sources(item, here))
        return [flux_source(item, here, lambda *key: self._objects.get(key))]


def _has_object(content: str) -> bool:
    return _OBJECT.search(content) is not None


def _folder(source: Source) -> Path:
    if source.name == STDIN_NAME:
        return Path()
    return Path(rendered_folder(source.name) or Path(source.name).parent)


def _is_in(source: Source, folder: Path, is_deep: bool) -> bool:
    if source.name == STDIN_NAME:
        return False
    parent = _folder(source).resolve()
    return parent == folder or (is_deep and parent.is_relative_to(folder))


def _is_configuration(source: Source) -> bool:
    return "ConfigMap" in source.text or "GitRepository" in source.text


def _name(item: Mapping[str, Any]) -> str:
    return text(block(item, "metadata").get("name"))


def _shown(folder: Path) -> str:
    here = Path.cwd()
    return str(folder.relative_to(here)) if folder.is_relative_to(here) else str(folder)


def _documents(stream: str) -> Iterator[tuple[str, int, Any]]:
    """Yield each document of a stream: its text with the separator, the separator's lines, and its
    data.

    The data is None for a document that can't be read, or that doesn't contain a GitOps object.
    """
    for document, separator in split_stream(stream):
        try:
            data = read_yaml(document)[0] if _has_object(document) else None
        except Fault:
            data = None
        yield f"{separator}{document}", separator.count("\n"), data
