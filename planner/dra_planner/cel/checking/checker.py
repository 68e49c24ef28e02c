"""The type checker, which sets the type of every node and the overloads of every call, and reports
errors.

Source of the behavior: google/cel-go:checker/{checker,env,errors,format}.go, cel/validator.go
@v0.26.0 and v0.29.2.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from dra_planner.cel import types
from dra_planner.cel.checking.overloads import Overload, declared
from dra_planner.cel.checking.validation import Issue, validate
from dra_planner.cel.dialect import Dialect
from dra_planner.cel.tree import (
    Call,
    Constant,
    Fold,
    Ident,
    ListNode,
    MapNode,
    Select,
    Struct,
    SyntaxNode,
    walk,
)
from dra_planner.cel.types import CelType, Substitution, show
from dra_planner.cel.values import Uint
from dra_planner.cel.variable_types import VariableTypes

_TYPE_IDENTS: Final[dict[str, CelType]] = {
    t.name: t
    for t in (
        types.BOOL,
        types.BYTES,
        types.DOUBLE,
        types.DURATION,
        types.INT,
        types.NULL,
        types.STRING,
        types.TIMESTAMP,
        types.UINT,
        types.IP,
        types.CIDR,
        types.list_of(types.DYN),
        types.map_of(types.DYN, types.DYN),
        types.optional_of(types.parameter("T")),
        CelType("type", "type"),
    )
}
_CONSTANT_TYPES: Final[dict[type, CelType]] = {
    bool: types.BOOL,
    int: types.INT,
    Uint: types.UINT,
    float: types.DOUBLE,
    str: types.STRING,
    bytes: types.BYTES,
    type(None): types.NULL,
}


def check(root: SyntaxNode, dialect: Dialect, declared: VariableTypes | None = None) -> list[Issue]:
    """Check the tree in place, and return the errors in order of their positions.

    Types are meaningful only if there are no errors. Without declarations, the expression is a
    selector, which reads `device`. Raises `TypesTooLarge`.
    """
    checker = _Checker(dialect, device_declarations(dialect) if declared is None else declared)
    checker.check(root)
    if checker.issues:
        return sorted(checker.issues, key=lambda issue: issue.position)
    settled: dict[int, CelType] = {}
    known: dict[CelType, CelType] = {}
    nodes = list(walk(root))
    # references to the types, which prevent Python from reusing their identities
    found = [node.type for node in nodes]
    for node, t in zip(nodes, found, strict=True):
        node.type = checker.bindings.settle(t, settled, known)
    return sorted(validate(root), key=lambda issue: issue.position)


def device_fields(dialect: Dialect) -> dict[str, CelType]:
    """Return the fields of `device`."""
    attribute = types.DYN if dialect.dynamic_attributes else types.ANY
    fields = {
        "driver": types.STRING,
        "attributes": types.map_of(types.STRING, types.map_of(types.STRING, attribute)),
        "capacity": types.map_of(types.STRING, types.map_of(types.STRING, types.QUANTITY)),
    }
    if dialect.reads_multiple_allocations:
        fields["allowMultipleAllocations"] = types.BOOL
    return fields


def device_declarations(dialect: Dialect) -> VariableTypes:
    """Return the declarations for a selector."""
    return VariableTypes({"device": types.DEVICE}, {types.DEVICE.name: device_fields(dialect)})


_MOST_NAMES: Final = 8
"""A limit that is greater than the number of parts of any declared name."""


def dotted(node: SyntaxNode) -> str | None:
    """Return the name that a chain of field selections spells, if it can be a declared name."""
    names: list[str] = []
    while isinstance(node, Select) and not node.test:
        names.append(node.field)
        node = node.operand
        if len(names) > _MOST_NAMES:
            return None
    if not isinstance(node, Ident):
        return None
    return ".".join([node.name, *reversed(names)])


class _Checker:
    def __init__(self, dialect: Dialect, declarations: VariableTypes) -> None:
        self.functions = declared(dialect)
        self.declarations = declarations
        self.dot_skips_locals = dialect.library.dot_skips_locals
        self.bindings = Substitution()
        self.scopes: list[dict[str, CelType]] = []
        self.issues: list[Issue] = []
        self.fresh = 0
        self.resolved: dict[
            tuple[str, bool, tuple[CelType, ...]], tuple[CelType | None, tuple[Overload, ...]]
        ] = {}

    def check(self, node: SyntaxNode) -> CelType:
        match node:
            case Constant():
                node.type = _CONSTANT_TYPES[node.value.__class__]
            case Ident():
                self._ident(node)
            case Select():
                self._select(node)
            case Call():
                self._call(node)
            case ListNode():
                self._list(node)
            case MapNode():
                self._map(node)
            case Fold():
                self._fold(node)
            case Struct():
                self._struct(node)
        return node.type

    def _issue(self, node: SyntaxNode, message: str, unsupported: bool = False) -> None:
        self.issues.append(Issue(message, node.position, node, unsupported))
        node.type = types.ERROR

    def _fresh(self) -> CelType:
        self.fresh += 1
        return types.parameter(f"_var{self.fresh}")

    def _join(self, previous: CelType | None, current: CelType) -> CelType:
        if previous is None:
            return current
        if self.bindings.assign(previous, current):
            return types.most_general(previous, current)
        return types.DYN

    def _mismatch(self, node: SyntaxNode, wanted: CelType, given: CelType) -> None:
        self.issues.append(
            Issue(f"expected type '{show(wanted)}' but found '{show(given)}'", node.position, node)
        )

    # -- names

    def _variable(self, name: str) -> tuple[CelType, bool] | None:
        """Return the type of the name, and whether the name is the name of a type."""
        absolute = name.startswith(".")
        if absolute:
            name = name[1:]
        if not (absolute and self.dot_skips_locals):
            for scope in reversed(self.scopes):
                if name in scope:
                    return scope[name], False
        variable = self.declarations.variables.get(name)
        if variable is not None:
            return variable, False
        named = _TYPE_IDENTS.get(name)
        return None if named is None else (types.type_of(named), True)

    def _ident(self, node: Ident) -> None:
        found = self._variable(node.name)
        if found is None:
            self._issue(node, f"undeclared reference to '{node.name}' (in container '')")
        else:
            node.type, node.names_type = found

    def _select(self, node: Select) -> None:
        name = dotted(node)
        if name is not None and not (self.dot_skips_locals and self._is_local(name.split(".")[0])):
            bare = name.removeprefix(".")
            if bare in _TYPE_IDENTS:
                node.type, node.names_type = types.type_of(_TYPE_IDENTS[bare]), True
                return
            if (
                bare.startswith(("google.protobuf.", "google.api."))
                or bare == "kubernetes.DRADevice"
            ):
                self._issue(node, f"'{bare}' is not supported here", unsupported=True)
                return
        result = self._field(node, node.operand, node.field)
        if node.type is not types.ERROR:
            node.type = types.BOOL if node.test else self.bindings.resolve(result)

    def _is_local(self, name: str) -> bool:
        return any(name in scope for scope in self.scopes)

    def _field(
        self, node: SyntaxNode, operand: SyntaxNode, field: str, optional: bool = False
    ) -> CelType:
        target, was_optional = types.unwrap_optional(self.bindings.resolve(self.check(operand)))
        result = types.DYN
        if target.kind == "map":
            result = target.parameters[1]
        elif target.kind == "object":
            result = self._object_field(node, target, field)
        elif target.kind == "parameter":
            self.bindings.assign(types.DYN, target)
        elif target.kind not in ("dyn", "any", "error"):
            self._issue(node, f"type '{show(target)}' does not support field selection")
        return types.optional_of(result) if was_optional or optional else result

    def _object_field(self, node: SyntaxNode, target: CelType, field: str) -> CelType:
        fields = self.declarations.objects.get(target.name)
        if fields is None:
            self._issue(node, f"unexpected failed resolution of '{target.name}'")
        elif field not in fields:
            self._issue(node, f"undefined field '{field}'")
        else:
            return fields[field]
        return types.ERROR

    # -- calls

    def _call(self, node: Call) -> None:
        if node.function == "_?._":
            field = node.args[1]
            assert isinstance(field, Constant)
            field.type = types.STRING
            result = self._field(node, node.args[0], field.value, optional=True)
            if node.type is not types.ERROR:
                node.type = self.bindings.resolve(result)
                node.overloads = self.functions["_?._"]
            return
        for argument in node.args:
            self.check(argument)
        if node.target is not None:
            prefix = dotted(node.target)
            if prefix is not None:
                qualified = f"{prefix}.{node.function}".removeprefix(".")
                if qualified in self.functions:
                    node.function, node.target = qualified, None
                    self._resolve(node, self.functions[qualified])
                    return
            self.check(node.target)
        overloads = self.functions.get(node.function.removeprefix("."))
        if overloads is None:
            self._issue(node, f"undeclared reference to '{node.function}' (in container '')")
            return
        node.function = node.function.removeprefix(".")
        self._resolve(node, overloads)

    def _resolve(self, node: Call, overloads: tuple[Overload, ...]) -> None:
        if node.function in ("_&&_", "_||_"):
            self._logic(node, overloads)
            return
        given = tuple([child.type for child in node.children()])
        key = (node.function, node.target is not None, given)
        found = self.resolved.get(key)
        if found is None:
            found = self._matching(given, node.target is not None, overloads)
            result, matching = found
            if not any(t.generic for t in given) and not (result is not None and result.generic):
                # no parameter's type was determined, so the result stays the same
                self.resolved[key] = found
        result, matching = found
        if result is None:
            shown = [show(self.bindings.settle(t, {}, {})) for t in given]
            if node.target is not None:
                applied = f"{shown[0]}.({', '.join(shown[1:])})"
            else:
                applied = f"({', '.join(shown)})"
            self._issue(
                node, f"found no matching overload for '{node.function}' applied to '{applied}'"
            )
            return
        node.type, node.overloads = result, matching

    def _matching(
        self, given: tuple[CelType, ...], is_method: bool, overloads: tuple[Overload, ...]
    ) -> tuple[CelType | None, tuple[Overload, ...]]:
        """Return the overloads that accept the types, and their result type, or None if no overload
        does.
        """
        matching: list[Overload] = []
        result: CelType | None = None
        for overload in overloads:
            if overload.is_method != is_method or len(overload.parameters) != len(given):
                continue
            parameters, gives = self._instantiate(overload)
            if not self.bindings.assign_all(given, parameters):
                continue
            matching.append(overload)
            resolved = self.bindings.resolve(gives)
            if result is None:
                result = resolved
            elif not types.is_dynamic(result) and resolved != result:
                result = types.DYN
        return result, tuple(matching)

    def _instantiate(self, overload: Overload) -> tuple[tuple[CelType, ...], CelType]:
        if not overload.generic:
            return overload.parameters, overload.result
        fresh = Substitution({name: self._fresh() for name in overload.generic})
        return tuple(map(fresh.resolve, overload.parameters)), fresh.resolve(overload.result)

    def _logic(self, node: Call, overloads: tuple[Overload, ...]) -> None:
        node.type, node.overloads = types.BOOL, overloads
        for argument in node.args:
            if not self.bindings.assign(argument.type, types.BOOL):
                self._mismatch(argument, types.BOOL, argument.type)
                node.type = types.ERROR

    # -- list and map literals

    def _element(self, node: SyntaxNode, optional: bool) -> CelType:
        element = self.check(node)
        if optional:
            element, was_optional = types.unwrap_optional(element)
            if not was_optional and not types.is_dynamic(element):
                self._mismatch(node, types.optional_of(element), element)
        return element

    def _list(self, node: ListNode) -> None:
        joined: CelType | None = None
        for index, element in enumerate(node.elements):
            joined = self._join(joined, self._element(element, index in node.optional))
        node.type = types.list_of(joined or self._fresh())

    def _map(self, node: MapNode) -> None:
        key: CelType | None = None
        value: CelType | None = None
        for key_node, value_node, optional in node.entries:
            key = self._join(key, self.check(key_node))
            value = self._join(value, self._element(value_node, optional))
        node.type = types.map_of(key or self._fresh(), value or self._fresh())

    def _struct(self, node: Struct) -> None:
        name = node.name.removeprefix(".")
        if (
            name.startswith("google.protobuf.")
            or name == "kubernetes.DRADevice"
            or name in _TYPE_IDENTS
        ):
            self._issue(node, f"messages such as '{name}' are not supported here", unsupported=True)
        else:
            self._issue(node, f"undeclared reference to '{node.name}' (in container '')")

    # -- loops

    @contextmanager
    def _scope(self, names: dict[str, CelType]) -> Iterator[None]:
        self.scopes.append(names)
        yield
        self.scopes.pop()

    def _fold(self, node: Fold) -> None:
        over = self.bindings.resolve(self.check(node.range))
        accumulated = self.check(node.initial)
        with self._scope({node.accumulator: accumulated}):
            with self._scope(self._loop_variables(node, over)):
                self._expect(node.condition, types.BOOL)
                self._expect(node.step, accumulated)
            self.check(node.result)
        node.type = self.bindings.resolve(node.result.type)

    def _expect(self, node: SyntaxNode, wanted: CelType) -> None:
        self.check(node)
        if not self.bindings.assign(wanted, node.type):
            self._mismatch(node, wanted, node.type)

    def _loop_variables(self, node: Fold, over: CelType) -> dict[str, CelType]:
        if over.kind == "list":
            first, second = over.parameters[0], over.parameters[0]
            if node.value is not None:
                first = types.INT
        elif over.kind == "map":
            first, second = over.parameters
        elif over.kind in ("dyn", "error", "parameter"):
            self.bindings.assign(types.DYN, over)
            first = second = types.DYN
        else:
            message = (
                f"expression of type '{show(over)}' cannot be range of a comprehension (must "
                "be list, map, or dynamic)"
            )
            self.issues.append(Issue(message, node.range.position, node.range))
            first = second = types.ERROR
        return {node.key: first} if node.value is None else {node.key: first, node.value: second}
