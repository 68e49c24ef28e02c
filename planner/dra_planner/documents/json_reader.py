"""JSON texts as trees that find their lines on request.

A cluster's snapshot has megabytes of objects, but few appear in messages. So the standard decoder
reads the objects, and lines are looked up in the text only when needed, one collection at a time.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from json.decoder import scanstring  # type: ignore[attr-defined]  # the stubs forget to export it
from typing import Any, Final

from msgspec import Struct

from dra_planner.documents.limits import MAX_DEPTH, MAX_NODES
from dra_planner.documents.tree import Map, Seq
from dra_planner.documents.yaml_reader import VALUES, Fault, Remark, read_yaml

_SPACE: Final = re.compile(r"[ \t\n\r]*")
_TOKEN: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\]]|[^\s{}\[\]:,"]+')
_HALF_A_PAIR: Final = re.compile(r"\\u[dD][89a-fA-F]")
# values below this depth are parsed at once, so that no text is read several times
_LEVELS_ONE_BY_ONE: Final = 12


class _RepeatedKey(Exception):
    """A mapping has a key twice."""


def _to_map(pairs: list[tuple[str, Any]]) -> Map:
    node = Map(pairs)
    if len(node) != len(pairs):
        raise _RepeatedKey
    return node


# Numbers are converted as in YAML, so the same snapshot has the same values in both formats.
_number: Final = VALUES.__getitem__
_TREES: Final = json.JSONDecoder(
    object_pairs_hook=_to_map, parse_int=_number, parse_float=_number, parse_constant=_number
)
_PLAIN: Final = json.JSONDecoder(parse_int=_number, parse_float=_number, parse_constant=_number)


class JsonValue(Struct, frozen=True):
    """One value in a JSON text, from `begin` to `end`. `is_doubtful` is set if a key is repeated.
    In that case, `data` is plain.
    """

    text: str
    begin: int
    end: int
    data: Any
    is_doubtful: bool = False

    def tree(self, first_line: int, most_nodes: int = MAX_NODES) -> tuple[Any, list[Remark]]:
        """Return the tree, whose first line has the number `first_line`, and remarks about it.

        Raises Fault. Values with a repeated key are read as YAML, to find its line. If libyaml
        rejects some JSON, its values don't have line numbers.
        """
        if self._has_half_a_pair():
            raise Fault(
                "contains half of a surrogate pair",
                first_line,
                "replace the incomplete escape sequence with the full character",
            )
        if not self.is_doubtful:
            return self._with_lines(first_line), []
        try:
            return read_yaml(self.text[self.begin : self.end], first_line, most_nodes)
        except Fault:
            return self.data, []

    def _has_half_a_pair(self) -> bool:
        try:
            if not self.text.isascii():
                self.text[self.begin : self.end].encode("utf-8")
            if _HALF_A_PAIR.search(self.text, self.begin, self.end):
                json.dumps(self.data, ensure_ascii=False).encode("utf-8")
        except UnicodeEncodeError:
            return True
        return False

    def _with_lines(self, first_line: int) -> Any:
        root = Seq(self.data) if self.data.__class__ is list else self.data
        if root.__class__ is Map or root.__class__ is Seq:
            root.line = first_line
            root.finder = _Finder(self.text, self.begin, _LEVELS_ONE_BY_ONE)
            too_deep = _make_sequences(root)
            if too_deep is not None:
                _find_all(root, self.text, self.begin)
                raise Fault(f"is nested more than {MAX_DEPTH} levels deep", too_deep.line)
        return root


def decode_json(text: str, begin: int = 0) -> JsonValue:
    """Return the JSON value that begins here, ignoring any text after it. Raises JSONDecodeError or
    RecursionError.
    """
    try:
        data, end = _TREES.raw_decode(text, begin)
    except _RepeatedKey:
        data, end = _PLAIN.raw_decode(text, begin)
        return JsonValue(text, begin, end, data, is_doubtful=True)
    return JsonValue(text, begin, end, data)


def read_json(
    text: str, first_line: int = 1, most_nodes: int = MAX_NODES
) -> tuple[Any, list[Remark]]:
    """Return the tree of a JSON text, or of YAML that begins like JSON, and remarks about it.
    Raises Fault.
    """
    begin = _skip_space(text, 0)
    try:
        value = decode_json(text, begin)
        is_json = _skip_space(text, value.end) == len(text)
    except (ValueError, RecursionError):
        is_json = False
    if not is_json:
        return read_yaml(text, first_line, most_nodes)
    return value.tree(first_line + text.count("\n", 0, begin), most_nodes)


def _make_sequences(root: Map | Seq) -> Map | Seq | None:
    """Replace every list below a node with a list that has line numbers.

    Return the first collection that is nested too deeply, or None.
    """
    level: list[Map | Seq] = [root]
    for _ in range(MAX_DEPTH):
        below: list[Map | Seq] = []
        for node in level:
            items: Any = node.items() if node.__class__ is Map else enumerate(node)
            for key, value in items:
                kind = value.__class__
                if kind is Map:
                    below.append(value)
                elif kind is list:
                    node[key] = made = Seq(value)
                    below.append(made)
        level = below
        if not level:
            return None
    return level[0]


class _Finder:
    """Finds the line numbers in a collection that begins at `begin` in a text, and the positions of
    the nested collections.
    """

    __slots__ = ("_begin", "_levels", "_text")

    def __init__(self, text: str, begin: int, levels: int) -> None:
        self._text, self._begin, self._levels = text, begin, levels

    def __call__(self, node: Map | Seq) -> None:
        """Set the line numbers of the collection. A position is reliable only if the collections
        around it were read first.
        """
        if not self._levels:
            _find_all(node, self._text, self._begin)
            return
        text, last, line = self._text, self._begin, 0
        lines: list[int] = []
        for key, at, begin in self._members(node.__class__ is Map):
            line += text.count("\n", last, at)
            lines.append(line)
            value = node[key]  # type: ignore[index]  # a key of a mapping, or a number of a sequence
            if value.__class__ is Map or value.__class__ is Seq:
                value.line = node.line + line + text.count("\n", at, begin)
                value.finder = _Finder(text, begin, self._levels - 1)
            last = at
        node.lines = tuple(lines)

    def _members(self, has_keys: bool) -> Iterator[tuple[str | int, int, int]]:
        """Yield each key or number, its position, and the position where its value begins."""
        text = self._text
        at = _skip_space(text, self._begin + 1)
        number = 0
        while text[at] not in "}]":
            begin, key = at, number
            if has_keys:
                key, begin = scanstring(text, at + 1, True)
                begin = _skip_space(text, _skip_space(text, begin) + 1)  # skip the colon
            yield key, at, begin
            number += 1
            at = _skip_space(text, _PLAIN.raw_decode(text, begin)[1])
            if text[at] == ",":
                at = _skip_space(text, at + 1)


def _find_all(root: Map | Seq, text: str, begin: int) -> None:
    """Set the lines of a collection that begins at `begin` in a text, and of everything inside
    it.
    """
    stack: list[tuple[Map | Seq, Iterator[Any], list[int]]] = []
    node, values, lines = root, iter(()), list[int]()
    line, last, is_key = root.line, begin, False
    for token in _TOKEN.finditer(text, begin):
        at = token.start()
        line += text.count("\n", last, at)
        last, sign = at, text[at]
        if sign in "}]":
            node.lines, node.finder = tuple(lines), None
            node, values, lines = stack.pop()
            is_key = node.__class__ is Map
            if not stack:
                return
            continue
        if stack and (is_key or node.__class__ is Seq):
            lines.append(line - node.line)
        if is_key:
            is_key = False
            continue
        if sign in "{[":
            stack.append((node, values, lines))
            node = next(values) if len(stack) > 1 else root
            node.line, lines = line, []
            values = iter(node.values() if isinstance(node, Map) else node)
        else:
            next(values)
        is_key = node.__class__ is Map


def _skip_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match is not None else at
