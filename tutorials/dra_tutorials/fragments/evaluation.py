"""What is told of the parts of objects that a page shows: what can be judged of them, and a note on
all others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.documents.tree import Map
from dra_planner.errors import Diagnostic, ManifestError, Place, PlannerError
from dra_planner.manifests.documents import ManifestDocument, read_documents
from dra_planner.manifests.manifests import Manifests
from dra_planner.manifests.reading import collect_manifests
from dra_planner.plan import check_selector
from dra_planner.releases import Features
from dra_planner.sources import Source, may_be_unfinished
from dra_planner.wording import counted, noun, verb
from dra_tutorials.fragments.enclosing_object import Whole, setting_findings, whole_of

NOT_JUDGED = "fragment-not-judged"
_LEFT_OUT = frozenset({"required-value", "namespace-not-found"})
"""Findings on what a part leaves out."""
_ELLIPSIS = re.compile(r"^[ \t]*(?:-[ \t]+)?(?:\.{3}|…|\[(?:\.{3}|…)\])[ \t]*$", re.MULTILINE)
_PLACEHOLDER = re.compile(r"\$[\w{(]|<[A-Za-z][^<>]*>")
"""What the reader of a page, or a shell, is to fill in."""
_MOST_LINES = 8


class Evaluation(Struct, frozen=True):
    """What manifests on a page are evaluated with: a version of Kubernetes, and rules.

    `check` returns the findings of rules that look only at what is written, and not at what else a
    cluster has.
    """

    features: Features
    check: Callable[[Manifests, Features], Iterable[Diagnostic]]


def evaluate_fragments(
    blocks: Iterable[Source], evaluation: Evaluation, page: str
) -> tuple[list[Diagnostic], list[Source]]:
    """Return what is told of blocks that are no manifests, and those of which nothing can be told.

    `page` is the whole text of the file that they stand in.
    """
    found: list[Diagnostic] = []
    unknown: list[Source] = []
    for block in blocks:
        documents = _documents(block)
        wholes = [(each, whole_of(each.data, each.place)) for each in documents]
        settings = [
            told for each in documents for told in setting_findings(each.data, each.place, page)
        ]
        found += settings
        for document, whole in wholes:
            if whole is not None:
                lines = block.text.split("\n")
                told = _evaluate(whole, document, evaluation)
                found += [
                    each for each in told if not _PLACEHOLDER.search(lines[each.place.line - 1])
                ]
        if not settings and not any(whole for _, whole in wholes):
            unknown.append(block)
    return found, unknown


def unevaluated_notes(lines: Iterable[int], file: str) -> Iterator[Diagnostic]:
    """Yield one note on all fragments of a file that were not judged; they begin on these lines."""
    numbers = sorted(set(lines))
    if numbers:
        listed = ", ".join(map(str, numbers[:_MOST_LINES])) + (
            ", …" if len(numbers) > _MOST_LINES else ""
        )
        message = (
            f"{counted(len(numbers), 'piece')} of YAML without apiVersion and kind "
            f"{verb(len(numbers), 'are')} read but not checked: {noun(len(numbers), 'line')} "
            f"{listed}"
        )
        yield Diagnostic("note", NOT_JUDGED, message, Place(file, numbers[0]), "")


def _documents(block: Source) -> list[ManifestDocument]:
    text = _ELLIPSIS.sub("", block.text)
    if "{{" in text or may_be_unfinished(text):
        return []
    try:
        return read_documents([replace(block, text=text)])[0]
    except ManifestError:
        return []


def _evaluate(
    whole: Whole, document: ManifestDocument, evaluation: Evaluation
) -> Iterator[Diagnostic]:
    """Yield what the API server and the rules say of what is written, in words about a part."""
    yield from whole.remarks
    try:
        manifests = collect_manifests(
            [whole.item], evaluation.features, check_selector=check_selector
        )
        told = list(evaluation.check(manifests, evaluation.features))
    except PlannerError:
        return
    shown = f"this part of a {whole.item.kind}"
    for each in told:
        if each.code in _LEFT_OUT:
            continue
        message = each.message.replace(f"{whole.item}", shown)
        yield replace(
            each,
            message=message,
            place=replace(each.place, path=_written(each.place.path, document)),
        )


def _written(path: str, document: ManifestDocument) -> str:
    """Return a path from the first of its keys that the part itself begins with; the whole one
    where it has none.
    """
    keys = list(document.data) if isinstance(document.data, Map) else []
    found = (
        re.search(rf"(?:^|\.)((?:{'|'.join(map(re.escape, keys))})(?:[.\[].*)?)$", path)
        if keys
        else None
    )
    return found[1] if found else path
