"""Enlarge Python's stack for deep trees and values."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Final

SHALLOW: Final = 60
"""Trees with at most this number of levels are evaluated on the existing stack."""

DEEPEST: Final = 3_000
"""A limit that no tree or value of an expression with the maximum length can exceed."""

_FRAMES_PER_NODE: Final = 6
_lock: Final = threading.Lock()
_deep: list[int] = []
_ORDINARY: Final = nullcontext()


def room_for(depth: int) -> AbstractContextManager[None]:
    """Enlarge Python's stack for a tree of this depth inside the context.

    Ordinary trees don't need a larger stack. The parser limits the depth, and therefore the stack.
    Python frames don't use the C stack.
    """
    return _ORDINARY if depth <= SHALLOW else _room(depth)


@contextmanager
def _room(depth: int) -> Iterator[None]:
    needed = depth * _FRAMES_PER_NODE + 500
    with _lock:
        if not _deep:
            _deep.append(sys.getrecursionlimit())
        _deep.append(needed)
        sys.setrecursionlimit(_deep[0] + max(_deep[1:]))
    try:
        yield
    finally:
        with _lock:
            _deep.remove(needed)
            sys.setrecursionlimit(_deep[0] + max(_deep[1:], default=0))
            if len(_deep) == 1:
                _deep.clear()
