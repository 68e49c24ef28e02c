"""`pulumi-dra check --rewrite`: convert older versions of DRA objects in manifests to v1."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from textwrap import indent

from dra_command.command_line.arguments import UsageError
from dra_command.command_line.exit_status import Status
from dra_command.command_line.file_writer import write_whole
from dra_command.findings.tutorial_inputs import fragment_evaluation
from dra_command.inputs.command_inputs import read_inputs
from dra_command.inputs.yaml_repair import repair_sources
from dra_command.pens.terminal.page import print_note
from dra_command.pens.visible_text import visible
from dra_planner.errors import Place, SourceError
from dra_planner.manifests.documents import read_documents
from dra_planner.manifests.rewriting import KeptObject, Rewriting, RewrittenObject, rewrite
from dra_planner.plan import check_selector
from dra_planner.releases import MAXIMUM_MINOR, Features, features_of, parse_version
from dra_planner.sources import STDIN_NAME, Source, has_embedded, is_terraform
from dra_planner.wording import counted
from dra_tutorials.blocks.embedded import read_embedded
from dra_tutorials.fragments.evaluation import evaluate_fragments
from dra_tutorials.rewriting import rewrite_with_pages
from dra_tutorials.terraform.findings import terraform_findings

_OLDER = frozenset({"older-form", "unknown-field"})
"""Findings on incomplete objects that could otherwise be rewritten."""


def rewrite_manifests(values: argparse.Namespace) -> int:
    """Print the manifests that contain older versions, or change their files. Raises PlannerError
    for invalid input.

    Returns 1 if an object can't be converted to v1 with the same meaning. Such an object doesn't
    change, and the command lists it.
    """
    _refuse_odd_combinations(values)
    sources = read_inputs(values, needs_capacity=False).sources
    minor = parse_version(values.kubernetes) if values.kubernetes else MAXIMUM_MINOR
    features = features_of(minor)
    programs = [each for each in sources if is_terraform(each.name)]
    sources = tuple(each for each in sources if each not in programs)
    texts, repaired = repair_sources(
        (each for each in sources if not has_embedded(each.name)), features
    )
    read_documents(texts)  # reports unreadable files before anything is printed or changed
    sources = (*texts, *(each for each in sources if has_embedded(each.name)))
    rewritings = rewrite_with_pages(
        sources, partial(rewrite, features=features, check_selector=check_selector)
    )
    changed = [each for each in rewritings if each.is_changed or each.source.name in repaired]
    if values.in_place:
        for each in changed:
            path = Path(each.source.name)
            write_whole(path, each.text, SourceError, mode=path.stat().st_mode & 0o777)
    else:
        print(
            _join(
                [each for each in rewritings if each in changed or each.source.name == STDIN_NAME]
            ),
            end="",
        )
    stream = sys.stdout if values.in_place else sys.stderr
    for name, what in repaired.items():
        if values.in_place or not values.quiet:
            print(f"{name}: repaired: {', '.join(what)}", file=stream)
    for line in (line for each in changed for line in change_lines(each.changes)):
        if values.in_place or not values.quiet:
            print(line, file=stream)
    refusals = [refusal for each in rewritings for refusal in each.refusals]
    refusals += [
        refusal
        for each in sources
        if has_embedded(each.name)
        for refusal in _old_parts(each, features)
    ]
    refusals += [refusal for each in programs for refusal in _old_objects(each, features)]
    _print_refusals(refusals)
    if not changed and not refusals and not values.quiet:
        print_note(
            "nothing to rewrite: no objects with an older DRA API version in "
            f"{counted(len(sources) + len(programs), 'file')}"
        )
    return Status.BROKEN if refusals else Status.FITS


def _old_parts(page: Source, features: Features) -> Iterator[KeptObject]:
    """Yield the places on a page that use an older form but aren't complete objects. They don't
    change.
    """
    found = read_embedded(page)
    for finding in evaluate_fragments(
        (*found.others, *found.unlabelled), fragment_evaluation(features), page.text
    )[0]:
        if finding.code in _OLDER:
            place = Place(finding.place.file, finding.place.line)
            yield KeptObject(
                place,
                "a part without apiVersion and kind",
                "it",
                f"{finding.message} ({finding.fix})",
            )


def _old_objects(program: Source, features: Features) -> Iterator[KeptObject]:
    """Yield the objects with older versions that Terraform files declare. They don't change."""
    for finding in terraform_findings(program.text, program.name, 1, features):
        if finding.code == "version-not-served":
            name = finding.message.partition(": ")[0]
            yield KeptObject(
                finding.place,
                name,
                "it",
                f"--rewrite doesn't support Terraform code; {finding.fix}",
            )


def change_lines(changes: Iterable[RewrittenObject]) -> Iterable[str]:
    """Yield a line for each object that was rewritten, and its notes."""
    for change in changes:
        now = (
            "removed" if not change.now else change.now if change.now != change.was else "rewritten"
        )
        yield visible(f"{change.place}: {change.name}: {change.was} → {now}")
        for note in change.notes:
            yield f"    {note}"


def _print_refusals(refusals: Iterable[KeptObject]) -> None:
    """Print the reasons why objects don't change. If several objects share an example, print the
    example only once.
    """
    examples: dict[str, None] = {}
    for refusal in refusals:
        print_note(str(refusal))
        if refusal.example:
            examples[refusal.example] = None
    for example in examples:
        print(f"for example, by hand:\n{indent(example, '    ')}", end="", file=sys.stderr)


def _join(printed: list[Rewriting]) -> str:
    """Return the texts as one stream, with each file's name above its text."""
    if len(printed) == 1:
        return printed[0].text
    parts = []
    for each in printed:
        text = each.text if each.text.endswith("\n") else f"{each.text}\n"
        parts.append(f"---\n# {each.source.name}\n{text.removeprefix('---' + chr(10))}")
    return "".join(parts)


def _refuse_odd_combinations(values: argparse.Namespace) -> None:
    if values.in_place and not values.rewrite:
        raise UsageError(
            "--in-place needs --rewrite",
            fix="add --rewrite: pulumi-dra check --rewrite --in-place PATH",
        )
    if values.fix:
        raise UsageError(
            "--rewrite and --fix can't be combined", fix="use --fix, which includes --rewrite"
        )
    if values.driver_upgrade:
        raise UsageError(
            "--rewrite and --driver-upgrade can't be combined", fix="use only one of them"
        )
    if values.format != "text":
        raise UsageError(
            f"--rewrite prints manifests, not findings, so --format {values.format} isn't "
            "supported",
            fix="to print the findings, remove --rewrite",
        )
    if values.observed and not values.paths:
        raise UsageError(
            "--rewrite changes manifests, but --observed reads a snapshot",
            fix="pass manifests: pulumi-dra check --rewrite PATH",
        )
    if values.in_place and "-" in values.paths:
        raise UsageError(
            "--in-place can't change standard input",
            fix="to print the rewritten manifests, remove --in-place",
        )
