"""The paths of a device that a selector reads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dra_planner.cel.results import Path
from dra_planner.cel.tree import Call, Constant, Fold, Ident, Select, SyntaxNode, walk

ALL: Final[frozenset[Path]] = frozenset({()})
"""The paths of a selector that can read everything."""

_FORM: Final = frozenset(("isInteger", "asInteger", "add", "sub"))
_SINGLE: Final = ("driver", "allowMultipleAllocations")


def paths_read(root: SyntaxNode) -> frozenset[Path]:
    """Return the paths that a checked tree reads, or `ALL`.

    A path is `("driver",)`, `("allowMultipleAllocations",)`, `("attributes", domain, name)` or
    `("capacity", domain, name)`. A shorter path stands for everything below it.
    """
    paths = set(_paths(root))
    if () in paths:
        return ALL
    return frozenset(p for p in paths if not any(p[:n] in paths for n in range(1, len(p))))


def sees_form(root: SyntaxNode) -> bool:
    """Return True if a selector can detect the format of a quantity, so that evaluations can't
    share quantities.
    """
    return any(isinstance(node, Call) and node.function in _FORM for node in walk(root))


def _paths(root: SyntaxNode) -> Iterator[Path]:
    """Return the paths that the nodes read, using an explicit stack of nodes and the paths of local
    names.
    """
    pending: list[tuple[SyntaxNode, dict[str, Path | None]]] = [(root, {})]
    while pending:
        node, names = pending.pop()
        path, rest = _chain(node, names)
        if path is not None:
            yield path
        pending.extend((child, names) for child in rest)
        if path is None and isinstance(node, Fold):
            pending.extend(_fold(node, names))


def _fold(
    node: Fold, names: dict[str, Path | None]
) -> Iterator[tuple[SyntaxNode, dict[str, Path | None]]]:
    yield node.range, names
    bound, _ = _chain(node.initial, names)
    if bound is None or not node.binds:
        yield node.initial, names
        bound = None
    within = {**names, node.accumulator: bound}
    yield node.result, within
    if not node.binds:
        loop: dict[str, Path | None] = {**within, node.key: None}
        if node.value is not None:
            loop[node.value] = None
        yield node.condition, loop
        yield node.step, loop


def _chain(node: SyntaxNode, names: dict[str, Path | None]) -> tuple[Path | None, list[SyntaxNode]]:
    """Return the path that a chain of reads spells, and the other nodes to visit."""
    keys: list[str | None] = []
    rest: list[SyntaxNode] = []
    base = node
    while True:
        if isinstance(base, Select):
            keys.append(base.field)
            base = base.operand
        elif isinstance(base, Call) and base.function in ("_[_]", "_[?_]", "_?._"):
            key = base.args[1]
            if isinstance(key, Constant) and isinstance(key.value, str):
                keys.append(key.value)
            else:
                keys.append(None)
                rest.append(key)
            base = base.args[0]
        else:
            break
    if not isinstance(base, Ident) or base.names_type:
        return None, [*rest, base] if base is not node else [] if isinstance(node, Fold) else list(
            node.children()
        )
    start = _start(base, names)
    if start is None:
        return None, rest
    path = list(start)
    for key_text in reversed(keys):
        if key_text is None:
            break
        path.append(key_text)
    limit = 1 if path[:1] and path[0] in _SINGLE else 3
    return tuple(path[:limit]), rest


def _start(base: Ident, names: dict[str, Path | None]) -> Path | None:
    name = base.name.removeprefix(".")
    if name in names and not base.name.startswith("."):
        return names[name]
    return () if name == "device" else None
