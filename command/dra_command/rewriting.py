"""`pulumi-dra check --rewrite`: manifests with every older form of a DRA object in the form of v1."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from dra_command.arguments import UsageError
from dra_command.inputs import read_inputs
from dra_command.status import Status
from dra_command.writing import write_whole
from dra_planner.errors import SourceError
from dra_planner.manifests import rewrite
from dra_planner.manifests.documents import Document, read_documents
from dra_planner.sources import STDIN_NAME, Source


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A source and its text in the form of v1."""

    source: Source
    text: str

    @property
    def is_changed(self) -> bool:
        return self.text != self.source.text


def run(values: argparse.Namespace) -> int:
    """Print the manifests that hold older forms, or change their files; raises PlannerError for wrong input."""
    _refuse_odd_combinations(values)
    sources = read_inputs(values, needs_capacity=False).sources
    read_documents(sources)  # says what cannot be read before anything is printed or changed
    rewritten = [rewrite_source(source) for source in sources]
    changed = [each for each in rewritten if each.is_changed]
    if values.in_place:
        for each in changed:
            path = Path(each.source.name)
            write_whole(path, each.text, SourceError, mode=path.stat().st_mode & 0o777)
            _tell(each, sys.stdout)
    else:
        printed = [each for each in rewritten if each.is_changed or each.source.name == STDIN_NAME]
        print(_join(printed), end="")
        for each in changed if not values.quiet else ():
            _tell(each, sys.stderr)
    if not changed and not values.quiet:
        counted = f"{len(sources)} file{'s' if len(sources) != 1 else ''}"
        print(f"nothing to rewrite: {counted}, no older form of a DRA object", file=sys.stderr)
    return Status.FITS


def rewrite_source(source: Source) -> Rewritten:
    """Return the source in the form of v1; JSON stays JSON, and what needs no change keeps every byte."""
    text = rewrite(source)
    if text != source.text and source.text.lstrip().startswith("{"):
        documents, _ = read_documents([Source(source.name, text)])
        text = "".join(json.dumps(each.data, indent=2, ensure_ascii=False) + "\n" for each in documents)
    return Rewritten(source, text)


def changes(each: Rewritten) -> list[str]:
    """Return one line per object that is written otherwise: its place, its name, and the versions."""
    before, _ = read_documents([each.source])
    after, _ = read_documents([Source(each.source.name, each.text)])
    kept = [_comparable(document) for document in after]
    lines: list[str] = []
    for old in before:
        if _comparable(old) in kept:
            kept.remove(_comparable(old))
            continue
        lines.extend(f"{old.place.file}:{line}: {words}" for line, words in _changed(old, after))
    return lines


def _changed(old: Document, after: Iterable[Document]) -> list[tuple[int, str]]:
    new_versions = {_identity(item): item.get("apiVersion", "") for doc in after for item in _objects(doc.data)}
    told = []
    for item in _objects(old.data):
        version, (kind, name) = item.get("apiVersion", ""), _identity(item)
        line = getattr(item, "line", old.place.line)
        new = new_versions.get((kind, name)) or new_versions.get((_SUCCESSORS.get(kind, ""), name))
        if new is None:
            told.append((line, f"{kind} {name}: {version} has no form in v1"))
        elif new != version:
            told.append((line, f"{kind} {name}: {version} → {new}"))
    return told or [(old.place.line, "{} {}: written in the form of v1".format(*_identity(old.data)))]


_SUCCESSORS = {"ResourceClass": "DeviceClass"}


def _objects(data: Any) -> list[Any]:
    if not isinstance(data, dict):
        return []
    items = data.get("items")
    if str(data.get("kind", "")).endswith("List") and isinstance(items, list):
        return [item for item in items if isinstance(item, dict)]
    return [data]


def _identity(data: Any) -> tuple[str, str]:
    metadata = data.get("metadata")
    return str(data.get("kind", "")), str(metadata.get("name", "") if isinstance(metadata, dict) else "")


def _comparable(document: Document) -> str:
    return json.dumps(document.data, sort_keys=True, default=str)


def _tell(each: Rewritten, file: TextIO) -> None:
    for line in changes(each):
        print(line, file=file)


def _join(printed: list[Rewritten]) -> str:
    """Return the texts as one stream, each file below its name."""
    if len(printed) == 1:
        return printed[0].text
    parts = []
    for each in printed:
        text = each.text if each.text.endswith("\n") else f"{each.text}\n"
        parts.append(f"---\n# {each.source.name}\n{text.removeprefix('---' + chr(10))}")
    return "".join(parts)


def _refuse_odd_combinations(values: argparse.Namespace) -> None:
    if values.in_place and not values.rewrite:
        raise UsageError("--in-place needs --rewrite", fix="pulumi-dra check --rewrite --in-place PATH")
    if values.driver_upgrade:
        raise UsageError("--rewrite and --driver-upgrade are two questions", fix="ask one at a time")
    if values.format != "text":
        raise UsageError(
            f"--rewrite prints manifests, not findings: --format {values.format} cannot be given with it",
            fix="run `pulumi-dra check` again without --rewrite for the findings",
        )
    if values.observed and not values.paths:
        raise UsageError(
            "--rewrite changes manifests, and --observed names a snapshot: which manifests are meant is not said",
            fix="name their files or folders: pulumi-dra check --rewrite PATH",
        )
    if values.in_place and "-" in values.paths:
        raise UsageError(
            "--in-place changes files, and standard input is none",
            fix="leave --in-place out to print the rewritten manifests",
        )
