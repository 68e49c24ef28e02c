"""Documents as plain dicts and lists that remember the line of every key and item.

For JSON, `finder` determines the line numbers on demand, starting with the outermost collection.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from dra_planner.errors import Place

Location = tuple[str | int, ...]
"""Keys and indices, from the outermost to the innermost."""

_SCALARS: Final = frozenset({str, int, float, bool, type(None)})


class Map(dict[str, Any]):
    """A mapping. `line` is its first line, and `lines` contains the offset of each key from this
    line, in order.
    """

    __slots__ = ("finder", "line", "lines")

    line: int
    lines: tuple[int, ...]
    finder: Callable[[Any], None] | None

    def __getattr__(self, name: str) -> Any:
        return _found(self, name)

    def put(self, key: str, value: Any, line: int) -> None:
        """Set a key, with its line."""
        if key not in self:
            self.lines = (*self.lines, line - self.line)
        self[key] = value

    def remove(self, key: str) -> None:
        """Remove a key and its line."""
        index = list(self).index(key)
        self.lines = self.lines[:index] + self.lines[index + 1 :]
        del self[key]


class Seq(list[Any]):
    """A sequence. `line` is its first line, and `lines` contains the offset of each item from this
    line, in order.
    """

    __slots__ = ("finder", "line", "lines")

    line: int
    lines: tuple[int, ...]
    finder: Callable[[Any], None] | None

    def __getattr__(self, name: str) -> Any:
        return _found(self, name)


def _found(node: Map | Seq, name: str) -> Any:
    """Compute an attribute that hasn't been set yet. Unknown lines are 0."""
    if name == "finder":
        return None
    if name == "line":
        return 0
    if name != "lines":
        raise AttributeError(name)
    if node.finder is None:
        node.lines = (0,) * len(node)
    else:
        node.finder(node)
        node.finder = None
    return node.lines


def new_map(
    items: Iterable[tuple[str, Any]] = (), line: int = 0, lines: tuple[int, ...] | None = None
) -> Map:
    """Return a mapping. Without `lines`, every key has the line of the mapping."""
    node = Map(items)
    node.line = line
    node.lines = (0,) * len(node) if lines is None else lines
    return node


def new_seq(items: Iterable[Any] = (), line: int = 0, lines: tuple[int, ...] | None = None) -> Seq:
    """Return a sequence. Without `lines`, every item has the line of the sequence."""
    node = Seq(items)
    node.line = line
    node.lines = (0,) * len(node) if lines is None else lines
    return node


def line_of(node: Any, key: str | int) -> int:
    """Return the line of a key or item, or the node's own line. Returns 0 for plain data."""
    if node.__class__ is Map:
        line: int = node.line
        return line + node.lines[list(node).index(str(key))] if key in node else line
    if node.__class__ is Seq:
        return int(
            node.line + (node.lines[key] if isinstance(key, int) and key < len(node.lines) else 0)
        )
    return 0


def line_at(node: Any, at: Location) -> int:
    """Return the line of the value at this location below a node, or of the nearest value that
    contains it.
    """
    line = int(getattr(node, "line", 0))
    for part in at:
        if not (
            part in node
            if isinstance(node, dict)
            else isinstance(node, list) and part in range(len(node))
        ):
            break
        line, node = line_of(node, part) or line, node[part]
    return line


def step(path: str, key: str | int) -> str:
    """Return the path of a key or item below `path`, written as the API server writes it."""
    if key.__class__ is int:
        return f"{path}[{key}]"
    return f"{path}.{key}" if path else str(key)


def child(place: Place, node: Any, key: str | int) -> Place:
    """Return the place of a key or item in `node`, whose own place is `place`."""
    return Place(place.file, line_of(node, key) or place.line, step(place.path, key))


def clone(node: Any) -> Any:
    """Return a copy with the same lines, so that changes don't affect the original. Plain data
    doesn't get lines.
    """
    line, lines = getattr(node, "line", 0), getattr(node, "lines", None)
    if isinstance(node, dict):
        copy = new_map(node.items(), line, lines)
        for key, value in node.items():
            if value.__class__ not in _SCALARS:
                copy[key] = clone(value)
        return copy
    if isinstance(node, list):
        return new_seq([clone(item) for item in node], line, lines)
    return node


def path_text(at: Location) -> str:
    """Return a location as people write it: `pools[0].count.max`."""
    text = ""
    for part in at:
        text = step(text, part)
    return text
