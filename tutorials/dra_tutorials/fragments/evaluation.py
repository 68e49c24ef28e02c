"""Findings in parts of objects on pages, and a note about the parts that can't be checked."""

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
"""Findings about fields that a part omits."""
_ELLIPSIS = re.compile(r"^[ \t]*(?:-[ \t]+)?(?:\.{3}|…|\[(?:\.{3}|…)\])[ \t]*$", re.MULTILINE)
_PLACEHOLDER = re.compile(r"\$[\w{(]|<[A-Za-z][^<>]*>")
"""Placeholders that the reader or a shell must replace."""
_MOST_LINES = 8


class Evaluation(Struct, frozen=True):
    """The context in which manifests on a page are evaluated: the features of a Kubernetes version,
    and rules.

    `check` returns the findings of rules that read only the manifests and don't depend on other
    objects in a cluster.
    """

    features: Features
    check: Callable[[Manifests, Features], Iterable[Diagnostic]]


def evaluate_fragments(
    blocks: Iterable[Source], evaluation: Evaluation, page: str
) -> tuple[list[Diagnostic], list[Source]]:
    """Return the findings in blocks that aren't manifests, and the blocks that can't be evaluated.

    `page` is the text of the whole file that contains the blocks.
    """
    found: list[Diagnostic] = []
    unknown: list[Source] = []
    for block in blocks:
        documents = _documents(block)
        wholes = [(each, whole_of(each.data, each.place)) for each in documents]
        settings = [
            reported
            for each in documents
            for reported in setting_findings(each.data, each.place, page)
        ]
        found += settings
        for document, whole in wholes:
            if whole is not None:
                lines = block.text.split("\n")
                reported = _evaluate(whole, document, evaluation)
                found += [
                    each for each in reported if not _PLACEHOLDER.search(lines[each.place.line - 1])
                ]
        if not settings and not any(whole for _, whole in wholes):
            unknown.append(block)
    return found, unknown


def unevaluated_notes(lines: Iterable[int], file: str) -> Iterator[Diagnostic]:
    """Yield one note about all unevaluated fragments in a file, which begin on these lines."""
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
    """Yield the findings of the API server and the rules about the written fields, worded for a
    part of an object.
    """
    yield from whole.remarks
    try:
        manifests = collect_manifests(
            [whole.item], evaluation.features, check_selector=check_selector
        )
        reported = list(evaluation.check(manifests, evaluation.features))
    except PlannerError:
        return
    shown = f"this part of a {whole.item.kind}"
    for each in reported:
        if each.code in _LEFT_OUT:
            continue
        message = each.message.replace(f"{whole.item}", shown)
        yield replace(
            each,
            message=message,
            place=replace(each.place, path=_written(each.place.path, document)),
        )


def _written(path: str, document: ManifestDocument) -> str:
    """Return a path, starting at its first key that is also a top-level key of the part, or the
    whole path if there is no such key.
    """
    keys = list(document.data) if isinstance(document.data, Map) else []
    found = (
        re.search(rf"(?:^|\.)((?:{'|'.join(map(re.escape, keys))})(?:[.\[].*)?)$", path)
        if keys
        else None
    )
    return found[1] if found else path
