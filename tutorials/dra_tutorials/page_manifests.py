"""Manifests in pages, scripts, and files of other tools, and findings about the rest of these
files.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from textwrap import dedent

from msgspec.structs import replace

from dra_planner.errors import Diagnostic, ManifestError, Place, Severity
from dra_planner.manifests.documents import read_documents
from dra_planner.manifests.objects import CLUSTER_SCOPED, VERSIONS, read_objects
from dra_planner.manifests.repairing import plain_separator
from dra_planner.manifests.setup.chart_values import is_values_file, values_findings
from dra_planner.manifests.setup.plugin_sharing import sharing_in_file
from dra_planner.sources import Source, has_embedded, is_terraform, may_be_unfinished
from dra_planner.wording import counted, noun, verb
from dra_tutorials.blocks.embedded import read_embedded
from dra_tutorials.blocks.shown_output import output_findings
from dra_tutorials.fragments.evaluation import Evaluation, evaluate_fragments, unevaluated_notes
from dra_tutorials.shell.commands import command_findings
from dra_tutorials.terraform.findings import terraform_findings

_TYPE = re.compile(r"^[\"']?(apiVersion|kind|metadata)[\"']?\s*:[ \t]*[\"']?(\w*)", re.MULTILINE)
_UNINDENTED_OBJECT = re.compile(r"^[\"']?apiVersion[\"']?\s*:", re.MULTILINE)
_TYPE_IN_BRACES = re.compile(r"[\"']?\b(apiVersion|kind|metadata)[\"']?\s*:\s*[\"']?(\w*)")
"""Fields at the top level of an object."""
_UNFINISHED = re.compile(
    r"^[ \t]*(?:-[ \t]+|#[ \t]*)?(?:\.{3}|…|\[(?:\.{3}|…)\])|\{\{|\{%|\$\{|<[A-Za-z][\w .-]*>",
    re.MULTILINE,
)
"""Marks for omitted lines, and placeholders that the reader or a template must replace."""

_PARAMETERS = re.compile(r"kind:\s*[\"']?(?:GpuConfig|MigDeviceConfig|VfioDeviceConfig)\b")
_LEFT_OUT = re.compile(r"[ \t]*(?:-[ \t]+)?(?:\.{3}|…|\[(?:\.{3}|…)\])[ \t]*")
"""A line that represents omitted lines."""


def extract_manifests(
    given: Iterable[Source], evaluation: Evaluation
) -> tuple[tuple[Source, ...], tuple[Diagnostic, ...]]:
    """Return the manifests in these sources, and findings about the rest of the sources.

    A page or script is replaced with the manifests in it. Chart values and files of other tools are
    omitted.
    """
    sources: list[Source] = []
    found: list[Diagnostic] = []
    for source in given:
        if has_embedded(source.name):
            manifests, reported = _of_page(source, evaluation)
            sources.append(manifests)
            found += reported
            continue
        if is_terraform(source.name):
            found += terraform_findings(source.text, source.name, 1, evaluation.features)
            sources.append(replace(source, text=""))
            continue
        reported = list(_of_file(source, evaluation))
        found += reported
        if not reported and not is_values_file(source.text):
            sources.append(source)
    return tuple(sources), tuple(found)


def _of_page(source: Source, evaluation: Evaluation) -> tuple[Source, list[Diagnostic]]:
    """Return the manifests in a page or script, and the findings in the rest of it."""
    page = read_embedded(source)
    apart, parameters = _without_parameters(page.manifests)
    whole, shortened = _without_shortened(apart)
    manifests, unreadable, parts = _readable(whole)
    found = [*command_findings(page.commands, source.name, source.text), *unreadable]
    found += _of_shortened(shortened, evaluation, source)
    found += _of_parameters(parameters, evaluation, source)
    found += _namespace_conflicts(manifests)
    found += _of_blocks([*page.others, *parts], page.unlabelled, evaluation, source)
    for program in page.programs:
        found += terraform_findings(program.text, source.name, program.line, evaluation.features)
    return manifests, [*found, *output_findings(page.shown, source.name)]


def _without_parameters(page: Source) -> tuple[Source, list[Source]]:
    """Return the page without NVIDIA driver configuration that is shown outside a claim, and each
    piece of this configuration.
    """
    lines, found = page.text.split("\n"), list[Source]()
    for at, line in enumerate(lines):
        if _PARAMETERS.match(line):
            begin, end = _document_at(lines, at)
            document = lines[begin:end]
            if not any(each.startswith(("metadata:", "spec:")) for each in document):
                found.append(Source(page.name, "\n" * begin + "\n".join(document)))
                lines[begin:end] = [""] * (end - begin)
    return (replace(page, text="\n".join(lines)) if found else page), found


def _of_parameters(
    parts: Sequence[Source], evaluation: Evaluation, page: Source
) -> Iterator[Diagnostic]:
    """Yield the findings in configuration that a page shows without the surrounding claim."""
    if parts:
        yield from evaluate_fragments(parts, evaluation, page.text)[0]


def _without_shortened(page: Source) -> tuple[Source, list[Source]]:
    """Return the page without the objects that have omitted lines, and these objects without the
    marks for omitted lines.
    """
    lines, found = page.text.split("\n"), list[Source]()
    at = 0
    while (
        mark := next((n for n in range(at, len(lines)) if _LEFT_OUT.fullmatch(lines[n])), None)
    ) is not None:
        begin, end = _document_at(lines, mark)
        document = ["" if _LEFT_OUT.fullmatch(line) else line for line in lines[begin:end]]
        part = Source(page.name, "\n" * begin + "\n".join(document))
        at = max(end, mark + 1)
        try:
            if not read_documents([part])[0]:
                continue
        except ManifestError:
            continue
        found.append(part)
        lines[begin:end] = [""] * (end - begin)
    return replace(page, text="\n".join(lines)), found


def _of_shortened(
    parts: Sequence[Source], evaluation: Evaluation, page: Source
) -> Iterator[Diagnostic]:
    """Yield the findings in objects that a page shows in part, and a note about these objects."""
    if not parts:
        return
    yield from evaluate_fragments(parts, evaluation, page.text)[0]
    begins = [len(each.text) - len(each.text.lstrip("\n")) + 1 for each in parts]
    message = (
        f"{counted(len(parts), 'object')} {verb(len(parts), 'are')} shown in part; the text that `...` "
        f"stands for isn't checked: {noun(len(begins), 'line')} {', '.join(map(str, begins))}"
    )
    yield Diagnostic("note", "object-shown-in-part", message, Place(page.name, begins[0]))


def _of_blocks(
    labelled: Sequence[Source], unlabelled: Sequence[Source], evaluation: Evaluation, page: Source
) -> Iterator[Diagnostic]:
    """Yield the findings in blocks without objects. A note lists the blocks labeled as YAML that
    couldn't be evaluated.
    """
    if not labelled and not unlabelled:
        return
    unknown: list[int] = []
    for block in (*labelled, *unlabelled):
        reported = list(_of_block(block))
        yield from reported
        if reported or is_values_file(block.text):
            continue
        if _looks_like_object(block.text):
            yield from _readable(block)[1]
            continue
        reported, rest = evaluate_fragments([block], evaluation, page.text)
        yield from reported
        if rest and block in labelled and block.text.strip():
            fault = _unread_reason(block)
            if fault is not None:
                yield fault
            else:
                unknown.append(len(block.text) - len(block.text.lstrip("\n")) + 1)
    yield from unevaluated_notes(unknown, page.name)


def _unread_reason(block: Source) -> Diagnostic | None:
    """Return why a block labeled as YAML isn't valid YAML. Return None if it's valid or omits
    lines.
    """
    if _UNFINISHED.search(block.text) or may_be_unfinished(block.text):
        return None
    try:
        read_documents([block])
    except ManifestError as error:
        if error.fix and "left out" not in error.fix:
            # other blocks may be the output of commands
            severity: Severity = "warning" if "no level" in error.fix else "note"
            return Diagnostic(severity, "block-not-read", error.message, error.place, error.fix)
    return None


def _namespace_conflicts(page: Source) -> Iterator[Diagnostic]:
    """Yield the objects that kubectl rejects, because their namespace differs from the namespace in
    the command.

    Source: kubernetes/cli-runtime:pkg/resource/visitor.go@v0.34.0 (RequireNamespace).
    """
    if not page.namespaces:
        return
    for document in read_documents([page])[0]:
        given = document.namespace
        for item in read_objects([document]) if given else ():
            if item.kind not in CLUSTER_SCOPED and item.namespace != given:
                message = (
                    f'{item}: the namespace from the provided object "{item.namespace}" does not '
                    "match the namespace "
                    f"\"{given}\". You must pass '--namespace={item.namespace}' to perform this "
                    "operation."
                )
                fix = "remove -n, or use the same namespace in both"
                yield Diagnostic("error", "namespace-conflict", message, item.place, fix)


def _readable(page: Source) -> tuple[Source, list[Diagnostic], list[Source]]:
    """Return the page without the documents that aren't objects, a finding for each document that
    can't be read or lacks its apiVersion or kind, and the documents that are parts of objects.
    """
    found: list[Diagnostic] = []
    parts: list[Source] = []
    while True:
        try:
            read_objects(read_documents([page])[0])
        except ManifestError as error:
            lines = page.text.split("\n")
            begin, end = _document_at(lines, error.place.line - 1)
            document = "\n".join(lines[begin:end])
            if not document.strip():
                raise
            if (repaired := _with_separators(document)) != document:
                at = next(n for n in range(begin, end) if _with_separators(lines[n]) != lines[n])
                place = replace(error.place, line=at + 1)
                found.append(Diagnostic("error", "block-not-read", error.message, place, error.fix))
                page = replace(page, text="\n".join([*lines[:begin], repaired, *lines[end:]]))
                continue
            page = replace(
                page, text="\n".join([*lines[:begin], *[""] * (end - begin), *lines[end:]])
            )
            if _looks_like_object(document):
                severity: Severity = "note" if _UNFINISHED.search(document) else "error"
                found.append(
                    Diagnostic(severity, "block-not-read", error.message, error.place, error.fix)
                )
            else:
                parts.append(Source(page.name, "\n" * begin + document))
        else:
            return page, found, parts


def _with_separators(document: str) -> str:
    """Return a document in which lines of dashes are replaced with the intended separators."""
    return "\n".join(map(plain_separator, document.split("\n")))


def _document_at(lines: list[str], at: int) -> tuple[int, int]:
    """Return the number of the first line of the document at or before a line, and the number of
    the line after the document (both from 0).
    """
    at = min(max(at, 0), len(lines) - 1)
    while at and (not lines[at].strip() or lines[at].startswith("---")):
        at -= 1
    begin = next((n for n in range(at, -1, -1) if lines[n].startswith("---")), -1) + 1
    end = next((n for n in range(at, len(lines)) if lines[n].startswith("---")), len(lines))
    return begin, end


def _looks_like_object(document: str) -> bool:
    """Return whether a document has an apiVersion, or has metadata and a well-known kind."""
    if _UNINDENTED_OBJECT.search(document):  # most documents, for which dedent changes nothing
        return True
    found = _TYPE_IN_BRACES if document.lstrip().startswith("{") else _TYPE
    has = {match[1]: match[2] for match in found.finditer(dedent(document))}
    return "apiVersion" in has or ("metadata" in has and has.get("kind") in VERSIONS)


def _of_block(source: Source) -> Iterator[Diagnostic]:
    """Yield the findings in a text that isn't a manifest: values of the driver's chart, or a
    configuration file of the device plugin.
    """
    yield from values_findings(source)
    yield from sharing_in_file(source)


def _of_file(source: Source, evaluation: Evaluation) -> Iterator[Diagnostic]:
    """Yield the findings in a file without objects, including a note if the file contains a part of
    an object.
    """
    reported = list(_of_block(source))
    yield from reported
    if reported or _looks_like_object(source.text):
        return
    found, rest = evaluate_fragments([source], evaluation, source.text)
    if found or not (rest or "values" in Path(source.name).name):
        yield from found
        message = (
            "this file contains a part of an object without apiVersion and kind; the part was "
            "checked, but kubectl doesn't accept such a file"
        )
        yield Diagnostic("note", "part-of-object", message, Place(source.name, 1))
