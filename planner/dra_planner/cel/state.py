"""The state of one evaluation."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, Final

from dra_planner.cel.values import CostExceeded, QuantityValue, UnknownValue

if TYPE_CHECKING:
    from dra_planner.cel.device import DeviceView


class State:
    """What an evaluation reads, and what it has spent.

    `variables` are the slots of loops and bindings; `capacity` has quantities of its own for every evaluation, since
    comparing a quantity may change its form.
    """

    __slots__ = ("budget", "capacity", "cost", "device", "variables")

    def __init__(
        self,
        device: DeviceView,
        capacity: Mapping[str, Mapping[str, QuantityValue | UnknownValue]],
        slots: int,
        budget: int,
    ) -> None:
        self.device = device
        self.capacity = capacity
        self.variables: list[Any] = [None] * slots
        self.cost = 0
        self.budget = budget

    def check(self) -> None:
        """Ends the evaluation when more than the budget is spent."""
        if self.cost > self.budget:
            raise CostExceeded

    @staticmethod
    def empty() -> State:
        """A state for expressions that read nothing."""
        from dra_planner.cel.device import EMPTY

        return State(EMPTY, {}, 0, 1_000_000)


Closure = Callable[[State], Any]


class Folded:
    """The closure of a constant."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __call__(self, state: State) -> Any:
        return self.value


class Failing:
    """The closure of something that is always an error, known before it is evaluated."""

    __slots__ = ("error",)

    def __init__(self, error: Exception) -> None:
        self.error = error

    def __call__(self, state: State) -> Any:
        raise self.error.with_traceback(None)


SHALLOW: Final = 60
"""Trees of no more levels than these are evaluated on the stack that there is."""

DEEPEST: Final = 3_000
"""More levels than a text of admissible length can give a tree or a value."""

_FRAMES_PER_NODE: Final = 6
_lock: Final = threading.Lock()
_deep: list[int] = []
_ORDINARY: Final = nullcontext()


def room_for(depth: int) -> AbstractContextManager[None]:
    """Makes room on Python's stack for a tree of that depth while the context lasts.

    Trees that people write need none. The depth is bounded by the parser, so the room is; Python frames take no C
    stack.
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


def run_deep(closure: Closure, depth: int) -> Closure:
    """The closure of a deep tree, with room made for it."""

    def evaluate(state: State) -> Any:
        with _room(depth):
            return closure(state)

    return evaluate
