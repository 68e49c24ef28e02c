"""The documents of manifests: the documents in their texts, with places and namespaces."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from dra_planner.documents.yaml_advice import advise
from dra_planner.documents.yaml_reader import Fault
from dra_planner.errors import Diagnostic, ManifestError, Place
from dra_planner.sources import Source


class ManifestDocument(Struct, frozen=True):
    """A document that isn't empty: its tree, its first line, its number in the file (from 0), and
    the namespace with which its objects are applied ("" for none).
    """

    place: Place
    index: int
    data: Any
    namespace: str = ""


def read_documents(sources: Iterable[Source]) -> tuple[list[ManifestDocument], list[Diagnostic]]:
    """Return all documents that aren't empty, in order, and notes about unusual syntax.

    Skipped files don't have documents. Raises ManifestError for the first document that can't be
    read, with the errors of all further documents in `others`.
    """
    documents: list[ManifestDocument] = []
    remarks: list[Diagnostic] = []
    errors: list[ManifestError] = []
    for source in sources:
        if source.left_alone:
            continue
        found = source.documents
        errors += (_error(source, fault) for fault in found.faults)
        remarks += (
            Diagnostic("warning", each.code, each.message, Place(source.name, each.line), each.fix)
            for each in found.remarks
        )
        documents += (
            ManifestDocument(
                Place(source.name, each.line),
                each.index,
                each.tree,
                source.namespace_at(each.line),
            )
            for each in found.documents
        )
    if errors:
        first, *others = errors
        raise ManifestError(first.message, place=first.place, fix=first.fix, others=tuple(others))
    return documents, remarks


def _error(source: Source, fault: Fault) -> ManifestError:
    fix = fault.fix or advise(source.text.split("\n"), fault.line)
    return ManifestError(
        f"can't be read as YAML: {fault.message}", place=Place(source.name, fault.line), fix=fix
    )
