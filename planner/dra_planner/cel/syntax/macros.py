"""Macros: calls that stand for loops, presence tests, and bindings. The parser expands them.

Source of the behavior: google/cel-go:parser/macro.go, cel/library.go,
ext/{bindings,comprehensions,lists}.go @v0.26.0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from dra_planner.cel.stack_depth import room_for
from dra_planner.cel.tree import (
    Call,
    Constant,
    Fold,
    Ident,
    ListNode,
    MapNode,
    Select,
    SyntaxNode,
    copy,
    depth,
)

ACCUMULATOR: Final = "@result"
_UNUSED: Final = "#unused"


class MacroError(ValueError):
    """A macro call with the wrong kind of argument."""

    def __init__(self, message: str, position: int) -> None:
        super().__init__(message)
        self.message, self.position = message, position


_Expander = Callable[[int, SyntaxNode, list[SyntaxNode]], SyntaxNode | None]


def expand(
    position: int,
    function: str,
    target: SyntaxNode | None,
    args: list[SyntaxNode],
    with_lists: bool,
) -> SyntaxNode | None:
    """Return the tree that a call expands to, or None if the call isn't a macro. Raises
    `MacroError`.

    `with_lists` is True if cel-go's list extension exists, which contains `sortBy`.
    """
    if target is None:
        return _has(position, args[0]) if function == "has" and len(args) == 1 else None
    expander = _MACROS.get((function, len(args)))
    if expander is None or (function == "sortBy" and not with_lists):
        return None
    return expander(position, target, args)


def _has(position: int, argument: SyntaxNode) -> SyntaxNode:
    if not isinstance(argument, Select):
        raise MacroError("invalid argument to has() macro", argument.position)
    return Select(position, argument.operand, argument.field, test=True)


def _name(argument: SyntaxNode, message: str = "argument must be a simple name") -> str:
    if not isinstance(argument, Ident):
        raise MacroError(message, argument.position)
    if argument.name in (ACCUMULATOR, "__result__"):
        raise MacroError("iteration variable overwrites accumulator variable", argument.position)
    return argument.name


def _two_names(first: SyntaxNode, second: SyntaxNode) -> tuple[str, str]:
    for argument in (first, second):
        if not isinstance(argument, Ident):
            raise MacroError("argument must be a simple name", argument.position)
    names = _name(first), _name(second)
    if names[0] == names[1]:
        raise MacroError(f"duplicate variable name: {names[0]}", second.position)
    return names


def _result(position: int) -> Ident:
    return Ident(position, ACCUMULATOR)


def _loop(
    position: int,
    target: SyntaxNode,
    names: tuple[str, str | None],
    initial: SyntaxNode,
    step: SyntaxNode,
    condition: SyntaxNode | None = None,
    result: SyntaxNode | None = None,
) -> Fold:
    return Fold(
        position,
        target,
        names[0],
        names[1],
        ACCUMULATOR,
        initial,
        condition or Constant(position, True),
        step,
        result or _result(position),
    )


def _all(
    position: int, target: SyntaxNode, names: tuple[str, str | None], predicate: SyntaxNode
) -> SyntaxNode:
    condition = Call(position, "@not_strictly_false", [_result(position)])
    step = Call(position, "_&&_", [_result(position), predicate])
    return _loop(position, target, names, Constant(position, True), step, condition)


def _exists(
    position: int, target: SyntaxNode, names: tuple[str, str | None], predicate: SyntaxNode
) -> SyntaxNode:
    condition = Call(position, "@not_strictly_false", [Call(position, "!_", [_result(position)])])
    step = Call(position, "_||_", [_result(position), predicate])
    return _loop(position, target, names, Constant(position, False), step, condition)


def _exists_one(
    position: int, target: SyntaxNode, names: tuple[str, str | None], predicate: SyntaxNode
) -> SyntaxNode:
    add = Call(position, "_+_", [_result(position), Constant(position, 1)])
    step = Call(position, "_?_:_", [predicate, add, _result(position)])
    result = Call(position, "_==_", [_result(position), Constant(position, 1)])
    return _loop(position, target, names, Constant(position, 0), step, result=result)


def _where(position: int, predicate: SyntaxNode | None, step: SyntaxNode) -> SyntaxNode:
    return (
        step if predicate is None else Call(position, "_?_:_", [predicate, step, _result(position)])
    )


def _to_list(
    position: int,
    target: SyntaxNode,
    names: tuple[str, str | None],
    predicate: SyntaxNode | None,
    element: SyntaxNode,
) -> SyntaxNode:
    step = Call(position, "_+_", [_result(position), ListNode(position, [element])])
    return _loop(position, target, names, ListNode(position, []), _where(position, predicate, step))


def _to_map(
    position: int,
    target: SyntaxNode,
    names: tuple[str, str | None],
    predicate: SyntaxNode | None,
    entry: list[SyntaxNode],
) -> SyntaxNode:
    step = Call(position, "cel.@mapInsert", [_result(position), *entry])
    return _loop(position, target, names, MapNode(position, []), _where(position, predicate, step))


def _map(position: int, target: SyntaxNode, args: list[SyntaxNode]) -> SyntaxNode:
    name = _name(args[0], "argument is not an identifier")
    return _to_list(position, target, (name, None), args[1] if len(args) == 3 else None, args[-1])


def _filter(position: int, target: SyntaxNode, args: list[SyntaxNode]) -> SyntaxNode:
    name = _name(args[0], "argument is not an identifier")
    return _to_list(position, target, (name, None), args[1], args[0])


def _transform_map(position: int, target: SyntaxNode, args: list[SyntaxNode]) -> SyntaxNode:
    names = _two_names(args[0], args[1])
    entry = [Ident(position, names[0]), args[-1]]
    return _to_map(position, target, names, args[2] if len(args) == 4 else None, entry)


def _bind_fold(position: int, name: str, value: SyntaxNode, result: SyntaxNode) -> Fold:
    return Fold(
        position,
        ListNode(position, []),
        _UNUSED,
        None,
        name,
        value,
        Constant(position, False),
        Ident(position, name),
        result,
    )


def _bind(position: int, target: SyntaxNode, args: list[SyntaxNode]) -> SyntaxNode | None:
    if not isinstance(target, Ident) or target.name != "cel":
        return None
    if not isinstance(args[0], Ident):
        raise MacroError("cel.bind() variable names must be simple identifiers", args[0].position)
    return _bind_fold(position, args[0].name, args[1], args[2])


def _optional_map(
    position: int, target: SyntaxNode, args: list[SyntaxNode], wrap: bool
) -> SyntaxNode:
    macro = "optMap" if wrap else "optFlatMap"
    if not isinstance(args[0], Ident):
        raise MacroError(f"{macro}() variable name must be a simple identifier", args[0].position)
    with room_for(depth(target)):
        value = Call(position, "value", [], copy(target))
    mapped: SyntaxNode = _bind_fold(position, args[0].name, value, args[1])
    if wrap:
        mapped = Call(position, "optional.of", [mapped])
    present = Call(position, "hasValue", [], target)
    return Call(position, "_?_:_", [present, mapped, Call(position, "optional.none", [])])


def _sort_by(position: int, target: SyntaxNode, args: list[SyntaxNode]) -> SyntaxNode:
    if not isinstance(target, ListNode | Select | Ident | Fold | Call):
        raise MacroError(
            "sortBy can only be applied to a list, identifier, comprehension, call or select "
            "expression",
            target.position,
        )
    name = "@__sortBy_input__"
    keys = _map(position, Ident(position, name), args)
    call = Call(position, "@sortByAssociatedKeys", [keys], Ident(position, name))
    return _bind_fold(position, name, target, call)


_MACROS: Final[dict[tuple[str, int], _Expander]] = {
    ("all", 2): lambda p, t, a: _all(p, t, (_name(a[0]), None), a[1]),
    ("exists", 2): lambda p, t, a: _exists(p, t, (_name(a[0]), None), a[1]),
    ("exists_one", 2): lambda p, t, a: _exists_one(p, t, (_name(a[0]), None), a[1]),
    ("all", 3): lambda p, t, a: _all(p, t, _two_names(a[0], a[1]), a[2]),
    ("exists", 3): lambda p, t, a: _exists(p, t, _two_names(a[0], a[1]), a[2]),
    ("exists_one", 3): lambda p, t, a: _exists_one(p, t, _two_names(a[0], a[1]), a[2]),
    ("existsOne", 3): lambda p, t, a: _exists_one(p, t, _two_names(a[0], a[1]), a[2]),
    ("map", 2): _map,
    ("map", 3): _map,
    ("filter", 2): _filter,
    ("transformList", 3): lambda p, t, a: _to_list(p, t, _two_names(a[0], a[1]), None, a[2]),
    ("transformList", 4): lambda p, t, a: _to_list(p, t, _two_names(a[0], a[1]), a[2], a[3]),
    ("transformMap", 3): _transform_map,
    ("transformMap", 4): _transform_map,
    ("transformMapEntry", 3): lambda p, t, a: _to_map(p, t, _two_names(a[0], a[1]), None, [a[2]]),
    ("transformMapEntry", 4): lambda p, t, a: _to_map(p, t, _two_names(a[0], a[1]), a[2], [a[3]]),
    ("bind", 3): _bind,
    ("optMap", 2): lambda p, t, a: _optional_map(p, t, a, wrap=True),
    ("optFlatMap", 2): lambda p, t, a: _optional_map(p, t, a, wrap=False),
    ("sortBy", 2): _sort_by,
}
