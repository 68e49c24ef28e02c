"""The tree of a selector after parsing and macro expansion."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from dra_planner.cel.types import DYN, CelType

if TYPE_CHECKING:
    from dra_planner.cel.checking.overloads import Overload


class SyntaxNode:
    """A node. `position` is its offset in the expression. The checker sets the other fields.

    `type` is the type of its value, `overloads` are the overloads that a call can use, and
    `names_type` is True if a name is the name of a type.
    """

    __slots__ = ("names_type", "overloads", "position", "type")

    def __init__(self, position: int) -> None:
        self.position = position
        self.type: CelType = DYN
        self.overloads: tuple[Overload, ...] = ()
        self.names_type = False

    def children(self) -> tuple[SyntaxNode, ...]:
        """Return the child nodes, in evaluation order."""
        return ()


class Constant(SyntaxNode):
    """A literal."""

    __slots__ = ("value",)

    def __init__(self, position: int, value: Any) -> None:
        super().__init__(position)
        self.value = value


class Ident(SyntaxNode):
    """A name."""

    __slots__ = ("name",)

    def __init__(self, position: int, name: str) -> None:
        super().__init__(position)
        self.name = name


class Select(SyntaxNode):
    """`operand.field`, or a test of whether the field exists."""

    __slots__ = ("field", "operand", "test")

    def __init__(self, position: int, operand: SyntaxNode, field: str, test: bool = False) -> None:
        super().__init__(position)
        self.operand, self.field, self.test = operand, field, test

    def children(self) -> tuple[SyntaxNode, ...]:
        return (self.operand,)


class Call(SyntaxNode):
    """A call of a function with arguments, or of a method of a target. Operators are functions. &&
    and

    can have many arguments.
    """

    __slots__ = ("args", "function", "target")

    def __init__(
        self, position: int, function: str, args: list[SyntaxNode], target: SyntaxNode | None = None
    ) -> None:
        super().__init__(position)
        self.function, self.args, self.target = function, args, target

    def children(self) -> tuple[SyntaxNode, ...]:
        return tuple(self.args) if self.target is None else (self.target, *self.args)


class ListNode(SyntaxNode):
    """`[a, ?b]`. `optional` contains the indices of the elements with a question mark."""

    __slots__ = ("elements", "optional")

    def __init__(
        self, position: int, elements: list[SyntaxNode], optional: frozenset[int] = frozenset()
    ) -> None:
        super().__init__(position)
        self.elements, self.optional = elements, optional

    def children(self) -> tuple[SyntaxNode, ...]:
        return tuple(self.elements)


class MapNode(SyntaxNode):
    """`{a: b, ?c: d}` as (key, value, True if optional)."""

    __slots__ = ("entries",)

    def __init__(self, position: int, entries: list[tuple[SyntaxNode, SyntaxNode, bool]]) -> None:
        super().__init__(position)
        self.entries = entries

    def children(self) -> tuple[SyntaxNode, ...]:
        return tuple([node for key, value, _ in self.entries for node in (key, value)])


class Struct(SyntaxNode):
    """`Name{field: value}`."""

    __slots__ = ("fields", "name")

    def __init__(
        self, position: int, name: str, fields: list[tuple[str, SyntaxNode, bool]]
    ) -> None:
        super().__init__(position)
        self.name, self.fields = name, fields

    def children(self) -> tuple[SyntaxNode, ...]:
        return tuple(value for _, value, _ in self.fields)


class Fold(SyntaxNode):
    """The result of the macros over lists and maps. `cel.bind` and `optMap` have an empty range."""

    __slots__ = ("accumulator", "condition", "initial", "key", "range", "result", "step", "value")

    def __init__(
        self,
        position: int,
        range: SyntaxNode,
        key: str,
        value: str | None,
        accumulator: str,
        initial: SyntaxNode,
        condition: SyntaxNode,
        step: SyntaxNode,
        result: SyntaxNode,
    ) -> None:
        super().__init__(position)
        self.range, self.key, self.value = range, key, value
        self.accumulator, self.initial = accumulator, initial
        self.condition, self.step, self.result = condition, step, result

    def children(self) -> tuple[SyntaxNode, ...]:
        return (self.range, self.initial, self.condition, self.step, self.result)

    @property
    def binds(self) -> bool:
        """True if the node only binds a value to a name."""
        return isinstance(self.condition, Constant) and self.condition.value is False


def walk(root: SyntaxNode) -> Iterator[SyntaxNode]:
    """Yield every node of the tree, parents first, without recursion."""
    pending = [root]
    while pending:
        node = pending.pop()
        yield node
        pending.extend(reversed(node.children()))


def copy(node: SyntaxNode) -> SyntaxNode:
    """Return a copy of the tree. Macros that use an operand twice need two copies."""
    if isinstance(node, Constant):
        return Constant(node.position, node.value)
    if isinstance(node, Ident):
        return Ident(node.position, node.name)
    if isinstance(node, Select):
        return Select(node.position, copy(node.operand), node.field, node.test)
    if isinstance(node, Call):
        target = None if node.target is None else copy(node.target)
        return Call(node.position, node.function, [copy(a) for a in node.args], target)
    if isinstance(node, ListNode):
        return ListNode(node.position, [copy(e) for e in node.elements], node.optional)
    if isinstance(node, MapNode):
        return MapNode(node.position, [(copy(k), copy(v), o) for k, v, o in node.entries])
    if isinstance(node, Struct):
        return Struct(node.position, node.name, [(f, copy(v), o) for f, v, o in node.fields])
    assert isinstance(node, Fold)
    return Fold(
        node.position,
        copy(node.range),
        node.key,
        node.value,
        node.accumulator,
        copy(node.initial),
        copy(node.condition),
        copy(node.step),
        copy(node.result),
    )


def depth(root: SyntaxNode) -> int:
    """Return the number of nodes on the longest path from the root."""
    levels, level = 0, [root]
    while level:
        levels, level = levels + 1, [child for node in level for child in node.children()]
    return levels
