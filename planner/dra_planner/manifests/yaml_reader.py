"""One YAML document, built from the events of libyaml with the line of every key and item.

Faster than composing nodes first, and the only way to keep both positions and kubectl's dialect. The same text
gives the same tree with PyYAML's own parser where libyaml is missing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

import yaml
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

from dra_planner.manifests.limits import MAX_DEPTH, MAX_NODES
from dra_planner.manifests.scalars import key_text, resolve_plain
from dra_planner.manifests.tree import Map, Seq, new_map, new_seq


class PurePythonParser(yaml.reader.Reader, yaml.scanner.Scanner, yaml.parser.Parser):
    """PyYAML's own parser, from text to events."""

    def __init__(self, text: str) -> None:
        yaml.reader.Reader.__init__(self, text)
        yaml.scanner.Scanner.__init__(self)
        yaml.parser.Parser.__init__(self)


_Parser: Callable[[str], Any] = PurePythonParser
with suppress(ImportError):  # PyYAML may come without libyaml
    from yaml.cyaml import CParser as _Parser  # type: ignore[attr-defined]  # the stubs forget to export it


class Fault(Exception):
    """Why a document cannot be read; `line` counts from 1 within it."""

    def __init__(self, message: str, line: int, fix: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.fix = fix


class Remark:
    """Something that was read, but hardly as it was meant."""

    __slots__ = ("code", "fix", "line", "message")

    def __init__(self, code: str, message: str, line: int, fix: str) -> None:
        self.code = code
        self.message = message
        self.line = line
        self.fix = fix


_UNSET: Final = object()
_UNKNOWN: Final = object()
_RESOLVED: Final[dict[str, Any]] = {}
_MAX_RESOLVED: Final = 50_000
_MAX_RESOLVED_LENGTH: Final = 64
_TEXT_ONLY: Final = frozenset({str})
_CORE: Final = "tag:yaml.org,2002:"


def read_yaml(text: str, first_line: int = 1) -> tuple[Any, list[Remark]]:
    """Return the tree of one document and remarks on it; raises Fault. None stands for an empty document."""
    builder = _Builder(first_line, has_anchors="&" in text)
    try:
        parser = _Parser(text)
        builder.build(parser.get_event)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line if mark is not None else 0
        raise Fault(error.problem or "is not YAML", first_line + line) from None
    except yaml.YAMLError as error:
        reason = getattr(error, "reason", None) or "is not YAML"
        position = getattr(error, "position", 0) or 0
        raise Fault(f"{reason}", first_line + text.count("\n", 0, position)) from None
    except UnicodeEncodeError:
        raise Fault("holds half of a surrogate pair", first_line, "save the file as UTF-8") from None
    return builder.root, builder.remarks


class _Merge(str):
    """The key `<<` where it is written without quotes."""


def _unmerged(value: Any) -> Any:
    """Return a value; `<<` means something only as a key."""
    return "<<" if value.__class__ is _Merge else value


class _Builder:
    """Turns events into a tree; iterative, so that depth costs no stack.

    An open collection is a pair of lists: its values (keys and values in turn, for a mapping) and their lines.
    """

    def __init__(self, first_line: int, *, has_anchors: bool) -> None:
        self.root: Any = None
        self._has_anchors = has_anchors
        self.remarks: list[Remark] = []
        self._first = first_line
        self._anchors: dict[str, Any] = {}
        self._sizes: dict[int, int] = {}
        self._nodes = 0
        self._merges = False

    def build(self, next_event: Callable[[], Any]) -> None:
        first, resolved, anchors, has_anchors = self._first, _RESOLVED, self._anchors, self._has_anchors
        stack: list[tuple[list[Any], list[int], int, str | None, int]] = []
        values: list[Any] = []
        lines: list[int] = []
        while True:
            event = next_event()
            kind = event.__class__
            if kind is ScalarEvent:
                if event.implicit[0]:
                    text = event.value
                    value = resolved.get(text, _UNSET)
                    if value is _UNSET:
                        value = self._plain(text, event)
                else:
                    value = self._tagged(event)
                if has_anchors and event.anchor is not None:
                    anchors[event.anchor] = value
                values.append(value)
                lines.append(event.start_mark.line + first)
            elif kind is MappingStartEvent or kind is SequenceStartEvent:
                line = event.start_mark.line + first
                if len(stack) >= MAX_DEPTH:
                    raise Fault(f"is nested more than {MAX_DEPTH} levels deep", line)
                if event.anchor is not None:
                    anchors[event.anchor] = _UNSET
                self._nodes += 1
                stack.append((values, lines, line, event.anchor, self._nodes))
                values, lines = [], []
            elif kind is MappingEndEvent or kind is SequenceEndEvent:
                outer_values, outer_lines, line, anchor, before = stack.pop()
                self._nodes += len(values)
                if self._merges:
                    first_value = 1 if kind is MappingEndEvent else 0
                    step = first_value + 1
                    values[first_value::step] = [_unmerged(value) for value in values[first_value::step]]
                done = self._map(values, lines, line) if kind is MappingEndEvent else new_seq(values, line, lines)
                if anchor is not None:
                    anchors[anchor] = done
                    self._sizes[id(done)] = self._nodes - before + 1
                values, lines = outer_values, outer_lines
                values.append(done)
                lines.append(line)
            elif kind is AliasEvent:
                line = event.start_mark.line + first
                values.append(self._alias(event.anchor, line))
                lines.append(line)
            elif kind is StreamEndEvent or event is None:
                break
            elif kind is DocumentStartEvent and values:
                line = event.start_mark.line + first
                raise Fault("holds a second document that no line --- separates", line)
        self.root = _unmerged(values[0]) if values else None

    def _map(self, values: list[Any], lines: list[int], line: int) -> Map:
        keys = values[::2]
        if not _TEXT_ONLY.issuperset(map(type, keys)):
            return self._unusual_map(values, lines, line)
        node = Map(zip(keys, values[1::2], strict=True))
        node.line = line
        node.lines = lines[::2]
        return node if len(node) == len(keys) else self._unusual_map(values, lines, line)

    def _unusual_map(self, values: list[Any], lines: list[int], line: int) -> Map:
        """Build a mapping whose keys are merged, repeated or no strings."""
        node = new_map((), line, [])
        merged: set[str] = set()
        for key, value, key_line in zip(values[::2], values[1::2], lines[::2], strict=True):
            if key.__class__ is _Merge:
                merged |= self._merge(node, value, key_line)
                continue
            if isinstance(key, Map | Seq):
                raise Fault(*_complex_key(key))
            text = key_text(key)
            if text is None:
                raise Fault("a key is null", key_line, 'quote the key: "null"')
            if node.put(text, value, key_line) and text not in merged:
                message = f'"{text}" appears twice in one mapping; the last one wins'
                self.remarks.append(Remark("duplicate-key", message, key_line, "remove one of them"))
        return node

    def _merge(self, node: Map, value: Any, line: int) -> set[str]:
        """Merge `<<: *alias` and return the keys; as in goyaml.v2 they override keys that stand before."""
        keys: set[str] = set()
        parts = value if isinstance(value, Seq) else [value]
        for part in reversed(parts):
            if not isinstance(part, Map):
                raise Fault("map merge requires map or sequence of maps as the value", line)
            for key, item in part.items():
                node.put(key, item, line)
            keys |= part.keys()
        return keys

    def _alias(self, anchor: str, line: int) -> Any:
        value = self._anchors.get(anchor, _UNKNOWN)
        if value is _UNKNOWN:
            raise Fault(f"unknown anchor '{anchor}' referenced", line, f"write &{anchor} before *{anchor}")
        if value is _UNSET:
            raise Fault(f"anchor '{anchor}' value contains itself", line)
        self._nodes += self._sizes.get(id(value), 1)
        if self._nodes > MAX_NODES:
            raise Fault(f"expands to more than {MAX_NODES} nodes", line, "use fewer aliases")
        return value

    def _plain(self, text: str, event: Any) -> Any:
        """Return the value of a scalar that is neither quoted nor tagged, and remember short ones."""
        if text == "<<":
            self._merges = True
            return _Merge(text)
        value = resolve_plain(text)
        if value.__class__ is float and not math.isfinite(value):
            raise Fault(f"{text} is no number that JSON can hold", event.start_mark.line + self._first)
        if len(text) <= _MAX_RESOLVED_LENGTH:
            if len(_RESOLVED) >= _MAX_RESOLVED:
                _RESOLVED.clear()
            _RESOLVED[text] = value
        return value

    def _tagged(self, event: Any) -> Any:
        """Return the value of a scalar that is quoted or carries a tag."""
        tag, text = event.tag, event.value
        if tag is None or tag == "!":
            return text
        line = event.start_mark.line + self._first
        short = tag.removeprefix(_CORE)
        if short == tag:  # a tag of somebody else: dropped, the text stays
            self.remarks.append(
                Remark("yaml-tag", f"YAML reads {tag} as a tag and drops it", line, "put the whole value in quotes")
            )
            return text
        if short in ("str", "binary"):
            return text
        value = resolve_plain(text)
        if short == "float" and isinstance(value, int) and not isinstance(value, bool):
            return float(value)
        if {"bool": bool, "int": int, "float": float, "null": type(None)}.get(short, str) is not type(value):
            raise Fault(f"cannot decode `{text}` as a !!{short}", line)
        return value


def _complex_key(node: Map | Seq) -> tuple[str, int, str]:
    kind = "mapping" if isinstance(node, Map) else "sequence"
    fix = ""
    if isinstance(node, Map) and len(node) == 1 and next(iter(node.values())) is None:
        fix = "this looks like a template: render it first (helm template, kustomize build)"
    return f"a key is a {kind}", node.line, fix
