"""Documents as plain dicts and lists that remember the line of every key and item."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dra_planner.errors import Place


class Map(dict[str, Any]):
    """A mapping; `line` is where it begins, `lines` the line of each key in insertion order."""

    __slots__ = ("line", "lines")

    line: int
    lines: list[int]

    def put(self, key: str, value: Any, line: int) -> bool:
        """Set a key as YAML for Kubernetes does: the last one wins. Return whether it was there already."""
        if key in self:
            self.lines[list(self).index(key)] = line
            self[key] = value
            return True
        self.lines.append(line)
        self[key] = value
        return False

    def remove(self, key: str) -> None:
        """Remove a key and its line."""
        del self.lines[list(self).index(key)]
        del self[key]


class Seq(list[Any]):
    """A sequence; `line` is where it begins, `lines` the line of each item."""

    __slots__ = ("line", "lines")

    line: int
    lines: list[int]


def new_map(items: Iterable[tuple[str, Any]] = (), line: int = 0, lines: list[int] | None = None) -> Map:
    """Return a mapping; without `lines` every key stands where it begins."""
    node = Map(items)
    node.line = line
    node.lines = [line] * len(node) if lines is None else lines
    return node


def new_seq(items: Iterable[Any] = (), line: int = 0, lines: list[int] | None = None) -> Seq:
    """Return a sequence; without `lines` every item stands where it begins."""
    node = Seq(items)
    node.line = line
    node.lines = [line] * len(node) if lines is None else lines
    return node


def line_of(node: Any, key: str | int) -> int:
    """Return the line of a key or item; of the node itself where it has none; 0 for plain data."""
    if isinstance(node, Map):
        if key in node:
            return node.lines[list(node).index(str(key))]
        return node.line
    if isinstance(node, Seq):
        return node.lines[key] if isinstance(key, int) and key < len(node.lines) else node.line
    return 0


def step(path: str, key: str | int) -> str:
    """Return the path of a key or item below `path`, written as the API server writes it."""
    if isinstance(key, int):
        return f"{path}[{key}]"
    return f"{path}.{key}" if path else key


def child(place: Place, node: Any, key: str | int) -> Place:
    """Return the place of a key or item of `node`, which stands at `place`."""
    return Place(place.file, line_of(node, key) or place.line, step(place.path, key))


def clone(node: Any) -> Any:
    """Return a copy with the same lines, so that a change leaves what was read alone; plain data gets no lines."""
    if isinstance(node, dict):
        line, lines = (node.line, list(node.lines)) if isinstance(node, Map) else (0, [0] * len(node))
        return new_map([(key, clone(value)) for key, value in node.items()], line, lines)
    if isinstance(node, list):
        line, lines = (node.line, list(node.lines)) if isinstance(node, Seq) else (0, [0] * len(node))
        return new_seq([clone(item) for item in node], line, lines)
    return node
