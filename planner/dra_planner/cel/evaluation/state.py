"""The state of one evaluation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dra_planner.cel.device import EMPTY, DeviceView
from dra_planner.cel.stack_depth import room_for
from dra_planner.cel.values import CostExceeded, QuantityValue, UnknownValue


class State:
    """The inputs and the spent cost of an evaluation.

    `variables` are the slots of loops and bindings. `capacity` has separate quantities for every
    evaluation, because comparing a quantity can change its format.
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
        """End the evaluation if its cost exceeds the budget."""
        if self.cost > self.budget:
            raise CostExceeded

    @staticmethod
    def empty() -> State:
        """Return a state for expressions that don't read anything."""
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
    """The closure of an expression that always fails, which is known before the evaluation."""

    __slots__ = ("error",)

    def __init__(self, error: Exception) -> None:
        self.error = error

    def __call__(self, state: State) -> Any:
        raise self.error.with_traceback(None)


def run_deep(closure: Closure, depth: int) -> Closure:
    """Run the closure of a deep tree with enough stack."""

    def evaluate(state: State) -> Any:
        with room_for(depth):
            return closure(state)

    return evaluate
