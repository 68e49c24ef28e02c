"""Compile calls to closures: logic, comparisons, arithmetic, and the functions of the libraries.

Source of the behavior: google/cel-go:interpreter/{planner,interpretable,decorators}.go,
common/decls/decls.go, cel/library.go @v0.26.0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from dra_planner.cel import types
from dra_planner.cel.checking.overloads import Overload, declared
from dra_planner.cel.cost.call_costs import Cost, call_cost
from dra_planner.cel.evaluation.call_shapes import (
    Paid,
    binary,
    decided_by_form,
    equals_text,
    logic,
    not_strictly_false,
    paid,
    set_membership,
    unary,
    variadic,
    with_constant,
)
from dra_planner.cel.evaluation.compiler import Compiler
from dra_planner.cel.evaluation.state import Closure, Folded, State
from dra_planner.cel.libraries import operators
from dra_planner.cel.libraries.regex import compile_pattern
from dra_planner.cel.libraries.table import implementation_of
from dra_planner.cel.tree import Call, Constant, Ident, Select, SyntaxNode
from dra_planner.cel.types import CelType
from dra_planner.cel.values import (
    CelError,
    MapValue,
    Optional,
    TypeValue,
    Uint,
    no_overload,
    type_name,
)

_CONVERSIONS: Final = frozenset(
    ("bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "type", "uint")
)
_BINARY: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "_+_": operators.add,
    "_-_": operators.subtract,
    "_*_": operators.multiply,
    "_/_": operators.divide,
    "_%_": operators.modulo,
    "_==_": operators.equal,
    "_!=_": lambda a, b: not _equal_or_false(a, b),
    "@in": operators.membership,
}


_PARSERS: Final = frozenset(("quantity", "semver", "ip", "cidr", "url"))
_OF_ONE_FORM: Final = frozenset(("semver", "isSemver"))
"""Functions that parse either all texts of one form (such as four numbers with dots) or none of
them.
"""
_SORTING: Final = ("sort", "@sortByAssociatedKeys")
_UNSURE: Final = frozenset(("_?._", "or", "orValue", "flatten", "max", "min", *_SORTING))
"""Functions whose result can differ from their type, because only the first item of their lists is
checked.
"""
_SINGLE_FORM: Final = frozenset(
    (*_BINARY, *operators.ORDERINGS, "!_", "-_", "size", "type", "dyn", "matches", *_SORTING)
)
"""Functions with one implementation for all overloads. They receive all arguments, even if one is
an error.
"""

_COMPARISONS: Final = frozenset(("_==_", *operators.ORDERINGS))
"""Functions of `_SINGLE_FORM` that fail for some types regardless of the values."""


def _equal_or_false(a: Any, b: Any) -> bool:
    try:
        return operators.equal(a, b)
    except CelError:
        return False


def _not(value: Any) -> Any:
    if value.__class__ is not bool:
        raise no_overload()
    return not value


class Caller:
    """Compiles calls for a compiler."""

    def __init__(self, compiler: Compiler) -> None:
        self.compiler = compiler
        self.library = compiler.dialect.library
        self.functions = declared(compiler.dialect)

    def compile(self, node: Call, charged: bool) -> Closure:
        """Return the closure of a call that doesn't read a field or index."""
        function = node.function
        if function in ("_&&_", "_||_"):
            return logic([self.compiler.compile(a) for a in node.args], function == "_||_")
        if function == "_?_:_":
            return self._conditional(node)
        if function in ("or", "orValue") and node.target is not None:
            return self._or(node)
        if function == "@not_strictly_false":
            return not_strictly_false(self.compiler.compile(node.args[0]))
        children = list(node.children())
        arguments = [self.compiler.compile(child) for child in children]
        call = self._call(node, arguments)
        by_type = function not in _SINGLE_FORM or function in _COMPARISONS
        if not by_type or not children or not self._reads_device(children[0]):
            return call
        run = self._implementation(node)
        return decided_by_form(call, arguments[1:], run, function in _OF_ONE_FORM)

    def _reads_device(self, node: SyntaxNode) -> bool:
        """Return True if a node is a field of the device with constant names, so that no other
        value in it can be unknown.
        """
        while True:
            if isinstance(node, Select):
                node = node.operand
            elif (
                isinstance(node, Call)
                and node.function == "_[_]"
                and isinstance(node.args[1], Constant)
            ):
                node = node.args[0]
            else:
                break
        shadowed = any("device" in scope for scope in self.compiler.scopes)
        return isinstance(node, Ident) and node.name == "device" and not shadowed

    def _conditional(self, node: Call) -> Closure:
        condition = self.compiler.compile(node.args[0])
        then, otherwise = map(self._branch, node.args[1:])

        def evaluate(state: State) -> Any:
            value = condition(state)
            if value is True:
                return then(state)
            if value is False:
                return otherwise(state)
            raise no_overload()

        return evaluate

    def _branch(self, node: SyntaxNode) -> Closure:
        branch = self.compiler.compile(node, charged=False)
        if (
            not self.library.unpacks_optionals
            or not may_be_optional(node)
            or self.compiler.is_attribute(node)
        ):
            return branch
        return lambda state: operators.resolved(branch(state))

    def _or(self, node: Call) -> Closure:
        assert node.target is not None
        left, right = self.compiler.compile(node.target), self.compiler.compile(node.args[0])
        unwraps, strict = node.function == "orValue", self.library.strict_or

        def evaluate(state: State) -> Any:
            value = left(state)
            if value.__class__ is not Optional:
                if strict:
                    raise no_overload()
                return value
            if not value.present:
                return right(state)
            return operators.known(value.value) if unwraps else value

        return evaluate

    def _call(self, node: Call, arguments: list[Closure]) -> Closure:
        function = node.function
        overload = node.overloads[0].id if len(node.overloads) == 1 else ""
        if function == "_==_":
            overload = "equals"
        elif function == "_!=_":
            overload = "not_equals"
        cost = call_cost(function, overload, self.library)
        if function == "@in" and overload == "in_list" and isinstance(arguments[1], Folded):
            member = set_membership(arguments[0], arguments[1].value)
            if member is not None:
                return member
        early = function == "format" or (function not in _SINGLE_FORM and len(node.overloads) > 1)
        pattern = arguments[1] if function in ("matches", "find", "findAll") else None
        if isinstance(pattern, Folded) and isinstance(pattern.value, str):
            compile_pattern(pattern.value)
            early = True
        run = self._implementation(node)
        if isinstance(pattern, Folded):
            run = _of_strings_and_types(run)
        if function in _CONVERSIONS and len(arguments) == 1 and isinstance(arguments[0], Folded):
            return Folded(run(arguments[0].value))
        if (
            function in _PARSERS
            and not self.compiler.sees_form
            and all(isinstance(a, Folded) for a in arguments)
        ):
            return paid(run, [a.value for a in arguments if isinstance(a, Folded)], cost)
        if len(arguments) == 2 and not early:
            return self._binary(function, arguments, run, cost)
        if len(arguments) == 1:
            return unary(arguments[0], run, cost)
        return variadic(arguments, run, cost)

    @staticmethod
    def _binary(
        function: str, arguments: list[Closure], run: Callable[[Any, Any], Any], cost: Cost | int
    ) -> Closure:
        left, right = arguments
        if isinstance(right, Folded):
            if function == "_==_" and isinstance(right.value, str) and not isinstance(cost, int):
                return equals_text(left, right.value, run, cost)
            if isinstance(cost, int):
                return with_constant(left, right.value, run, cost)
        if isinstance(right, Paid) and isinstance(cost, int):
            return with_constant(left, right.value, run, cost + right.cost)
        return binary(left, right, run, cost, compares=function in ("_==_", "_!=_"))

    def _implementation(self, node: Call) -> Callable[..., Any]:
        function = node.function
        if function in operators.ORDERINGS:
            return _ordering(operators.ORDERINGS[function])
        single = _BINARY.get(function) or _UNARY.get(function)
        if single is not None:
            return single
        if len(node.overloads) == 1 or function in _SORTING:
            return self._guarded(node, node.overloads[0])
        return self._dispatching(function, self.functions[function])

    def _guarded(self, node: Call, overload: Overload) -> Callable[..., Any]:
        run = implementation_of(overload.id, self.library)
        if run is None:
            raise Unsupported(f"the function {overload.function} is not supported")
        if all(map(_is_sure, node.children(), overload.parameters)):
            return run
        guards = _guards(overload)
        name, implementation = overload.function, run

        def guarded(*args: Any) -> Any:
            for guard, value in zip(guards, args, strict=True):
                if guard is not None and not guard(value):
                    raise _no_such_overload(name, args)
            return implementation(*args)

        return guarded

    def _dispatching(self, function: str, overloads: Sequence[Overload]) -> Callable[..., Any]:
        forms = []
        for overload in overloads:
            run = implementation_of(overload.id, self.library)
            if run is None:
                raise Unsupported(f"the function {function} is not supported")
            forms.append((_guards(overload), run))

        def dispatch(*args: Any) -> Any:
            for guards, run in forms:
                if len(guards) == len(args) and all(
                    g is None or g(v) for g, v in zip(guards, args, strict=True)
                ):
                    return run(*args)
            raise _no_such_overload(function, args)

        return dispatch


def _of_strings_and_types(run: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function with a constant pattern. Upstream searches every value that is a string in
    Go, including the name of a type.
    """
    return lambda value, *rest: run(value.name if value.__class__ is TypeValue else value, *rest)


def may_be_optional(node: SyntaxNode) -> bool:
    """Return True if the value can be an optional according to its static type."""
    return node.type.kind in ("dyn", "any") or types.unwrap_optional(node.type)[1]


class Unsupported(Exception):
    """A part of the dialect that this engine doesn't evaluate."""


def _no_such_overload(function: str, args: Sequence[Any]) -> CelError:
    return CelError(f"no such overload: {function}({', '.join(map(type_name, args))})")


def _size(value: Any) -> int:
    return operators.size(value)


_UNARY: Final[dict[str, Callable[[Any], Any]]] = {
    "!_": _not,
    "-_": operators.negate,
    "size": _size,
    "type": lambda value: TypeValue(type_name(value)),
    "dyn": lambda value: value,
}


def _ordering(holds: Callable[[int], bool]) -> Callable[[Any, Any], bool]:
    compare, has_order = operators.compare, operators.has_order

    def ordered(a: Any, b: Any) -> bool:
        if not has_order(a):
            raise no_overload()
        return holds(compare(a, b))

    return ordered


# -- guards: values that an overload accepts


_CLASSES: Final[dict[str, type]] = {
    "bool": bool,
    "int": int,
    "uint": Uint,
    "double": float,
    "string": str,
    "bytes": bytes,
    "null": type(None),
}


def _is_sure(node: SyntaxNode, wanted: CelType) -> bool:
    """Return True if the node always has a value of the type. Its static type can depend on a
    dynamic type.
    """
    if node.type != wanted:
        return False
    if isinstance(node, Constant):
        return True
    return (
        isinstance(node, Call)
        and len(node.overloads) == 1
        and node.overloads[0].result == wanted
        and node.function not in _UNSURE
        and not node.function.startswith(("_", "@"))
    )


def _guards(overload: Overload) -> list[Callable[[Any], bool] | None]:
    if overload.function == "flatten":  # upstream doesn't check elements here
        return [_guard(types.list_of(types.DYN)), *map(_guard, overload.parameters[1:])]
    if overload.function in _SORTING:
        return [_guard(types.list_of(types.DYN)) for _ in overload.parameters]
    return [_guard(p) for p in overload.parameters]


def _guard(t: CelType) -> Callable[[Any], bool] | None:
    """Return a function that tests whether a value is valid for the type, or None if every value
    is.
    """
    if types.is_dynamic(t) or t.kind == "parameter":
        return None
    wanted = _CLASSES.get(t.kind)
    if wanted is not None:
        return lambda value: value.__class__ is wanted
    if t.kind == "list":
        element = _guard(t.parameters[0])
        return lambda value: (
            value.__class__ is list
            and (element is None or not value or element(operators.known(value[0])))
        )
    if t.kind == "map":
        key, item = _guard(t.parameters[0]), _guard(t.parameters[1])

        def is_map(value: Any) -> bool:
            if value.__class__ is not MapValue:
                return False
            for first_key, first in value.entries.values():
                return (key is None or key(first_key)) and (
                    item is None or item(operators.known(first))
                )
            return True

        return is_map
    name = t.name
    return lambda value: type_name(value) == name
