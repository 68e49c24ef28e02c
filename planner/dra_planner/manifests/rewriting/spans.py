"""A YAML or JSON document as a tree, with the text positions of each part."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct
from yaml.events import (
    AliasEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    StreamEndEvent,
)

from dra_planner.documents.yaml_reader import Parser


class Scalar(Struct):
    """A value without parts. `end` is the position after its last character, and `style` is its
    quote or block style.
    """

    start: int
    end: int
    text: str
    style: str = ""
    anchor: str = ""


class Pair(Struct):
    """A key and its value."""

    key: Scalar
    value: Node


class Mapping(Struct):
    """A mapping. `is_flow` is True if it's written in braces."""

    start: int
    end: int
    is_flow: bool
    anchor: str = ""
    pairs: list[Pair] = []

    def pair(self, key: str) -> Pair | None:
        return next((pair for pair in self.pairs if pair.key.text == key), None)

    def get(self, key: str) -> Node | None:
        found = self.pair(key)
        return found.value if found is not None else None

    def mapping(self, key: str) -> Mapping | None:
        """Return the mapping below a key, or None."""
        found = self.get(key)
        return found if isinstance(found, Mapping) else None

    def items(self, key: str) -> list[Mapping]:
        """Return the mappings in the list below a key."""
        found = self.get(key)
        return (
            [item for item in found.items if isinstance(item, Mapping)]
            if isinstance(found, List)
            else []
        )


class List(Struct):
    """A list. `is_flow` is True if it's written in brackets."""

    start: int
    end: int
    is_flow: bool
    anchor: str = ""
    items: list[Node] = []


class Alias(Struct):
    """`*anchor`, which refers to the value with this anchor."""

    start: int
    end: int


Node = Scalar | Mapping | List | Alias


def compose(text: str) -> Node | None:
    """Return the tree of a document that `read_yaml` can read, or None if it's empty."""
    next_event: Callable[[], Any] = Parser(text).get_event
    next_event()  # skip the start of the stream
    if isinstance(next_event(), StreamEndEvent):
        return None
    return _node(next_event, next_event(), text)


def has_anchors(node: Node) -> bool:
    """Return True if a part contains anchors, aliases, or merged keys."""
    if isinstance(node, Alias) or node.anchor:
        return True
    if isinstance(node, Mapping):
        return any(
            pair.key.text == "<<" or pair.key.anchor or has_anchors(pair.value)
            for pair in node.pairs
        )
    return isinstance(node, List) and any(has_anchors(item) for item in node.items)


def _node(next_event: Callable[[], Any], event: Any, text: str) -> Node:
    start, end = event.start_mark.index, event.end_mark.index
    if isinstance(event, AliasEvent):
        return Alias(start, end)
    anchor = event.anchor or ""
    if isinstance(event, ScalarEvent):
        style = event.style or ""
        if style in ("|", ">") and "+" not in text[start : text.find("\n", start)]:
            end = start + len(text[start:end].rstrip())
        return Scalar(start, end, event.value, style, anchor)
    if isinstance(event, MappingStartEvent):
        return _mapping(next_event, Mapping(start, end, bool(event.flow_style), anchor), text)
    return _list(next_event, List(start, end, bool(event.flow_style), anchor), text)


def _mapping(next_event: Callable[[], Any], node: Mapping, text: str) -> Mapping:
    event = next_event()
    while event.__class__ is not MappingEndEvent:
        key = _node(next_event, event, text)
        assert isinstance(key, Scalar)  # read_yaml rejects keys that aren't scalars
        node.pairs.append(Pair(key, _node(next_event, next_event(), text)))
        event = next_event()
    if node.is_flow:
        node.end = _end_of(event)
    elif node.pairs:
        last = node.pairs[-1]
        node.start, node.end = node.pairs[0].key.start, max(last.value.end, last.key.end + 1)
    return node


def _list(next_event: Callable[[], Any], node: List, text: str) -> List:
    event = next_event()
    while event.__class__ is not SequenceEndEvent:
        node.items.append(_node(next_event, event, text))
        event = next_event()
    if node.is_flow:
        node.end = _end_of(event)
    elif node.items:
        node.end = max(node.items[-1].end, node.start + 1)
    return node


def _end_of(event: Any) -> int:
    end: int = event.end_mark.index
    return end
