"""Code blocks in AsciiDoc and reStructuredText pages: their language, lines, and position.

Sources: docs.asciidoctor.org, "Source Code Blocks" and "Callouts"; docutils, directives "code" and
"parsed-literal".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

ASCIIDOC: Final = (".adoc", ".asciidoc", ".asc")
RESTRUCTURED: Final = (".rst",)
_SOURCE: Final = re.compile(r"^\[(?:source|,)[%\w]*(?:,\s*(?P<language>[\w+-]+))?[^\]]*\]\s*$")
_LISTING: Final = re.compile(r"^(?P<sign>-{4,}|\.{4,}|`{3,})(?P<language>[\w+-]*)\s*$")
_BEFORE_LISTING: Final = re.compile(r"\s*$|\.\S|\[")  # blank lines, a title, other attributes
_CALLOUT: Final = re.compile(
    r"(?P<before>.*?)\s+(?:(?:#|//|--)\s*)?(?P<marks>(?:<(?:\d+|\.)>\s*)+)$"
)
_DIRECTIVE: Final = re.compile(
    r"^(?P<indent>\s*)\.\. "
    r"(?:code-block|sourcecode|code|parsed-literal)::\s*(?P<language>[\w+-]*)\s*$"
)
_OPTION: Final = re.compile(r"^\s+:[\w-]+:")


class Marked(Struct, frozen=True):
    """Lines in one language without their common indentation. `first` is the number of the first
    line (from 0).
    """

    language: str
    first: int
    lines: list[str]
    indent: str = ""


def asciidoc_blocks(lines: Sequence[str]) -> Iterator[Marked]:
    """Yield the listings of an AsciiDoc page. Callouts at the end of a line become comments."""
    at, language = 0, ""
    while at < len(lines):
        source, listing = _SOURCE.match(lines[at]), _LISTING.match(lines[at])
        if source is not None:
            language = (source["language"] or "").lower()
        elif listing is not None:
            sign = listing["sign"]
            end = next(
                (n for n in range(at + 1, len(lines)) if lines[n].rstrip() == sign), len(lines)
            )
            found = (language or listing["language"]).lower()
            yield Marked(found, at + 1, [_without_callout(line) for line in lines[at + 1 : end]])
            at, language = end, ""
        elif not _BEFORE_LISTING.match(lines[at]):
            language = ""
        at += 1


def _without_callout(line: str) -> str:
    match = _CALLOUT.match(line)
    return line if match is None else f"{match['before']} # {match['marks'].strip()}"


def directive_blocks(lines: Sequence[str]) -> Iterator[Marked]:
    """Yield the code blocks of a reStructuredText page, which are below a code directive."""
    at = 0
    while at < len(lines):
        directive = _DIRECTIVE.match(lines[at])
        at += 1
        if directive is None:
            continue
        while at < len(lines) and _OPTION.match(lines[at]):
            at += 1
        outside = len(directive["indent"])
        end = next(
            (n for n in range(at, len(lines)) if lines[n].strip() and _depth(lines[n]) <= outside),
            len(lines),
        )
        inside = [line for line in lines[at:end] if line.strip()]
        depth = min(map(_depth, inside), default=0)
        if inside:
            indent = next(line for line in inside if _depth(line) == depth)[:depth]
            yield Marked(
                directive["language"].lower(), at, [line[depth:] for line in lines[at:end]], indent
            )
        at = end


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())
