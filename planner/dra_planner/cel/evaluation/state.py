"""The state of one evaluation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dra_planner.cel.device import EMPTY, DeviceView
from dra_planner.cel.stack_depth import room_for
from dra_planner.cel.values import CostExceeded, QuantityValue, UnknownValue


class State:
    """What an evaluation reads, and what it has spent.

    `variables` are the slots of loops and bindings; `capacity` has quantities of its own for every
    evaluation, since comparing a quantity may change its form.
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


def run_deep(closure: Closure, depth: int) -> Closure:
    """The closure of a deep tree, with room made for it."""

    def evaluate(state: State) -> Any:
        with room_for(depth):
            return closure(state)

    return evaluate
