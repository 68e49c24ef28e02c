"""Loops over lists and maps, and bindings of names to values.

Source of the behavior: google/cel-go:interpreter/interpretable.go@v0.26.0.
"""

from __future__ import annotations

from itertools import repeat
from typing import Any, Final

from dra_planner.cel.evaluation.call_shapes import ABSORBED
from dra_planner.cel.evaluation.compiler import Compiler
from dra_planner.cel.evaluation.state import Closure, Folded, State
from dra_planner.cel.libraries.operators import known
from dra_planner.cel.tree import Call, Constant, Fold, ListNode, SyntaxNode
from dra_planner.cel.values import CelError, MapValue, UnknownError, no_overload, type_name

_PLAIN: Final = frozenset({int, str, bool, float})
_UNSET: Final = object()
_GO_NAMES: Final = {
    "google.protobuf.Duration": "Duration",
    "google.protobuf.Timestamp": "Timestamp",
}


class _Thunk:
    """A value that is computed when it's first read."""

    __slots__ = ("closure", "value")

    def __init__(self, closure: Closure) -> None:
        self.closure = closure
        self.value: Any = _UNSET

    def get(self, state: State) -> Any:
        if self.value is _UNSET:
            try:
                self.value = self.closure(state)
            except ABSORBED as error:
                self.value = error
        return self.value


def read_variable(slot: int, lazy: bool, cost: int = 0) -> Closure:
    """Return the closure that reads a local variable at a cost. If the variable contains an error,
    the closure raises it.
    """

    def read(state: State) -> Any:
        state.cost += cost
        value = state.variables[slot]
        if value.__class__ in _PLAIN:
            return value
        if value.__class__ is CelError or value.__class__ is UnknownError:
            raise value.with_traceback(None)
        return known(value)

    def read_lazily(state: State) -> Any:
        state.cost += cost
        value = state.variables[slot].get(state)
        if value.__class__ is CelError or value.__class__ is UnknownError:
            raise value.with_traceback(None)
        return known(value)

    return read_lazily if lazy else read


def compile_fold(compiler: Compiler, node: Fold) -> Closure:
    """Return the closure of a loop or binding."""
    if node.binds:
        return _bind(compiler, node)
    items = compiler.compile(node.range)
    initial = compiler.compile(node.initial)
    accumulator = compiler.new_slot()
    first, second = compiler.new_slot(), compiler.new_slot()
    names = {node.key: (first, False)}
    if node.value is not None:
        names[node.value] = (second, False)
    compiler.scopes.append({node.accumulator: (accumulator, False)})
    compiler.scopes.append(names)
    counted = _counted(node)
    if counted is not None:
        predicate = compiler.compile(counted)
        compiler.scopes[-2:] = []
        return _count_one(items, predicate, first, second, node.value is not None)
    quantifier = _quantifier(node)
    if quantifier is not None:
        assert isinstance(node.step, Call)
        predicate = compiler.compile(node.step.args[1])
        compiler.scopes[-2:] = []
        return _quantify(
            items, predicate, quantifier == "_||_", first, second, node.value is not None
        )
    collected = _collected(node)
    if collected is not None:
        predicate_node, element_node = collected
        keep = None if predicate_node is None else compiler.compile(predicate_node)
        element = compiler.compile(element_node)
        compiler.scopes[-2:] = []
        return _collect(items, keep, element, first, second, node.value is not None)
    condition, step = compiler.compile(node.condition), compiler.compile(node.step)
    compiler.scopes.pop()
    result = compiler.compile(node.result)
    compiler.scopes.pop()

    def evaluate(state: State) -> Any:
        variables = state.variables
        pairs = _iterate(items(state), node.value is not None)
        variables[accumulator] = _fresh(initial(state))
        for variables[first], variables[second] in pairs:
            if condition(state) is False:
                break
            try:
                variables[accumulator] = step(state)
            except ABSORBED as error:
                variables[accumulator] = error
            state.check()
        return result(state)

    return evaluate


def _fresh(value: Any) -> Any:
    """Return a new accumulator for every run of the loop."""
    if value.__class__ is list:
        return list(value)
    return MapValue(dict(value.entries)) if value.__class__ is MapValue else value


def _iterate(value: Any, pairs: bool) -> Any:
    """Yield the values of the loop variables."""
    if value.__class__ is list:
        return enumerate(value) if pairs else zip(value, repeat(None))
    if value.__class__ is MapValue:
        entries = value.entries.values()
        return iter(entries) if pairs else zip(value.keys(), repeat(None))
    if pairs:
        raise CelError(f"unsupported comprehension range type: {_go_type(value)}")
    raise CelError(f"got '{_go_type(value)}', expected iterable type")


def _length(value: Any, pairs: bool) -> int:
    """Return the number of iterations of a loop over the value."""
    if value.__class__ is list:
        return len(value)
    if value.__class__ is MapValue:
        return len(value.entries)
    _iterate(value, pairs)  # raises
    raise AssertionError("no other type can be iterated over")


def _charge(state: State, turns: int, each: int) -> None:
    """Charge iterations of equal cost, and check the budget after each. Only as many are charged as
    the budget allows.
    """
    left = state.budget - state.cost
    if turns and turns * each > left:
        state.cost += each * (max(left, 0) // each + 1) if each else 0
        state.check()
    state.cost += turns * each


def _go_type(value: Any) -> str:
    name = type_name(value)
    if name.startswith(("kubernetes.", "net.")):
        return f"cel.{name.rsplit('.', 1)[-1]}"
    return f"types.{_GO_NAMES.get(name, name.capitalize())}"


def _quantifier(node: Fold) -> str | None:
    """Return the operator of an `exists` or `all`, which doesn't need an accumulator."""
    step = node.step
    if (
        isinstance(step, Call)
        and step.function in ("_||_", "_&&_")
        and isinstance(node.initial, Constant)
    ):
        return step.function
    return None


def _quantify(
    items: Closure, predicate: Closure, decisive: bool, first: int, second: int, pairs: bool
) -> Closure:
    """Evaluate `exists` (decisive is True) or `all` (False) with the cost of the
    equivalent loop.
    """
    # `exists` negates its accumulator in the loop's condition, which costs 1 more than in `all`.
    condition_cost = 3 if decisive else 2
    if isinstance(predicate, Folded) and predicate.value is (not decisive):
        # A constant that never decides: every iteration costs the same, so none needs to run.
        def evaluate_alike(state: State) -> bool:
            _charge(state, _length(items(state), pairs), condition_cost + 1)
            state.cost += 1
            return not decisive

        return evaluate_alike

    def evaluate(state: State) -> bool:
        variables = state.variables
        turns = _iterate(items(state), pairs)
        error: CelError | None = None
        unknown: frozenset[str] | None = None
        decided = False
        for variables[first], variables[second] in turns:
            if decided:
                # Upstream notices only in the next iteration that the result is decided, so this
                # iteration's condition also has a cost.
                state.cost += condition_cost
                break
            state.cost += condition_cost + 1
            try:
                value = predicate(state)
            except CelError as raised:
                # An error doesn't end the loop, because a later item may still decide the result:
                # CEL's || and && absorb errors.
                error = error or raised
                value = None
            except UnknownError as raised_unknown:
                unknown = (
                    raised_unknown.paths if unknown is None else unknown | raised_unknown.paths
                )
                value = None
            else:
                if value is decisive:
                    decided, error, unknown = True, None, None
                elif value.__class__ is not bool:
                    error = error or no_overload()
            if state.cost > state.budget:
                state.check()
        state.cost += 1
        if decided:
            return decisive
        # An unknown value wins over an error, as in cel-go: once it is known, it may decide.
        if unknown is not None:
            raise UnknownError(unknown)
        if error is not None:
            raise error.with_traceback(None)
        return not decisive

    return evaluate


def _counted(node: Fold) -> SyntaxNode | None:
    """Return the predicate of an `exists_one`."""
    step, result = node.step, node.result
    if not (
        isinstance(step, Call) and step.function == "_?_:_" and isinstance(node.initial, Constant)
    ):
        return None
    return step.args[0] if isinstance(result, Call) and result.function == "_==_" else None


def _count_one(items: Closure, predicate: Closure, first: int, second: int, pairs: bool) -> Closure:
    """Evaluate `exists_one`, with the cost of incrementing an accumulator in each iteration."""
    if isinstance(predicate, Folded) and predicate.value is True:

        def evaluate_alike(state: State) -> bool:
            count = _length(items(state), pairs)
            _charge(state, count, 2)
            state.cost += 2
            return count == 1

        return evaluate_alike

    def evaluate(state: State) -> bool:
        variables = state.variables
        count = 0
        failure: CelError | UnknownError | None = None
        for variables[first], variables[second] in _iterate(items(state), pairs):
            try:
                value = predicate(state)
                if value is True:
                    state.cost += 2
                    count += 1
                elif value is not False:
                    failure = no_overload()
            except ABSORBED as error:
                # The loop continues, because `exists_one` has no early exit, and its cost must
                # equal upstream's.
                failure = error
            if state.cost > state.budget:
                state.check()
        state.cost += 2
        if failure is not None:
            raise failure.with_traceback(None)
        return count == 1

    return evaluate


def _collected(node: Fold) -> tuple[SyntaxNode | None, SyntaxNode] | None:
    """Return the predicate (or None) and the element of a loop that builds a list."""
    step, predicate = node.step, None
    if not isinstance(node.initial, ListNode) or not isinstance(step, Call):
        return None
    if step.function == "_?_:_":
        predicate, step = step.args[0], step.args[1]
    if isinstance(step, Call) and step.function == "_+_" and isinstance(step.args[1], ListNode):
        return predicate, step.args[1].elements[0]
    return None


def _collect(
    items: Closure, keep: Closure | None, element: Closure, first: int, second: int, pairs: bool
) -> Closure:
    """Evaluate `map`, `filter`, and `transformList` with the cost of appending a list in each
    iteration, but without actually appending lists.
    """

    # Upstream's loop adds a list of one item in each turn: reading the accumulator and the sum cost
    # 2, and creating the list costs 10 unless the planner folded it.
    each = 2 if isinstance(element, Folded) else 12
    if isinstance(element, Folded) and keep is None:

        def collect_alike(state: State) -> list[Any]:
            count = _length(items(state), pairs)
            if count:
                state.check()
                _charge(state, count - 1, each)  # the last iteration isn't charged here
                state.cost += each
            state.cost += 1
            return [element.value] * count

        return collect_alike

    def evaluate(state: State) -> list[Any]:
        variables = state.variables
        collected: list[Any] = []
        failure: CelError | UnknownError | None = None
        for variables[first], variables[second] in _iterate(items(state), pairs):
            if state.cost > state.budget:
                state.check()
            if keep is not None:
                try:
                    kept = keep(state)
                except ABSORBED as error:
                    failure = error
                    continue
                if kept is not True:
                    failure = failure if kept is False else no_overload()
                    continue
            state.cost += each
            try:
                value = element(state)
            except ABSORBED as error:
                failure = failure or error
                continue
            if failure is None:
                collected.append(value)
        state.cost += 1
        if failure is not None:
            raise failure.with_traceback(None)
        return collected

    return evaluate


def _bind(compiler: Compiler, node: Fold) -> Closure:
    if node.initial.type.kind == "type":
        raise CelError(f"reference to undefined type: {node.accumulator}")
    slot = compiler.new_slot()
    initial = compiler.compile(node.initial)
    compiler.scopes.append({node.accumulator: (slot, True)})
    result = compiler.compile(node.result)
    compiler.scopes.pop()
    if isinstance(result, Folded):
        return _Constant(result.value)

    def evaluate(state: State) -> Any:
        state.variables[slot] = _Thunk(initial)
        return result(state)

    return evaluate


class _Constant:
    """A binding whose result is a constant. Upstream's planner doesn't treat it as a constant."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __call__(self, state: State) -> Any:
        return self.value
