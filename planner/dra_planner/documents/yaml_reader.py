"""One YAML document, built from the events of libyaml with the line of every key and item.

This is faster than composing nodes first, and the only way to keep both positions and kubectl's
dialect. If libyaml is missing, PyYAML's own parser returns the same tree.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

import yaml
from yaml.events import (
    AliasEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    StreamEndEvent,
)

from dra_planner.documents.limits import MAX_DEPTH, MAX_NODES
from dra_planner.documents.scalars import (
    MERGE,
    NotInJson,
    PlainKeys,
    PlainValues,
    key_text,
    resolve_plain,
)
from dra_planner.documents.tree import Map, Seq
from dra_planner.documents.yaml_advice import RENDER


class PurePythonParser(yaml.reader.Reader, yaml.scanner.Scanner, yaml.parser.Parser):
    """PyYAML's own parser, from text to events."""

    def __init__(self, text: str) -> None:
        yaml.reader.Reader.__init__(self, text)
        yaml.scanner.Scanner.__init__(self)
        yaml.parser.Parser.__init__(self)


Parser: Callable[[str], Any] = PurePythonParser
with suppress(ImportError):  # PyYAML can be installed without libyaml
    from yaml.cyaml import CParser as Parser  # type: ignore[attr-defined]  # the stubs forget to export it


class Fault(Exception):
    """The reason why a document can't be read. `line` counts from 1 within the document."""

    def __init__(self, message: str, line: int, fix: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.fix = fix


class Remark:
    """A value that could be read, but that probably isn't what the author meant."""

    __slots__ = ("code", "fix", "line", "message")

    def __init__(self, code: str, message: str, line: int, fix: str) -> None:
        self.code = code
        self.message = message
        self.line = line
        self.fix = fix


_OF_OBJECTS: Final = frozenset({"kind", "metadata", "spec", "status"})
_UNSET: Final = object()
_UNKNOWN: Final = object()
_MAX_REMEMBERED: Final = 50_000
_ESCAPED_SLASH: Final = re.compile(r"(?<!\\)(?:\\\\)*\\/")  # goyaml.v2 doesn't support it
_ANCHOR: Final = re.compile(r"(?<![\w=/.;)%+&])&(?![&\s])")
_TAGS: Final[dict[str, type]] = {
    "str": str,
    "binary": str,
    "timestamp": str,
    "bool": bool,
    "int": int,
    "float": float,
    "null": type(None),
}
_CORE: Final = "tag:yaml.org,2002:"


def read_yaml(
    text: str, first_line: int = 1, most_nodes: int = MAX_NODES
) -> tuple[Any, list[Remark]]:
    """Return the tree of one document and remarks about it. The tree of an empty document is None.

    Raises Fault. `most_nodes` is the maximum number of nodes to which aliases can expand.
    """
    if len(_LINES) >= _MAX_REMEMBERED:
        _LINES.clear()
    try:
        builder = _Builder(Parser(text).get_event, first_line, text, most_nodes)
        return builder.build(), builder.remarks
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line if mark is not None else 0
        raise Fault(error.problem or "is not YAML", first_line + line) from None
    except yaml.YAMLError as error:
        reason = getattr(error, "reason", None) or "is not YAML"
        position = getattr(error, "position", 0) or 0
        raise Fault(f"{reason}", first_line + text.count("\n", 0, position)) from None
    except UnicodeEncodeError:
        raise Fault(
            "contains half of a surrogate pair", first_line, "save the file as UTF-8"
        ) from None
    except NotInJson as error:
        raise Fault(
            f"{error} is a number that JSON can't represent",
            first_line + _line_of(str(error), text),
        ) from None


def _line_of(scalar: str, text: str) -> int:
    """Return the line, from 0, of the first value that is this unquoted scalar."""
    next_event: Callable[[], Any] = Parser(text).get_event
    while True:
        event = next_event()
        if isinstance(event, ScalarEvent) and event.implicit[0] and event.value == scalar:
            return event.start_mark.line if event.start_mark is not None else 0


VALUES: Final = PlainValues()
_KEYS: Final = PlainKeys()
# in most collections, the keys are on consecutive lines
_LINES: Final[dict[tuple[int, ...], tuple[int, ...]]] = {}


class _Builder:
    """Converts the events of one document into a tree.

    Nine of ten nodes are plain scalars, which are converted directly. `_node` reads all other
    nodes. Anchors are rare. If a text doesn't have anchors, the reader doesn't count or look them
    up.
    """

    def __init__(
        self, next_event: Callable[[], Any], first_line: int, text: str, most_nodes: int
    ) -> None:
        self.remarks: list[Remark] = []
        # number of the object in the document, if no separator precedes it
        self._has_second = False
        self._next = next_event
        self._first = first_line
        self._has_anchors = _may_have_anchors(text)
        self._has_questions = "?" in text
        self._escapes = text if "\\/" in text else ""
        self._flows = 0
        self._anchors: dict[str, Any] = {}
        self._sizes: dict[int, int] = {}
        self._nodes, self._most_nodes = 0, most_nodes

    def build(self) -> Any:
        """Return the tree of the first document. Like goyaml.v2, this doesn't read the text after
        the document, but adds a remark.
        """
        next_event = self._next
        next_event()  # skip the start of the stream
        event = next_event()
        if event.__class__ is StreamEndEvent:
            return None
        root = self._node(next_event(), MAX_DEPTH)
        end = next_event()
        try:
            follows = next_event().__class__ is not StreamEndEvent
        except yaml.YAMLError:
            follows = True
        if follows:
            line = end.end_mark.line + self._first
            message = "the API server ignores text after the end of the document"
            self.remarks.append(
                Remark("ignored-text", message, line, "separate documents with a line of ---")
            )
        return root

    @property
    def _node(self) -> Callable[[Any, int], Any]:
        """Return the function that reads a node. It isn't stored, because the builder would then
        contain a reference to itself.
        """
        return self._anchored if self._has_anchors else self._bare

    @property
    def _is_plain(self) -> bool:
        """Return whether plain scalars of the collection that begins here don't need a check."""
        return not (self._has_anchors or (self._has_questions and self._flows))

    def _anchored(self, event: Any, room: int) -> Any:
        """Return a node of a text with anchors.

        Nodes with an anchor are kept for their aliases, and all nodes are counted.
        """
        anchor = event.anchor
        if event.__class__ is AliasEvent or anchor is None:
            self._nodes += 1
            return self._bare(event, room)
        before = self._nodes
        self._anchors[anchor] = _UNSET
        node = self._bare(event, room)
        self._nodes += 1
        self._anchors[anchor] = node
        self._sizes[id(node)] = self._nodes - before
        return node

    def _bare(self, event: Any, room: int) -> Any:
        """Return the node that begins with this event. `room` is the number of further nesting
        levels that are allowed.
        """
        kind = event.__class__
        if kind is ScalarEvent:
            if not event.implicit[0]:
                return self._tagged(event)
            self._check_question(event)
            return VALUES[event.value]
        line = event.start_mark.line + self._first
        if kind is AliasEvent:
            return self._alias(event.anchor, line)
        if not room:
            raise Fault(f"is nested more than {MAX_DEPTH} levels deep", line)
        self._flows += bool(event.flow_style)
        node = (
            self._mapping(line, room - 1)
            if kind is MappingStartEvent
            else self._sequence(line, room - 1)
        )
        self._flows -= bool(event.flow_style)
        return node

    def _mapping(self, line: int, room: int) -> Map:
        next_event, read_node, is_plain = self._next, self._node, self._is_plain
        node = Map()
        node.line = line
        lines: list[int] = []
        add_line, begin = lines.append, line - self._first
        # keys that were merged or repeated, and their last positions
        moved: dict[str, int] = {}
        while True:
            event = next_event()
            if event.__class__ is ScalarEvent and is_plain and event.implicit[0]:
                key = _KEYS[event.value]
            elif event.__class__ is MappingEndEvent:
                found = tuple(lines) if not moved else tuple(map(moved.get, node, lines))
                node.lines = _LINES.setdefault(found, found)
                return node
            else:
                key = self._key(event, room)
            below = event.start_mark.line - begin
            if key is None:
                self._merge(node, event, lines, moved, below, room)
                continue
            event = next_event()
            if event.__class__ is ScalarEvent and is_plain and event.implicit[0]:
                value = VALUES[event.value]
            else:
                value = read_node(event, room)
            if key not in node:
                node[key] = value
                add_line(below)
            else:
                if key not in moved:
                    self._remark_repeated(key, line + below)
                node[key] = value
                moved[key] = below

    def _sequence(self, line: int, room: int) -> Seq:
        next_event, read_node, is_plain = self._next, self._node, self._is_plain
        node = Seq()
        node.line = line
        lines: list[int] = []
        add_line, begin = lines.append, line - self._first
        while True:
            event = next_event()
            if event.__class__ is SequenceEndEvent:
                found = tuple(lines)
                node.lines = _LINES.setdefault(found, found)
                return node
            add_line(event.start_mark.line - begin)
            if event.__class__ is ScalarEvent and is_plain and event.implicit[0]:
                node.append(VALUES[event.value])
            else:
                node.append(read_node(event, room))

    def _key(self, event: Any, room: int) -> str | None:
        """Return the text of a key that isn't a plain scalar, or that has an anchor. None if the
        key merges another mapping, or is null.
        """
        if event.__class__ is ScalarEvent and event.implicit[0]:
            self._check_question(event)
            value = _KEYS[event.value]
            if event.anchor is not None:
                self._anchors[event.anchor] = VALUES[event.value]
            return None if value is None else str(value)
        node = self._node(event, room)
        if isinstance(node, Map | Seq):
            raise Fault(*_complex_key(node))
        return key_text(node)

    def _remark_repeated(self, key: str, line: int) -> None:
        message, fix = (
            f'"{key}" appears twice in one mapping, so the last value applies',
            "remove one of the two keys",
        )
        if key == "apiVersion":
            message = (
                "a second object begins here without a --- line before it, so its fields "
                "override the first object's fields"
            )
            fix, self._has_second = "add a line with --- before it", True
        elif key in _OF_OBJECTS and self._has_second:
            return  # the key belongs to the second object
        self.remarks.append(Remark("duplicate-key", message, line, fix))

    def _merge(
        self, node: Map, key: Any, lines: list[int], moved: dict[str, int], below: int, room: int
    ) -> None:
        """Merge `<<: *alias`. As in goyaml.v2, the merged keys override earlier keys."""
        if key.__class__ is not ScalarEvent or key.value != MERGE:
            text = getattr(key, "value", None) or "null"
            what = (
                f"{text}, a number with more than 63 bits" if text.strip("+").isdigit() else "null"
            )
            raise Fault(f"a key is {what}", node.line + below, f'quote the key: "{text}"')
        value = self._node(self._next(), room)
        for part in reversed(value if isinstance(value, Seq) else [value]):
            if not isinstance(part, Map):
                raise Fault(
                    "map merge requires map or sequence of maps as the value", node.line + below
                )
            for name, item in part.items():
                if name not in node:
                    lines.append(below)
                elif name not in moved:
                    message = f'"{name}" comes before a merge key (<<), which overrides it'
                    self.remarks.append(
                        Remark(
                            "merged-key",
                            message,
                            node.line + below,
                            "move the merge key (<<) to the beginning of the mapping",
                        )
                    )
                node[name] = item
                moved[name] = below

    def _alias(self, anchor: str, line: int) -> Any:
        value = self._anchors.get(anchor, _UNKNOWN)
        if value is _UNKNOWN:
            raise Fault(
                f"unknown anchor '{anchor}' referenced", line, f"define &{anchor} before *{anchor}"
            )
        if value is _UNSET:
            raise Fault(f"anchor '{anchor}' value contains itself", line)
        self._nodes += self._sizes.get(id(value), 1)
        if self._nodes > self._most_nodes:
            raise Fault(
                f"expands to more than {self._most_nodes:,} YAML nodes", line, "use fewer aliases"
            )
        return value

    def _check_question(self, event: Any) -> None:
        """Reject a question mark in a plain scalar between brackets, because goyaml.v2 reads it as
        a key indicator there.
        """
        if self._flows and "?" in event.value:
            line = event.start_mark.line + self._first
            raise Fault(
                "did not find expected ',' or closing bracket",
                line,
                "quote the value with the question mark",
            )

    def _tagged(self, event: Any) -> Any:
        """Return the value of a scalar that is quoted or has a tag."""
        tag, text = event.tag, event.value
        line = event.start_mark.line + self._first
        span = event.start_mark.index, event.end_mark.index
        if self._escapes and event.style == '"' and _ESCAPED_SLASH.search(self._escapes, *span):
            raise Fault(
                "found unknown escape character", line, "remove the backslash before the slash"
            )
        if tag is None or tag == "!":
            return text
        short = tag.removeprefix(_CORE)
        # the tag is unknown, so it's dropped, and the text stays
        if short == tag or short not in _TAGS:
            name = tag if short == tag else f"!!{short}"
            self.remarks.append(
                Remark(
                    "yaml-tag",
                    f"YAML reads {name} as a tag and ignores it",
                    line,
                    "put the whole value in quotes",
                )
            )
            return text
        if short == "binary":
            return _decoded(text, line)
        if short == "str":
            return text
        value = resolve_plain(text)
        if short == "float" and isinstance(value, int) and not isinstance(value, bool):
            return float(value)
        if type(value) is not _TAGS[short]:
            raise Fault(f"cannot decode `{text}` as a !!{short}", line)
        return value


def _may_have_anchors(text: str) -> bool:
    """Return whether some `&` might begin an anchor, unlike in `a && b`, or in a query such as
    `?a=1&b=2`.
    """
    at = text.find("&")
    while at >= 0:
        if _ANCHOR.match(text, at):
            return True
        at = text.find("&", at + 1)
    return False


def _decoded(text: str, line: int) -> str:
    try:
        return base64.b64decode(text.replace("\n", "").replace("\r", ""), validate=True).decode(
            "utf-8", "replace"
        )
    except ValueError:
        raise Fault("!!binary value contains invalid base64 data", line) from None


def _complex_key(node: Map | Seq) -> tuple[str, int, str]:
    kind = "mapping" if isinstance(node, Map) else "sequence"
    fix = ""
    if isinstance(node, Map) and len(node) == 1 and next(iter(node.values())) is None:
        fix = RENDER
    return f"a key is a {kind}", node.line, fix
