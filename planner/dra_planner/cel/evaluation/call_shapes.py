"""Closures for the different kinds of calls.

Cost is counted in the same places as in upstream's tracker, even if an argument is an error. Source
of the behavior: google/cel-go:interpreter/{interpretable,decorators,runtimecost}.go@v0.26.0.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from typing import Any, Final

from dra_planner.cel.cost.call_costs import ERROR, Cost
from dra_planner.cel.evaluation.state import Closure, Folded, State
from dra_planner.cel.values import CelError, Panic, Uint, UnknownError, no_overload, type_name

ABSORBED: Final = (CelError, UnknownError)
"""Errors that &&, ||, and the steps of loops can absorb."""


def _counter(cost: Cost | int) -> Cost:
    """Return the cost as a function."""
    if isinstance(cost, int):
        fixed = cost
        return lambda _args, _result: fixed
    return cost


def unary(operand: Closure, run: Callable[[Any], Any], cost: Cost | int) -> Closure:
    """Return the closure of a function with one argument."""
    count = _counter(cost)

    def evaluate(state: State) -> Any:
        try:
            value = operand(state)
        except ABSORBED:
            state.cost += count((ERROR,), ERROR)
            raise
        try:
            result = run(value)
        except ABSORBED:
            state.cost += count((value,), ERROR)
            raise
        state.cost += count((value,), result)
        return result

    return evaluate


def binary(
    left: Closure,
    right: Closure,
    run: Callable[[Any, Any], Any],
    cost: Cost | int,
    compares: bool = False,
) -> Closure:
    """Return the closure of a function with two arguments. Upstream evaluates both, even if the
    first is an error. With `compares`, a call with two ints costs 1, as for ==.
    """
    count = _counter(cost)

    def fail_left(state: State) -> None:
        try:
            b = right(state)
        except ABSORBED:
            b = ERROR
        state.cost += count((ERROR, b), ERROR)

    def evaluate(state: State) -> Any:
        try:
            a = left(state)
        except ABSORBED:
            fail_left(state)
            raise
        try:
            b = right(state)
        except ABSORBED:
            state.cost += count((a, ERROR), ERROR)
            raise
        if compares and a.__class__ is int and b.__class__ is int:
            state.cost += 1
            return run(a, b)
        try:
            result = run(a, b)
        except ABSORBED:
            state.cost += count((a, b), ERROR)
            raise
        state.cost += count((a, b), result)
        return result

    if not isinstance(cost, int):
        return evaluate
    fixed = cost

    def evaluate_at_fixed_cost(state: State) -> Any:
        try:
            a = left(state)
        except ABSORBED:
            fail_left(state)
            raise
        state.cost += fixed
        return run(a, right(state))

    return evaluate_at_fixed_cost


def with_constant(
    left: Closure, constant: Any, run: Callable[[Any, Any], Any], cost: int
) -> Closure:
    """Return the closure of a function with an argument and a constant, at a fixed cost."""

    def evaluate(state: State) -> Any:
        try:
            a = left(state)
        finally:
            state.cost += cost
        return run(a, constant)

    return evaluate


def equals_text(left: Closure, text: str, run: Callable[[Any, Any], Any], cost: Cost) -> Closure:
    """Return the closure of `x == "text"`, the most frequent condition in selectors."""
    length = len(text)
    costs = tuple(ceil(n * 0.1) for n in range(length + 1))

    def evaluate(state: State) -> Any:
        try:
            value = left(state)
        except ABSORBED:
            state.cost += cost((ERROR, text), ERROR)
            raise
        if value.__class__ is str:
            size = len(value)
            state.cost += costs[size if size < length else length]
            return value == text
        try:
            return run(value, text)
        finally:
            state.cost += cost((value, text), None)

    return evaluate


def paid(run: Callable[..., Any], arguments: list[Any], cost: Cost | int) -> Closure:
    """Return the closure of a function with constant arguments.

    The function is called once, but every evaluation has its cost or its error.
    """
    count = _counter(cost)
    try:
        value = run(*arguments)
    except CelError as error:
        failure, price = error, count(arguments, ERROR)

        def fail(state: State) -> Any:
            state.cost += price
            raise failure.with_traceback(None)

        return fail
    return Paid(value, count(arguments, value))


class Paid:
    """The closure of a known value that still has a cost."""

    __slots__ = ("cost", "value")

    def __init__(self, value: Any, cost: int) -> None:
        self.value = value
        self.cost = cost

    def __call__(self, state: State) -> Any:
        state.cost += self.cost
        return self.value


def variadic(arguments: list[Closure], run: Callable[..., Any], cost: Cost | int) -> Closure:
    """Return the closure of a function with any number of arguments. It ends at the first error."""
    count = _counter(cost)
    last = len(arguments) - 1

    def evaluate(state: State) -> Any:
        values: list[Any] = []
        for index, argument in enumerate(arguments):
            try:
                values.append(argument(state))
            except ABSORBED:
                if index == last:  # upstream finds all arguments only at this point
                    state.cost += count((*values, ERROR), ERROR)
                raise
        try:
            result = run(*values)
        except ABSORBED:
            state.cost += count(values, ERROR)
            raise
        state.cost += count(values, result)
        return result

    return evaluate


def decided_by_form(
    call: Closure, others: list[Closure], run: Callable[..., Any], parses: bool
) -> Closure:
    """Return the closure of a function for whose first argument maybe only the form is known.

    `parses` accepts either all texts of one form, or none of them. For other functions, only the
    types matter.
    """

    def evaluate(state: State) -> Any:
        try:
            return call(state)
        except UnknownError as error:
            if not error.like:
                raise
            unknown = error
        try:
            result = run(unknown.like, *(other(state) for other in others))
        except CelError as error:
            if parses or error.message.startswith("no such overload"):
                raise
            raise unknown from None
        if parses and result.__class__ is bool:
            return result
        raise unknown

    return evaluate


def not_strictly_false(operand: Closure) -> Closure:
    """Return the closure that tests whether a loop continues. An error doesn't end it."""

    def evaluate(state: State) -> bool:
        try:
            value = operand(state)
        except ABSORBED:
            value = True
        state.cost += 1
        return value is not False

    return evaluate


def logic(terms: list[Closure], decisive: bool) -> Closure:
    """Return the closure of && or ||. The deciding value takes precedence, then unknown values,
    then the first error.
    """

    def evaluate(state: State) -> bool:
        error: CelError | None = None
        unknown: frozenset[str] | None = None
        for term in terms:
            try:
                value = term(state)
            except CelError as raised:
                error = error or raised
                continue
            except UnknownError as raised_unknown:
                unknown = (
                    raised_unknown.paths if unknown is None else unknown | raised_unknown.paths
                )
                continue
            if value is decisive:
                return bool(decisive)
            if value.__class__ is not bool:
                error = error or no_overload()
        if unknown is not None:
            raise UnknownError(unknown)
        if error is not None:
            raise error.with_traceback(None)
        return not decisive

    return evaluate


def set_membership(operand: Closure, items: list[Any]) -> Closure | None:
    """Return `x in [constants]` as one lookup without cost, or None if upstream doesn't optimize it
    either.
    """
    if not items:
        return Folded(False)
    # CEL compares numbers of different types by value, but Python's True equals 1. Members include
    # their type, so each number is added once for every type that has an equal value.
    members: set[Any] = set()
    for item in items:
        kind = item.__class__
        if kind not in (str, int, Uint, bool, float):
            return None
        members.add((kind, item))
        if kind is int or kind is Uint:
            members.add((float, float(item)))
            members.add((Uint if kind is int else int, item))
        elif kind is float and item == item and abs(item) < 2**63 and item.is_integer():
            members.add((int, int(item)))
            if item >= 0:
                members.add((Uint, int(item)))

    def evaluate(state: State) -> bool:
        value = operand(state)
        kind: type = value.__class__
        if kind in (str, int, Uint, bool, float, type(None)):
            return bool((kind, value) in members)
        # Upstream's lookup is a Go map, which panics on keys that can't be hashed.
        if type_name(value) in ("bytes", "kubernetes.Semver", "kubernetes.NamedFormat"):
            raise Panic(f"internal error: hash of unhashable type {type_name(value)}")
        return False

    return evaluate
