"""Rewrite manifests inside pages and scripts to v1 in place. Code fences, heredocs, and all other
text stay unchanged.

Shell variables in a heredoc ($NAME, ${NAME}) are kept. If the new text contains other characters
that the shell would expand, the block isn't rewritten.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.errors import ManifestError, Place
from dra_planner.manifests.documents import read_documents
from dra_planner.manifests.objects import read_objects
from dra_planner.manifests.repairing import plain_separator
from dra_planner.manifests.rewriting.document_texts import cut
from dra_planner.manifests.rewriting.rewrite import KeptObject, Rewriting, RewrittenObject
from dra_planner.sources import Source, has_embedded
from dra_tutorials.blocks.embedded import CodeBlock, manifest_blocks

_SHELL_VALUE: Final = re.compile(r"\$(?:\{[A-Za-z_]\w*\}|[A-Za-z_]\w*)")
_TAKEN_BY_SHELLS: Final = re.compile(r"\$[\w({@*#?!$-]|[`\\]")
_FILLED_IN: Final = "shell-value-{}-end"
_HELD: Final = re.compile(r"shell-value-(\d+)-end")

Rewrite = Callable[[Sequence[Source]], Sequence[Rewriting]]


class _Part(Struct, frozen=True):
    """A block of a page as a separate source, in which placeholders replace the shell variables."""

    block: CodeBlock
    source: Source
    values: tuple[str, ...]

    def shown(self, text: str) -> str:
        """Return text of this block in which the shell variables replace the placeholders."""
        return _HELD.sub(lambda match: self.values[int(match[1])], text)

    def reason(self, text: str) -> str:
        """Return why an object isn't rewritten, followed by the shell variables that were treated
        as text because only the shell knows their values.
        """
        filled = (
            f"; shell variables were treated as text: {', '.join(self.values)}"
            if self.values
            else ""
        )
        return f"{self.shown(text)}{filled}"


def rewrite_with_pages(sources: Sequence[Source], rewrite: Rewrite) -> tuple[Rewriting, ...]:
    """Return all sources rewritten together. Blocks in pages and scripts are rewritten in place.

    A block that can't be read isn't changed, and the result lists it.
    """
    pages = {source.name: _parts(source) for source in sources if has_embedded(source.name)}
    texts = [source for source in sources if source.name not in pages]
    parts = [part for found, _ in pages.values() for part in found]
    done = list(rewrite([*texts, *(part.source for part in parts)]))
    files = dict(zip((source.name for source in texts), done, strict=False))
    rest = iter(done[len(texts) :])
    for source in sources:
        if source.name in pages:
            found, refused = pages[source.name]
            files[source.name] = _together(source, [(part, next(rest)) for part in found], refused)
    return tuple(files[source.name] for source in sources)


def _parts(page: Source) -> tuple[list[_Part], list[KeptObject]]:
    """Return the blocks of a page that contain objects, and the reasons why unreadable blocks
    aren't rewritten.
    """
    parts: list[_Part] = []
    refused: list[KeptObject] = []
    for block in manifest_blocks(page):
        text = "".join(f"{line}\n" for line in block.lines)
        values: tuple[str, ...] = ()
        if block.expands:
            text, values = _held_apart(text)
        source = Source(page.name, "\n".join(map(plain_separator, text.split("\n"))))
        refused += _unreadable(source, block.first)
        parts.append(_Part(block, source, values))
    return parts, refused


def _unreadable(block: Source, first: int) -> Iterator[KeptObject]:
    """Yield the reason why each unreadable document of a block isn't rewritten. The other documents
    are rewritten.
    """
    line = 0
    for before, text in cut(block.text):
        line += before.count("\n")
        try:
            read_objects(read_documents([Source(block.name, "\n" * line + text)])[0])
        except ManifestError as error:
            yield KeptObject(
                Place(block.name, error.place.line + first), "a block", "YAML", error.message
            )
        line += text.count("\n")


def _held_apart(text: str) -> tuple[str, tuple[str, ...]]:
    """Return a text in which placeholders replace the shell variables, and the variables."""
    values = tuple(dict.fromkeys(_SHELL_VALUE.findall(text)))
    return _SHELL_VALUE.sub(lambda match: _FILLED_IN.format(values.index(match[0])), text), values


def _together(
    page: Source, done: Iterable[tuple[_Part, Rewriting]], refused: Sequence[KeptObject]
) -> Rewriting:
    lines = page.text.splitlines(keepends=True)
    changes: list[RewrittenObject] = []
    refusals = list(refused)
    for part, rewriting in reversed(list(done)):
        first = part.block.first
        refusals += [
            KeptObject(
                _below(each.place, first),
                part.shown(each.name),
                each.was,
                part.reason(each.reason),
                each.example,
            )
            for each in rewriting.refusals
        ]
        taken = _taken_by_shell(part, rewriting) if rewriting.is_changed else ""
        if taken:
            reason = (
                f'the new text contains "{taken}", which the shell would interpret; put quotes '
                "around the heredoc delimiter"
            )
            refusals += [
                KeptObject(_below(each.place, first), part.shown(each.name), each.was, reason)
                for each in rewriting.changes
            ]
        elif rewriting.is_changed:
            lines[first : first + len(part.block.lines)] = _written(
                part, rewriting.text, lines[first:]
            )
            changes += _separated(part, page.name)
            changes += [
                replace(each, place=_below(each.place, first), name=part.shown(each.name))
                for each in rewriting.changes
            ]
    changes.sort(key=lambda each: each.place.line)
    refusals.sort(key=lambda each: each.place.line)
    return Rewriting(page, "".join(lines), tuple(changes), tuple(refusals))


def _separated(part: _Part, file: str) -> Iterator[RewrittenObject]:
    """Yield the lines of dashes that were replaced with the intended separators."""
    for number, line in enumerate(part.block.lines, part.block.first + 1):
        if plain_separator(line) != line:
            yield RewrittenObject(Place(file, number), "a separator", line, "---")


def _below(place: Place, lines: int) -> Place:
    return replace(place, line=place.line + lines)


def _taken_by_shell(part: _Part, rewriting: Rewriting) -> str:
    """Return the first characters in the new lines that a shell would interpret, but that the old
    text doesn't contain. Return "" if there are none.
    """
    if not part.block.expands:
        return ""
    old = set(part.source.text.splitlines())
    new = (line for line in rewriting.text.splitlines() if line not in old)
    before = set(_TAKEN_BY_SHELLS.findall(part.source.text))
    found = (
        match for line in new for match in _TAKEN_BY_SHELLS.findall(line) if match not in before
    )
    return next(found, "")


def _with_separator(line: str) -> str:
    text = line.rstrip("\r\n").lstrip()
    return line if plain_separator(text) == text else line.replace(text, plain_separator(text))


def _written(part: _Part, text: str, raw: Sequence[str]) -> list[str]:
    """Return the lines of a page for a block. Unchanged lines keep all their characters, and new
    lines get the block's indentation.
    """
    old, new = part.source.text.splitlines(), text.splitlines()
    end = re.search(r"\r?\n\Z|\r\Z", raw[0]) if raw else None
    written: list[str] = []
    for what, begin, stop, first, last in SequenceMatcher(
        None, old, new, autojunk=False
    ).get_opcodes():
        if what == "equal":
            written += map(_with_separator, raw[begin:stop])
            continue
        for line in new[first:last]:
            indent = part.block.indent if line else ""
            written.append(f"{indent}{part.shown(line)}{end[0] if end else chr(10)}")
    return written
