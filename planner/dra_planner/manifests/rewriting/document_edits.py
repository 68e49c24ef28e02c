"""Change a document's text: move, remove, and add keys, and keep comments, order, and indentation.

A change contains the new entries of a mapping. Unchanged entries are copied exactly.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, Final

import yaml
from msgspec import Struct

from dra_planner.documents.scalars import resolve_plain
from dra_planner.manifests.rewriting.spans import List, Mapping, Node, Pair, Scalar

_STEP: Final = 2  # number of columns for a new indentation level
_COMMENT: Final = re.compile(r"(?:^|(?<=\s))#[^\n]*")


class Unwritable(Exception):
    """A text can't be changed without losing a part of it. The message names the part."""


class Kept(Struct, frozen=True):
    """A pair that stays unchanged."""

    pair: Pair


class Nested(Struct, frozen=True):
    """Pairs that are moved below a new key."""

    key: str
    pairs: Sequence[Pair]


class Lifted(Struct, frozen=True):
    """A pair that is replaced by the pairs in its value."""

    pair: Pair


class New(Struct, frozen=True):
    """A new pair, which is inserted below the comments of the pairs that it replaces."""

    key: str
    value: Any
    replaces: Sequence[Pair] = ()


Entry = Kept | Nested | Lifted | New


class Layout(Struct):
    """A document's text and the requested changes, which must not overlap."""

    text: str
    edits: list[tuple[int, int, str]] = []
    inline: list[tuple[int, int, str]] = []

    def result(self) -> str:
        """Return the text with all changes."""
        inside = [(start, end) for start, end, _ in self.edits]
        free = [
            each for each in self.inline if not any(start <= each[0] < end for start, end in inside)
        ]
        return _apply(self.text, 0, len(self.text), [*self.edits, *free])

    def set_scalar(self, node: Scalar, value: str) -> None:
        """Replace a value on one line, and keep its quotes."""
        quote = node.style if node.style in ("'", '"') else ""
        self.inline.append((node.start, node.end, f"{quote}{value}{quote}"))

    def wrap_scalar(self, node: Scalar, key: str) -> None:
        """Replace a value with a mapping that contains it."""
        written = f'"{key}"' if self.is_json else key
        self.inline.append(
            (node.start, node.end, f"{{{written}: {self.text[node.start : node.end]}}}")
        )

    def remove(self, parent: Mapping, key: str) -> None:
        """Remove a pair, and its line if nothing else is on it."""
        pair = parent.pair(key)
        assert pair is not None
        if not parent.is_flow:
            start = self._line_start(pair.key.start)
            if self.text[start : pair.key.start].strip():
                self.reshape(parent, [Kept(other) for other in parent.pairs if other is not pair])
                return
            self.edits.append((start, self._line_end(self._end(pair)) + 1, ""))
            return
        index = parent.pairs.index(pair)
        if index:
            self.edits.append((parent.pairs[index - 1].value.end, pair.value.end, ""))
        else:
            rest = parent.pairs[1].key.start if len(parent.pairs) > 1 else pair.value.end
            self.edits.append((pair.key.start, rest, ""))

    def remove_items(self, pair: Pair, gone: set[int]) -> None:
        """Remove items from the list in the value of a pair. `ids` are the IDs of their nodes."""
        node = pair.value
        assert isinstance(node, List)
        stay = [item for item in node.items if id(item) not in gone]
        if not stay:
            begin = node.start if node.is_flow else pair.key.end + 1
            self.edits = [
                (
                    begin,
                    self._line_end(node.end) if not node.is_flow else node.end,
                    " []"[node.is_flow :],
                )
            ]
            return
        for before, item in zip([None, *node.items], node.items, strict=False):
            if id(item) not in gone:
                continue
            if not node.is_flow:
                self.edits.append((self._line_start(item.start), self._line_end(item.end) + 1, ""))
            elif before is not None:
                self.edits.append((before.end, item.end, ""))
            else:
                self.edits.append((item.start, node.items[1].start, ""))

    def reshape(self, node: Mapping, entries: Sequence[Entry]) -> None:
        """Replace the entries of a mapping."""
        if node.is_flow:
            self._reshape_flow(node, entries)
        else:
            self._reshape_block(node, entries)

    def _reshape_block(self, node: Mapping, entries: Sequence[Entry]) -> None:
        column = self._column(node)
        first = node.pairs[0].key.start
        start = self._line_start(first)
        prefix = self.text[start:first]
        own_line = bool(prefix.strip())  # the hyphen of a list item precedes its first key
        heads: list[str] = []
        lines: list[str] = []
        for number, entry in enumerate(entries):
            leading, body = self._block_lines(node, entry, column)
            if own_line and not number:
                heads, lines = leading, [prefix + body[0][column:], *body[1:]]
            else:
                lines += [*leading, *body]
        end = self._line_end(self._end(node.pairs[-1]))
        self.edits.append((start, end, "\n".join([*heads, *lines])))

    def _block_lines(self, node: Mapping, entry: Entry, column: int) -> tuple[list[str], list[str]]:
        """Return the comments above an entry, and its own lines."""
        pad = " " * column
        if isinstance(entry, Kept):
            return self._leading(node, entry.pair), self._lines(entry.pair, column)
        if isinstance(entry, Nested):
            moved = [
                line
                for pair in entry.pairs
                for line in (*self._leading(node, pair), *self._lines(pair, column))
            ]
            return [], [f"{pad}{entry.key}:", *(_shift(line, _STEP) for line in moved)]
        if isinstance(entry, Lifted):
            comments = [f"{pad}{comment}" for comment in self._comments_behind_key(entry.pair)]
            return [*self._leading(node, entry.pair), *comments], self._lifted(entry.pair, column)
        leading = [line for pair in entry.replaces for line in self._leading(node, pair)]
        comments = [
            f"{pad}{comment}" for pair in entry.replaces for comment in self._comments(pair)
        ]
        return [*leading, *comments], [
            pad + line for line in block_text({entry.key: entry.value}).splitlines()
        ]

    def _lifted(self, pair: Pair, column: int) -> list[str]:
        value = pair.value
        assert isinstance(value, Mapping)
        if value.is_flow:
            return [
                " " * column + self._cut(each.key.start, each.value.end) for each in value.pairs
            ]
        below = self._column(value)
        return [
            _shift(line, column - below)
            for each in value.pairs
            for line in (*self._leading(value, each, after=pair.key), *self._lines(each, below))
        ]

    def _reshape_flow(self, node: Mapping, entries: Sequence[Entry]) -> None:
        inside = self._cut(node.start, node.end)
        if re.search(r"(^|\s)#", re.sub(r"\"[^\"]*\"|'[^']*'", "", inside)):
            raise Unwritable("its braces contain comments; change the object to block style first")
        parts: list[str] = []
        for entry in entries:
            if isinstance(entry, Kept):
                parts.append(self._pair_text(entry.pair))
            elif isinstance(entry, Nested):
                inner = ", ".join(map(self._pair_text, entry.pairs))
                parts.append(f"{self._flow_key(entry.key)}: {{{inner}}}")
            elif isinstance(entry, Lifted):
                assert isinstance(entry.pair.value, Mapping)
                parts += map(self._pair_text, entry.pair.value.pairs)
            else:
                value = flow_text(entry.value, as_json=self.is_json)
                parts.append(f"{self._flow_key(entry.key)}: {value}")
        first, last = node.pairs[0].key.start, node.pairs[-1].value.end
        between = (
            self.text[node.pairs[0].value.end : node.pairs[1].key.start]
            if len(node.pairs) > 1
            else ", "
        )
        separator = between if "\n" in between else ", "
        self.edits.append((first, last, separator.join(parts)))

    def _pair_text(self, pair: Pair) -> str:
        return self._cut(pair.key.start, max(pair.value.end, pair.key.end))

    def _flow_key(self, key: str) -> str:
        return f'"{key}"' if self.is_json else key

    @property
    def is_json(self) -> bool:
        return re.match(r'\s*\{\s*"', self.text) is not None

    def _lines(self, pair: Pair, column: int) -> list[str]:
        """Return the lines of a pair, with the first line indented as if it were on a separate
        line.
        """
        text = self._cut(pair.key.start, self._line_end(self._end(pair)))
        return (" " * column + text).split("\n")

    def _leading(self, node: Mapping, pair: Pair, after: Scalar | None = None) -> list[str]:
        """Return the blank lines and comments between the previous pair and this one."""
        index = node.pairs.index(pair)
        if index:
            begin = self._line_end(self._end(node.pairs[index - 1]))
        elif after is not None:
            begin = self._line_end(after.start)
        else:
            return []
        return self.text[begin : self._line_start(pair.key.start)].split("\n")[1:-1]

    def _comments(self, pair: Pair) -> list[str]:
        """Return the comments inside and after a pair."""
        spans = sorted(_scalar_spans(pair))
        region_end = self._line_end(self._end(pair))
        found, position = [], pair.key.start
        for start, end in [*spans, (region_end, region_end)]:
            found += _COMMENT.findall(self.text[position:start])
            position = max(position, end)
        return [comment.rstrip() for comment in found]

    def _comments_behind_key(self, pair: Pair) -> list[str]:
        """Return the comment between a key and a value that begins on another line."""
        end = self._line_end(pair.key.end)
        return _COMMENT.findall(self.text[pair.key.end : end]) if pair.value.start > end else []

    def _end(self, pair: Pair) -> int:
        return max(pair.value.end, pair.key.end)

    def _column(self, node: Mapping) -> int:
        return node.pairs[0].key.start - self._line_start(node.pairs[0].key.start)

    def _line_start(self, position: int) -> int:
        return self.text.rfind("\n", 0, position) + 1

    def _line_end(self, position: int) -> int:
        found = self.text.find("\n", position)
        return len(self.text) if found < 0 else found

    def _cut(self, start: int, end: int) -> str:
        return _apply(
            self.text,
            start,
            end,
            [each for each in self.inline if start <= each[0] and each[1] <= end],
        )


def _apply(text: str, start: int, end: int, edits: Sequence[tuple[int, int, str]]) -> str:
    parts, position = [], start
    for begin, stop, new in sorted(edits):
        parts += [text[position:begin], new]
        position = stop
    return "".join([*parts, text[position:end]])


def _shift(line: str, columns: int) -> str:
    if not line.strip():
        return line
    if columns >= 0:
        return " " * columns + line
    return line[min(-columns, len(line) - len(line.lstrip(" "))) :]


def _scalar_spans(part: Pair | Node) -> list[tuple[int, int]]:
    if isinstance(part, Pair):
        return [(part.key.start, part.key.end), *_scalar_spans(part.value)]
    if isinstance(part, Mapping):
        return [span for pair in part.pairs for span in _scalar_spans(pair)]
    if isinstance(part, Scalar):
        return [(part.start, part.end)]
    return [span for item in getattr(part, "items", ()) for span in _scalar_spans(item)]


class _Dumper(yaml.SafeDumper):
    """Writes block style with indented lists, and quotes text that kubectl would read as another
    type.
    """

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _write_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    if "\n" in text.rstrip("\n") and not re.search(r"[ \t]\n", text):
        return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|")
    style = None if resolve_plain(text) == text else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _write_text)


def block_text(value: Any) -> str:
    """Return plain data as YAML in block style."""
    text: str = yaml.dump(
        value,
        Dumper=_Dumper,
        sort_keys=False,
        width=10_000,
        allow_unicode=True,
        default_flow_style=False,
    )
    return text


def flow_text(value: Any, *, as_json: bool) -> str:
    if as_json:
        return json.dumps(value, ensure_ascii=False)
    text: str = yaml.dump(
        value,
        Dumper=_Dumper,
        sort_keys=False,
        width=10_000,
        allow_unicode=True,
        default_flow_style=True,
    )
    # PyYAML writes a document end after a single scalar
    return text.strip().removesuffix("...").rstrip()
