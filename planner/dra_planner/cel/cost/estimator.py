"""Estimate the maximum cost of a selector, which the API server limits.

Source of the behavior: google/cel-go:checker/cost.go@v0.26.0 and v0.29.2.
"""

from __future__ import annotations

from msgspec import Struct

from dra_planner.cel import types
from dra_planner.cel.cost import call_estimates
from dra_planner.cel.cost.call_estimates import Operand
from dra_planner.cel.cost.device_sizes import Path, declared_size
from dra_planner.cel.cost.ranges import (
    NOTHING,
    ONE,
    UNBOUNDED,
    UNKNOWN,
    Range,
    add,
    fixed,
    multiply,
    union,
)
from dra_planner.cel.dialect import Dialect
from dra_planner.cel.tree import Call, Constant, Fold, Ident, ListNode, MapNode, Select, SyntaxNode


def estimate(root: SyntaxNode, dialect: Dialect) -> int:
    """Return the maximum cost of a checked tree."""
    return _Estimator(dialect).cost(root)[1]


class _Entries(Struct, frozen=True):
    """The sizes of the keys and values of a list or map."""

    of_list: bool
    keys: Range
    values: Range

    def union(self, other: _Entries | None) -> _Entries | None:
        if other is None:
            return None
        return _Entries(
            self.of_list, union(self.keys, other.keys), union(self.values, other.values)
        )


class _Local(Struct, frozen=True):
    path: Path
    size: Range | None
    entries: _Entries | None


class _Estimator:
    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self.paths: dict[int, Path] = {}
        self.sizes: dict[int, Range] = {}
        self.entries: dict[int, _Entries] = {}
        self.locals: dict[str, list[_Local]] = {}

    def cost(self, node: SyntaxNode) -> Range:
        match node:
            case Ident():
                return self._ident(node)
            case Select():
                return self._select(node)
            case Call():
                return self._call(node)
            case ListNode():
                return self._list(node)
            case MapNode():
                return self._map(node)
            case Fold():
                return self._bind(node) if node.binds else self._fold(node)
        return NOTHING

    # -- known facts about a node

    def _local(self, name: str) -> _Local | None:
        """Return the local variable of a name. A leading dot only skips local variables if the
        dialect does so.
        """
        stack = self.locals.get(
            name if self.dialect.library.dot_skips_locals else name.removeprefix(".")
        )
        return stack[-1] if stack else None

    def _path(self, node: SyntaxNode) -> Path:
        if isinstance(node, Ident):
            local = self._local(node.name)
            if local is not None:
                return local.path
        return self.paths.get(id(node)) or Path()

    def _size(self, node: SyntaxNode) -> Range | None:
        known = self.sizes.get(id(node))
        if known is not None:
            return known
        literal = _literal_size(node)
        if literal is not None:
            return literal
        declared = declared_size(self._path(node).steps())
        if declared is not None:
            self.sizes[id(node)] = declared
            return declared
        if types.is_scalar(node.type):
            return ONE
        local = self._local(node.name) if isinstance(node, Ident) else None
        return local.size if local is not None else None

    def _size_or_unknown(self, node: SyntaxNode) -> Range:
        size = self._size(node)
        return UNKNOWN if size is None else size

    def _entries(self, node: SyntaxNode) -> _Entries | None:
        known = self.entries.get(id(node))
        if known is not None:
            return known
        local = self._local(node.name) if isinstance(node, Ident) else None
        return local.entries if local is not None else None

    def _copy(self, to: SyntaxNode, origin: SyntaxNode) -> None:
        size, entries = self._size(origin), self._entries(origin)
        if size is not None:
            self.sizes[id(to)] = size
        if entries is not None:
            self.entries[id(to)] = entries

    def _operand(self, node: SyntaxNode) -> Operand:
        path = self._path(node)
        if path.steps()[:1] in (["@result"], ["__result__"]):
            path = Path()
        return Operand(node, node.type, path, self._size(node))

    # -- names and reads

    def _ident(self, node: Ident) -> Range:
        local, bare = self._local(node.name), node.name.removeprefix(".")
        if local is not None:
            self.paths[id(node)] = local.path
        else:  # beyond a local variable with this name, sizes are unknown
            self.paths[id(node)] = Path(node.name if self.locals.get(bare) else bare)
        return ONE

    def _select(self, node: Select) -> Range:
        if node.names_type:
            self.paths[id(node)] = Path(node.field)
            return ONE
        operand = self.cost(node.operand)
        if node.test:
            return operand
        self.paths[id(node)] = self._path(node.operand).then(node.field)
        return add(operand, ONE) if node.operand.type.kind in ("map", "object") else operand

    # -- calls

    def _call(self, node: Call) -> Range:
        if node.function == "dyn":
            cost = self.cost(node.args[0])
            self._copy(node, node.args[0])
            return add(ONE, cost)
        if node.function in ("_&&_", "_||_"):
            costs = [self.cost(argument) for argument in node.args]
            return costs[0][0], add(*costs)[1]
        costs = []
        operands = []
        for argument in node.args:
            costs.append(self.cost(argument))
            operands.append(self._operand(argument))
        total = NOTHING
        target = None
        if node.target is not None:
            total = self.cost(node.target)
            target = self._operand(node.target)
        called, size = self._overloads(node, target, operands, costs)
        if size is not None:
            self.sizes[id(node)] = size
        return add(total, called)

    def _overloads(
        self, node: Call, target: Operand | None, operands: list[Operand], costs: list[Range]
    ) -> tuple[Range, Range | None]:
        called: Range = (UNBOUNDED, 0)
        size: Range | None = None
        for overload in node.overloads:
            if overload.id == "conditional":
                cost, result = self._conditional(node, operands, costs)
            elif overload.id in ("add_string", "add_bytes", "add_list"):
                cost, result = self._add(node, overload.id, operands, costs)
            else:
                own, result = call_estimates.call(
                    node.function, overload.id, target, operands, self.dialect
                )
                cost = add(own, *costs)
            called = union(called, cost)
            if result is not None:
                size = result if size is None else union(size, result)
            if overload.id in ("index_list", "index_map"):
                step = "@items" if overload.id == "index_list" else "@values"
                entries = self._entries(node.args[0])
                size = entries.values if entries is not None else None
                self.paths[id(node)] = self._path(node.args[0]).then(step)
            if size is None:
                size = self._size(node)
        return called, size

    def _conditional(
        self, node: Call, operands: list[Operand], costs: list[Range]
    ) -> tuple[Range, Range | None]:
        _, then, otherwise = node.args
        entries = self._entries(then)
        both = entries.union(self._entries(otherwise)) if entries is not None else None
        if both is not None:
            self.entries[id(node)] = both
        size = union(operands[1].size or UNKNOWN, operands[2].size or UNKNOWN)
        return add(costs[0], union(costs[1], costs[2])), size

    def _add(
        self, node: Call, overload: str, operands: list[Operand], costs: list[Range]
    ) -> tuple[Range, Range | None]:
        size = add(operands[0].size or UNKNOWN, operands[1].size or UNKNOWN)
        entries = self._entries(node.args[0])
        both = entries.union(self._entries(node.args[1])) if entries is not None else None
        if both is not None:
            self.entries[id(node)] = both
        own = ONE if overload == "add_list" else call_estimates.traversal(size)
        return add(own, *costs), size

    # -- literals

    def _list(self, node: ListNode) -> Range:
        total = fixed(10)
        size: Range = (UNBOUNDED if node.elements else 0, 0)
        for element in node.elements:
            total = add(total, self.cost(element))
            size = union(size, self._size_or_unknown(element))
        self.entries[id(node)] = _Entries(True, ONE, size)
        return total

    def _map(self, node: MapNode) -> Range:
        total = fixed(30)
        keys: Range = (UNBOUNDED if node.entries else 0, 0)
        values = keys
        for key, value, _ in node.entries:
            total = add(total, self.cost(key), self.cost(value))
            keys = union(keys, self._size_or_unknown(key))
            values = union(values, self._size_or_unknown(value))
        self.entries[id(node)] = _Entries(False, keys, values)
        return total

    # -- loops

    def _push(self, name: str, local: _Local) -> None:
        self.locals.setdefault(name, []).append(local)

    def _fold(self, node: Fold) -> Range:
        total = add(self.cost(node.range), self.cost(node.initial))
        self._push_value(node.accumulator, node.initial)
        self._push_loop_variables(node)
        step = add(self.cost(node.condition), self.cost(node.step))
        self.locals[node.key].pop()
        if node.value is not None:
            self.locals[node.value].pop()
        total = add(total, self.cost(node.result))
        self.locals[node.accumulator].pop()
        turns = self._size_or_unknown(node.range)
        if isinstance(node.initial, Constant):
            size = self._size(node.initial)
            if size is not None:
                self.sizes[id(node)] = size
        elif isinstance(node.initial, ListNode | MapNode):
            self.sizes[id(node)] = turns
            entries = self._entries(node.step)
            if entries is not None:
                self.entries[id(node)] = entries
        return add(total, multiply(turns, step))

    def _push_value(self, name: str, value: SyntaxNode) -> None:
        self._push(name, _Local(self._path(value), self._size(value), self._entries(value)))

    def _push_loop_variables(self, node: Fold) -> None:
        entries = self._entries(node.range)
        of_list = entries.of_list if entries is not None else node.range.type.kind == "list"
        path = self._path(node.range)
        keys = entries.keys if entries is not None else None
        values = entries.values if entries is not None else None
        if node.value is not None:
            self._push(node.key, _Local(path.then("@indices" if of_list else "@keys"), keys, None))
            self._push(
                node.value, _Local(path.then("@items" if of_list else "@values"), values, None)
            )
        elif of_list:
            self._push(node.key, _Local(path.then("@items"), values, None))
        else:
            self._push(node.key, _Local(path.then("@keys"), keys, None))

    def _bind(self, node: Fold) -> Range:
        total = add(self.cost(node.range), self.cost(node.initial))
        self._push_value(node.accumulator, node.initial)
        total = add(total, self.cost(node.result))
        self.locals[node.accumulator].pop()
        self._copy(node, node.result)
        return total


def _literal_size(node: SyntaxNode) -> Range | None:
    if isinstance(node, Constant):
        value = node.value
        if isinstance(value, str | bytes):
            return fixed(len(value))
        return ONE
    if isinstance(node, ListNode):
        return fixed(len(node.elements))
    if isinstance(node, MapNode):
        return fixed(len(node.entries))
    return None
