"""Follow the paths of fields in objects, whose keys can contain dots and brackets."""

from __future__ import annotations

import re
from itertools import islice
from typing import Any, Final

from dra_planner.documents.tree import Map, Seq

_STEP_END: Final = re.compile(r"[.\[]|\Z")
_MOST_ENDS: Final = 100


def entry_at(data: Any, path: str) -> tuple[str | int, Any]:
    """Return the last key of a path and its value, or ("", None) if the path doesn't exist."""
    key: str | int = ""
    node, rest = data, path
    while rest:
        step = first_step(node, rest) if isinstance(node, Map | Seq) else None
        if step is None:
            return "", None
        key, node, rest = step
    return key, node


def value_at(data: Any, path: str) -> Any:
    """Return the value at a path, or None if the path doesn't exist."""
    return entry_at(data, path)[1]


def first_step(node: Map | Seq, path: str) -> tuple[str | int, Any, str] | None:
    """Return the first key of a path, its value, and the rest of the path, or None if the key
    doesn't exist.
    """
    rest = path.removeprefix(".")
    if isinstance(node, Seq):
        index, closed, after = rest.removeprefix("[").partition("]")
        if closed and index.isdigit() and int(index) < len(node):
            return int(index), node[int(index)], after
        return None
    if rest.startswith("["):
        ends = [match.start() for match in re.finditer(r"\]", rest)][:_MOST_ENDS]
        written = [(rest[1:end], rest[end + 1 :]) for end in ends]
    else:
        ends = [match.start() for match in islice(_STEP_END.finditer(rest), _MOST_ENDS)]
        written = [(rest[:end], rest[end:]) for end in ends]
    for key, after in reversed(written):
        if key in node and (not after or after[0] in ".["):
            return key, node[key], after
    return None
