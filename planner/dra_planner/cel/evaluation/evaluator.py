"""Compile the checked tree to closures. Each gets the evaluation's state, counts its cost, and
returns a value.

An error raises `CelError`, and a value that is known only at run time raises `UnknownError`. Only
&&, ||, and the steps of loops catch them. Cost is counted as upstream's tracker counts it, even if
an argument is an error. Source of the behavior:
google/cel-go:interpreter/{planner,interpretable,decorators,runtimecost}.go@v0.26.0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dra_planner.cel.checking.read_paths import sees_form
from dra_planner.cel.device import device_value
from dra_planner.cel.dialect import Dialect
from dra_planner.cel.evaluation import access
from dra_planner.cel.evaluation.calls import Caller, may_be_optional
from dra_planner.cel.evaluation.loops import compile_fold, read_variable
from dra_planner.cel.evaluation.state import Closure, Failing, Folded, State
from dra_planner.cel.libraries.operators import known, resolved
from dra_planner.cel.tree import (
    Call,
    Constant,
    Fold,
    Ident,
    ListNode,
    MapNode,
    Select,
    SyntaxNode,
)
from dra_planner.cel.values import (
    NONE,
    CelError,
    MapValue,
    Optional,
    TypeValue,
    Uint,
    UnknownError,
    UnknownValue,
    check_key,
    show,
    type_name,
)

# whether it's optional, the key's closure or None, and the constant key
_Qualifier = tuple[bool, Closure | None, Any]


def compile_tree(
    root: SyntaxNode, dialect: Dialect, variables: Sequence[str] = ()
) -> tuple[Closure, int]:
    """Return the closure of a checked tree, and the number of variables that it needs.

    `variables` are declared names other than `device`. Their values are in the first slots, in this
    order. Raises `CelError` for constant conversions that fail, which upstream detects when it
    plans the evaluation.
    """
    compiler = _TreeCompiler(dialect, sees_form(root), variables)
    return compiler.compile(root), compiler.slots


class _TreeCompiler:
    """Compiles nodes to closures, and assigns slots to local names."""

    def __init__(self, dialect: Dialect, sees_form: bool, variables: Sequence[str]) -> None:
        self.dialect = dialect
        self.sees_form = sees_form
        self.slots = len(variables)
        self.scopes: list[dict[str, tuple[int, bool]]] = []
        self._declared = {name: (slot, False) for slot, name in enumerate(variables)}
        self.caller = Caller(self)

    def compile(self, node: SyntaxNode, charged: bool = True) -> Closure:
        """Return the closure of a node. If `charged` is True, reading a variable costs 1. It's
        False in a branch of ?:.
        """
        if isinstance(node, Constant):
            return self.constant(node.value)
        if isinstance(node, Ident | Select) or (isinstance(node, Call) and _is_access(node)):
            return self._path(node, charged)
        if isinstance(node, Call):
            return self.caller.compile(node, charged)
        if isinstance(node, ListNode):
            return self._list(node)
        if isinstance(node, MapNode):
            return self._map(node)
        assert isinstance(node, Fold)
        return compile_fold(self, node)

    @staticmethod
    def constant(value: Any) -> Closure:
        """Return the closure of a constant, which has the type `Folded`."""
        return Folded(value)

    @staticmethod
    def is_attribute(node: SyntaxNode) -> bool:
        """Return True if upstream's planner treats the node as an attribute, which is read and not
        computed.
        """
        if isinstance(node, Call):
            return _is_access(node) or _is_conditional(node)
        return isinstance(node, Ident | Select)

    # -- scopes

    def new_slot(self) -> int:
        """Return a slot for a local variable."""
        self.slots += 1
        return self.slots - 1

    # -- names, fields, indices

    def _path(self, node: SyntaxNode, charged: bool) -> Closure:
        qualifiers: list[_Qualifier] = []
        test = isinstance(node, Select) and node.test
        base: SyntaxNode = node
        while not base.names_type:
            if isinstance(base, Select) and (not base.test or base is node):
                qualifiers.append((False, None, base.field))
                base = base.operand
            elif isinstance(base, Call) and _is_access(base):
                qualifiers.append(self._key(base))
                base = base.args[0]
            else:
                break
        qualifiers.reverse()
        if not charged and any(optional for optional, _, _ in qualifiers):
            # in a branch, upstream reads an optional value instead of only testing its presence
            test = False
        if base.names_type:
            read = self.constant(TypeValue(base.type.parameters[0].name))
        elif (
            isinstance(base, Ident)
            and base.name.removeprefix(".") == "device"
            and self.slot_of(base) is None
        ):
            read = self._device(qualifiers, charged, test)
            # then it's .device, whose fields don't have a cost
            shadowed = any("device" in scope for scope in self.scopes)
            return _at_cost(read, int(charged and not test)) if shadowed else read
        elif isinstance(base, Ident) and not qualifiers:
            return self._variable(base, 1 if charged else 0)
        elif isinstance(base, Ident):
            read = self._variable(base)
        else:
            operand = self.compile(base, charged=not _is_conditional(base) or charged)
            read = operand
        if not qualifiers and isinstance(read, Folded):
            return read
        cost = 1 if charged else 0
        if _is_conditional(base):
            cost = 0
        if test:
            return _test(read, qualifiers, cost - (1 if charged else 0))
        return _qualified(read, qualifiers, cost)

    def _key(self, node: Call) -> _Qualifier:
        optional = node.function != "_[_]"
        key = (
            self.compile(node.args[1], charged=False)
            if self.is_attribute(node.args[1])
            else self.compile(node.args[1])
        )
        if not isinstance(key, Folded):
            return optional, key, None
        if key.value.__class__ not in (str, int, Uint, bool, float):
            raise CelError(f"invalid qualifier type: {type_name(key.value)}")
        return optional, None, key.value

    def slot_of(self, node: Ident) -> tuple[int, bool] | None:
        """Return the slot of the variable, and whether its value is computed when it's
        first read.
        """
        name = node.name
        if name.startswith("."):
            name = name[1:]
            if self.dialect.library.dot_skips_locals:
                return self._declared.get(name)
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        return self._declared.get(name)

    def _variable(self, node: Ident, cost: int = 0) -> Closure:
        found = self.slot_of(node)
        assert found is not None  # the checker has already verified this
        if node.type.kind == "type":
            raise CelError(f"reference to undefined type: {node.name}")
        read = read_variable(*found, cost)
        if self.dialect.library.unpacks_optionals and may_be_optional(node):
            return lambda state: resolved(read(state))
        return read

    def _device(self, qualifiers: list[_Qualifier], charged: bool, test: bool) -> Closure:
        keys = [key for optional, closure, key in qualifiers if closure is None and not optional]
        base = 1 if charged else 0
        simple = len(keys) == len(qualifiers) and not test
        if simple and keys == ["driver"]:
            return _read_driver(base + 1)
        if (
            simple
            and len(keys) == 3
            and keys[0] in ("attributes", "capacity")
            and isinstance(keys[2], str)
        ):
            return _read_value(keys[0] == "attributes", keys[1], keys[2], base + 3)
        if test and len(keys) == len(qualifiers) == 3 and isinstance(keys[1], str):
            return _test_value(keys[0] == "attributes", keys[1], keys[2])
        if simple and len(keys) == 2 and isinstance(keys[1], str):
            return _read_domain(keys[0] == "attributes", keys[1], base + 2, self.sees_form)
        if test:
            return _test(_read_device, qualifiers, base - (1 if charged else 0))
        return _qualified(_read_device, qualifiers, base)

    # -- literals

    def _list(self, node: ListNode) -> Closure:
        elements = [self.compile(e) for e in node.elements]
        optional = node.optional
        if all(isinstance(e, Folded) for e in elements) and not optional:
            return Folded([e.value for e in elements])  # type: ignore[attr-defined]  # all are Folded

        def build(state: State) -> Any:
            try:
                values: list[Any] = []
                for index, element in enumerate(elements):
                    value = element(state)
                    if index in optional:
                        if value.__class__ is not Optional:
                            raise CelError(
                                "cannot initialize optional list element from non-optional value "
                                f"{show(value)}"
                            )
                        if not value.present:
                            continue
                        value = known(value.value)
                    values.append(value)
                return values
            finally:
                state.cost += 10

        if optional and all(isinstance(e, Folded) for e in elements):
            return _fold_now(build)
        return build

    def _map(self, node: MapNode) -> Closure:
        entries = [(self.compile(k), self.compile(v), o) for k, v, o in node.entries]

        def build(state: State) -> Any:
            try:
                pairs: list[tuple[Any, Any]] = []
                for key_of, value_of, optional in entries:
                    key, value = key_of(state), value_of(state)
                    if optional:
                        if value.__class__ is not Optional:
                            raise CelError(
                                f"cannot initialize optional entry '{show(key)}' from non-optional "
                                f"value {show(value)}"
                            )
                        if not value.present:
                            pairs = [pair for pair in pairs if not _is_same_key(pair[0], key)]
                            continue
                        value = known(value.value)
                    check_key(key)
                    pairs.append((key, value))
                return MapValue.of_pairs(pairs)
            finally:
                state.cost += 30

        if all(isinstance(k, Folded) and isinstance(v, Folded) for k, v, _ in entries):
            return _fold_now(build)
        return build


def _is_same_key(a: Any, b: Any) -> bool:
    return a.__class__ is b.__class__ and a == b


def _fold_now(build: Closure) -> Closure:
    """Compute a literal of constants once. Its error still occurs in every evaluation."""
    try:
        return Folded(build(State.empty()))
    except CelError as error:
        return Failing(error)


def _is_access(node: Call) -> bool:
    return node.function in ("_[_]", "_[?_]", "_?._")


def _is_conditional(node: SyntaxNode) -> bool:
    return isinstance(node, Call) and node.function == "_?_:_"


# -- closures for reading


def _read_device(state: State) -> Any:
    return device_value(state.device, state.capacity)


def _at_cost(read: Closure, cost: int) -> Closure:
    """Return the closure with another cost."""

    def evaluate(state: State) -> Any:
        spent = state.cost
        try:
            return read(state)
        finally:
            state.cost = spent + cost

    return evaluate


def _read_driver(cost: int) -> Closure:
    def read(state: State) -> Any:
        state.cost += cost
        return state.device.driver

    return read


def _read_value(attributes: bool, domain: Any, name: str, cost: int) -> Closure:
    message = f"no such key: {name}"

    def read_attribute(state: State) -> Any:
        state.cost += cost
        within = state.device.attributes.get(domain)
        if within is None or name not in within:
            raise CelError(message)
        value = within[name]
        if value.__class__ is UnknownValue:
            raise UnknownError(frozenset({value.path}), value.like)
        return value

    def read_capacity(state: State) -> Any:
        state.cost += cost
        within = state.capacity.get(domain)
        if within is None or name not in within:
            raise CelError(message)
        value = within[name]
        if value.__class__ is UnknownValue:
            raise UnknownError(frozenset({value.path}))
        return value

    return read_attribute if attributes else read_capacity


def _test_value(attributes: bool, domain: str, name: str) -> Closure:
    def is_attribute(state: State) -> bool:
        state.cost += 3
        within = state.device.attributes.get(domain)
        return within is not None and name in within

    def is_capacity(state: State) -> bool:
        state.cost += 3
        within = state.device.capacity.get(domain)
        return within is not None and name in within

    return is_attribute if attributes else is_capacity


def _read_domain(attributes: bool, domain: str, cost: int, sees_form: bool) -> Closure:
    def read_attributes(state: State) -> MapValue:
        state.cost += cost
        return state.device.attributes_of(domain)

    def read_capacity(state: State) -> MapValue:
        state.cost += cost
        return state.device.shared_quantities_of(domain)

    def read_own_capacity(state: State) -> MapValue:
        state.cost += cost
        return MapValue.of_strings(state.capacity.get(domain, {}))

    if attributes:
        return read_attributes
    return read_own_capacity if sees_form else read_capacity


def _qualified(read: Closure, qualifiers: list[_Qualifier], cost: int) -> Closure:
    def evaluate(state: State) -> Any:
        try:
            value = read(state)
            if not qualifiers:
                return value
            chained = value.__class__ is Optional
            if chained:
                if not value.present:
                    return value
                value = known(value.value)
            for optional, key_of, constant in qualifiers:
                chained = chained or optional
                if chained:
                    key = constant if key_of is None else key_of(state)
                    value = access.read_if_present(value, key)
                    if value is access.ABSENT:
                        return NONE
                    state.cost += 1
                else:
                    state.cost += 1
                    value = access.read(value, constant if key_of is None else key_of(state))
            return Optional(True, value) if chained else value
        finally:
            state.cost += cost

    return read if not qualifiers and cost == 0 else evaluate


def _test(read: Closure, qualifiers: list[_Qualifier], cost: int) -> Closure:
    *before, (_, _, field) = qualifiers
    operand = _qualified(read, before, 0) if before else read

    def evaluate(state: State) -> Any:
        try:
            value = operand(state)
            if value.__class__ is Optional:
                if not value.present:
                    return False
                present = access.is_present(known(value.value), field)
                state.cost += present
                return present
            state.cost += 1
            return access.is_present(value, field)
        finally:
            state.cost += cost

    return evaluate
