"""Pages, scripts and files of other tools among the inputs: what they hold, and what is told of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from dra_command.inputs import Inputs
from dra_planner.errors import Diagnostic, ManifestError
from dra_planner.releases import MAXIMUM_MINOR, Features, features_of, parse_version
from dra_planner.sources import Source, has_embedded


def with_embedded(inputs: Inputs) -> tuple[Inputs, tuple[Diagnostic, ...]]:
    """Return inputs without values of charts and files of other tools, pages and scripts replaced by the manifests in
    them, and findings on what else they hold.
    """
    if not any(map(_may_hold_others, inputs.sources)):
        return inputs, ()
    from dra_planner.manifests.setup.chart_values import is_values_file

    minor = inputs.kubernetes or (inputs.fleet.kubernetes if inputs.fleet is not None else "")
    features = features_of(parse_version(minor) if minor else MAXIMUM_MINOR)
    sources: list[Source] = []
    found: list[Diagnostic] = []
    for source in inputs.sources:
        if has_embedded(source.name):
            manifests, told = _of_page(source, features)
            sources.append(manifests)
            found += told
            continue
        told = list(_of_terraform(source, features) if _is_terraform(source) else _of_block(source))
        found += told
        if not told and not is_values_file(source.text):
            sources.append(source)
    return replace(inputs, sources=tuple(sources)), tuple(found)


def _of_page(source: Source, features: Features) -> tuple[Source, list[Diagnostic]]:
    """Return the manifests of a page or script, and what is told of the rest of it."""
    from dra_planner.manifests.commands import command_findings
    from dra_planner.manifests.embedded import read_embedded
    from dra_planner.manifests.setup.terraform import terraform_findings
    from dra_planner.manifests.shown_output import output_findings

    page = read_embedded(source)
    manifests, unreadable = _readable(page.manifests)
    found = [*command_findings(page.commands, source.name, source.text), *unreadable]
    found += _namespace_conflicts(manifests)
    for block in page.others:
        found += _of_block(block)
    for program in page.programs:
        found += terraform_findings(program.text, source.name, program.line, features)
    return manifests, [*found, *output_findings(page.shown, source.name)]


def _namespace_conflicts(page: Source) -> Iterator[Diagnostic]:
    """Yield what kubectl refuses: objects of a namespace other than the one that it is given.

    Source: kubernetes/cli-runtime:pkg/resource/visitor.go@v0.34.0 (RequireNamespace).
    """
    if not page.namespaces:
        return
    from dra_planner.manifests.documents import read_documents
    from dra_planner.manifests.objects import CLUSTER_SCOPED, read_objects

    for document in read_documents([page])[0]:
        given = document.namespace
        for item in read_objects([document]) if given else ():
            if item.kind not in CLUSTER_SCOPED and item.namespace != given:
                message = (
                    f'{item}: the namespace from the provided object "{item.namespace}" does not match the namespace '
                    f"\"{given}\". You must pass '--namespace={item.namespace}' to perform this operation."
                )
                fix = "leave -n out, or write the same namespace in both"
                yield Diagnostic("error", "namespace-conflict", message, item.place, fix)


def _readable(page: Source) -> tuple[Source, list[Diagnostic]]:
    """Return the page without the blocks that cannot be read, and a finding on each of these."""
    from dra_planner.manifests.documents import read_documents

    found: list[Diagnostic] = []
    while True:
        try:
            read_documents([page])
        except ManifestError as error:
            lines = page.text.split("\n")
            at = max(error.place.line - 1, 0)
            begin = next((n for n in range(min(at, len(lines) - 1), -1, -1) if lines[n].startswith("---")), -1) + 1
            end = next((n for n in range(max(at, begin), len(lines)) if lines[n].startswith("---")), len(lines))
            emptied = "\n".join([*lines[:begin], *[""] * (end - begin), *lines[end:]])
            if emptied == page.text:
                raise
            page = replace(page, text=emptied)
            found.append(Diagnostic("error", "block-not-read", error.message, error.place, error.fix))
        else:
            return page, found


def _of_block(source: Source) -> Iterator[Diagnostic]:
    """Yield what is told of a text that is no manifest: values of the driver's chart, a file of the device plugin."""
    from dra_planner.manifests.setup.chart_values import values_findings
    from dra_planner.manifests.setup.plugin_sharing import sharing_in_file

    yield from values_findings(source)
    yield from sharing_in_file(source)


def _may_hold_others(source: Source) -> bool:
    return has_embedded(source.name) or _is_terraform(source) or "apiVersion" not in source.text


def _is_terraform(source: Source) -> bool:
    return source.name.endswith(".tf")


def _of_terraform(source: Source, features: Features) -> Iterator[Diagnostic]:
    from dra_planner.manifests.setup.terraform import terraform_findings

    return terraform_findings(source.text, source.name, 1, features)
