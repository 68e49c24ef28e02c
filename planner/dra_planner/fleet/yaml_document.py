"""One YAML document with the lines of its fields, read so that aliases cannot make it larger than it looks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

from dra_planner.errors import FleetError, Place

MOST_VALUES = 100_000  # a fleet has some hundreds

Location = tuple[str | int, ...]


class Positions:
    """Lines of the fields of one document, by location. What an alias repeats is known at its first place."""

    def __init__(self, root: yaml.Node | None) -> None:
        self._lines: dict[Location, int] = {}
        self._visited: set[int] = set()
        if root is not None:
            self._visit(root, ())

    def _visit(self, node: yaml.Node, at: Location) -> None:
        self._lines.setdefault(at, node.start_mark.line + 1)
        if id(node) in self._visited:
            return
        self._visited.add(id(node))
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                if isinstance(key, yaml.ScalarNode):
                    self._lines[(*at, key.value)] = key.start_mark.line + 1
                    self._visit(value, (*at, key.value))
        elif isinstance(node, yaml.SequenceNode):
            for index, item in enumerate(node.value):
                self._visit(item, (*at, index))

    def line(self, at: Location) -> int:
        """Return the line of a field, or of the nearest one around it; 0 where the document is empty."""
        while at and at not in self._lines:
            at = at[:-1]
        return self._lines.get(at, 0)


def read_yaml(text: str, file: str = "") -> tuple[Any, Positions]:
    """Return the plain data of a document and where its fields stand.

    Raises FleetError for text that is not YAML, is nested too deeply, has a key twice in one mapping, or holds more
    than `MOST_VALUES` values once its aliases are followed.
    """
    loader = yaml.SafeLoader(text)  # libyaml's composer overflows the stack where this one raises
    try:
        root = loader.get_single_node()
        if root is not None and _size(root, {}) > MOST_VALUES:
            raise FleetError(
                f"holds more than {MOST_VALUES} values when its aliases are followed",
                place=Place(file),
                fix="write out what it means",
            )
        for key in () if root is None else _keys_twice(root, set()):
            place = Place(file, key.start_mark.line + 1)
            raise FleetError(f'the key "{key.value}" is there twice', place=place, fix="keep one of the two")
        positions = Positions(root)  # before construction, which moves merged keys
        return (None if root is None else loader.construct_document(root)), positions
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or str(error).split("\n")[0]
        raise FleetError(f"is not YAML: {problem}", place=Place(file, mark.line + 1 if mark else 0)) from None
    except RecursionError:
        raise FleetError("is nested too deeply", place=Place(file)) from None
    except ValueError as error:  # a date or number that does not exist
        raise FleetError(f"is not YAML: {error}", place=Place(file)) from None
    finally:
        loader.dispose()


def _keys_twice(node: yaml.Node, visited: set[int]) -> Iterator[yaml.ScalarNode]:
    """Yield keys that their mapping has already: of the two YAML would keep the later one without a word."""
    if id(node) in visited:
        return
    visited.add(id(node))
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value != "<<":
                if key.value in seen:
                    yield key
                seen.add(key.value)
            yield from _keys_twice(value, visited)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _keys_twice(item, visited)


def _size(node: yaml.Node, sizes: dict[int, int]) -> int:
    """Return how many values a node stands for; one that holds itself stands for endlessly many."""
    if id(node) in sizes:
        return sizes[id(node)]
    sizes[id(node)] = MOST_VALUES + 1  # for whoever meets it inside itself
    children: list[yaml.Node] = []
    if isinstance(node, yaml.MappingNode):
        children = [part for pair in node.value for part in pair]
    elif isinstance(node, yaml.SequenceNode):
        children = node.value
    sizes[id(node)] = 1 + sum(_size(child, sizes) for child in children)
    return sizes[id(node)]
