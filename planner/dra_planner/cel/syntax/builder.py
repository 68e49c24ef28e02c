"""The callbacks of the grammar's rules, which build the tree from the leaves and count the nesting
depth.

Depth is counted as in upstream's parser, for each kind of syntax (expressions, relations,
calculations, member accesses) and in total. An expression deeper than 250 is rejected. The code
isn't recursive. Source of the behavior: google/cel-go:parser/parser.go@v0.26.0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Final

from dra_planner.cel.syntax import macros
from dra_planner.cel.syntax.automaton import Callback, Step, Word
from dra_planner.cel.syntax.literals import LiteralError, value_of
from dra_planner.cel.tree import (
    Call,
    Constant,
    Ident,
    ListNode,
    MapNode,
    Select,
    Struct,
    SyntaxNode,
    walk,
)

MAX_DEPTH: Final = 250
MAX_NODES: Final = 20_000
_RESERVED: Final = frozenset(
    (
        "as",
        "break",
        "const",
        "continue",
        "else",
        "false",
        "for",
        "function",
        "if",
        "import",
        "in",
        "let",
        "loop",
        "package",
        "namespace",
        "null",
        "return",
        "true",
        "var",
        "void",
        "while",
    )
)
_UNCHANGED: Final = frozenset({"conditionalor", "conditionaland", "addition", "unary", "member"})
"""Rules that return a single value unchanged."""
_COUNTED: Final = frozenset({"expr", "relation", "multiplication", "primary"})
"""Rules that only count a level of depth if they have a single value."""


class ParseError(ValueError):
    """A text that isn't an expression. `position` is the offset of the error."""

    def __init__(self, message: str, position: int, deep: bool = False) -> None:
        super().__init__(message)
        self.message, self.position, self.deep = message, position, deep


class Subtree:
    """A part of the tree, with the depths inside it."""

    __slots__ = (
        "calculations",
        "expressions",
        "members",
        "node",
        "number",
        "path",
        "relations",
        "visits",
    )

    def __init__(self, node: SyntaxNode, within: Iterable[Subtree] = ()) -> None:
        expressions = relations = calculations = members = visits = 0
        for part in within:
            expressions = max(expressions, part.expressions)
            relations = max(relations, part.relations)
            calculations = max(calculations, part.calculations)
            members = max(members, part.members)
            visits = max(visits, part.visits)
        self.node = node
        self.expressions: int = expressions
        self.relations: int = relations
        self.calculations: int = calculations
        self.members: int = members
        self.visits: int = visits
        # the number at its left end, to which a sign would belong
        self.number: Constant | None = None
        self.path = ""  # the dotted name that the node represents

    def check(self) -> Subtree:
        """Return this part. Raises `ParseError` if it's too deep."""
        if (
            self.expressions > MAX_DEPTH
            or self.relations > MAX_DEPTH
            or self.calculations > MAX_DEPTH
            or self.members > MAX_DEPTH
            or self.visits > MAX_DEPTH
        ):
            message = f"expression recursion limit exceeded: {MAX_DEPTH}"
            raise ParseError(message, self.node.position, deep=True)
        return self


_Children = list[Any]


def _of_one(callback: Callback) -> Step:
    return lambda value: callback([value])


def _deepening(levels: Counter[str]) -> list[Step]:
    if not levels:
        return []
    expressions, relations = levels["expr"], levels["relation"]
    calculations, members = levels["multiplication"], levels["primary"]

    def deepen(part: Subtree) -> Subtree:
        part.expressions += expressions
        part.relations += relations
        part.calculations += calculations
        part.members += members
        if expressions:
            part.number, part.path = None, ""
        return part.check()

    return [deepen]


def _one_after_another(steps: list[Step]) -> Step | None:
    if len(steps) < 2:
        return steps[0] if steps else None
    if len(steps) == 2:
        first, second = steps
        return lambda value: second(first(value))

    def run(value: Any) -> Any:
        for step in steps:
            value = step(value)
        return value

    return run


class TreeBuilder:
    """The callbacks, one for each rule.

    `with_lists` is True if the macro `sortBy` exists, and `with_backquotes` if fields can be
    quoted. `numbers` are the literals so far, whose signs are known only at the end.
    """

    def __init__(self) -> None:
        self.with_lists = True
        self.with_backquotes = True
        self.nodes = 0
        self.numbers: list[Constant] = []

    def compose(self, names: Sequence[str]) -> Step | None:
        """Return one function for a series of rules with one value each, or None if it changes
        nothing.
        """
        steps: list[Step] = []
        levels: Counter[str] = Counter()
        for name in names:
            if name in _COUNTED:
                levels[name] += 1
            elif name not in _UNCHANGED:
                steps += _deepening(levels)
                levels.clear()
                steps.append(_of_one(getattr(self, name)))
        steps += _deepening(levels)
        return _one_after_another(steps)

    # -- expressions and operators

    def expr(self, children: _Children) -> Subtree:
        condition, then, otherwise = children
        nodes = [condition.node, then.node, otherwise.node]
        part = Subtree(Call(condition.node.position, "_?_:_", nodes), children)
        part.visits += 1
        part.expressions += 1
        return part.check()

    def alternatives(self, children: _Children) -> list[Subtree]:
        return _extended(children) if isinstance(children[0], list) else children

    def conjuncts(self, children: _Children) -> list[Subtree]:
        return _extended(children) if isinstance(children[0], list) else children

    def disjunction(self, children: _Children) -> Subtree:
        return self._logic("_||_", children[0])

    def conjunction(self, children: _Children) -> Subtree:
        return self._logic("_&&_", children[0])

    def _logic(self, function: str, operands: list[Subtree]) -> Subtree:
        return Subtree(
            Call(operands[0].node.position, function, [p.node for p in operands]), operands
        )

    def relation(self, children: _Children) -> Subtree:
        (operator, left), right = children
        right.relations += 1
        part = self._binary(operator, left, right)
        part.relations = max(left.relations, 1 + right.relations)
        return part.check()

    def addition(self, children: _Children) -> Subtree:
        (operator, left), right = children
        part = self._binary(operator, left, right)
        part.calculations = max(left.calculations, 1 + right.calculations)
        return part.check()

    def multiplication(self, children: _Children) -> Subtree:
        children[1].calculations += 1
        return self.addition(children)

    def _binary(self, operator: str, left: Subtree, right: Subtree) -> Subtree:
        part = Subtree(Call(left.node.position, operator, [left.node, right.node]), (left, right))
        part.visits += 1
        return part

    # -- signs

    def unary(self, children: _Children) -> Subtree:
        signs, operand = children
        if signs[0] == "-" and len(signs) == 1 and operand.number is not None:
            return self._signed(signs[0].position, operand)
        if len(signs) % 2 == 0:
            even: Subtree = operand
            return even
        return Subtree(
            Call(signs[0].position, "!_" if signs[0] == "!" else "-_", [operand.node]), (operand,)
        )

    def unary_not_signed(self, children: _Children) -> Subtree:
        signs, operand = children
        if operand.number is None:
            raise ParseError("mismatched input '-'", signs[0].position)
        return self.unary([signs, self._signed(operand.node.position, operand)])

    def _signed(self, position: int, operand: Subtree) -> Subtree:
        assert operand.number is not None
        operand.number.value = -operand.number.value
        operand.number.position = position
        operand.number = None
        return operand

    def unary_nots(self, children: _Children) -> list[Word]:
        return _extended(children)

    def unary_negs(self, children: _Children) -> list[Word]:
        return _extended(children)

    # -- member accesses

    def _access(self, node: SyntaxNode, base: Subtree, *within: Subtree) -> Subtree:
        part = Subtree(node, (base, *within))
        part.members = max(base.members, *(1 + p.members for p in within), 1)
        part.number = base.number
        part.visits += 1
        return part.check()

    def member_dot(self, children: _Children) -> Subtree:
        base, name = children
        part = self._access(Select(base.node.position, base.node, self._field(name)), base)
        if base.path and name[0] != "`":
            part.path = f"{base.path}.{name}"
        return part

    def member_dot_optional(self, children: _Children) -> Subtree:
        base, name = children
        field = Constant(name.position, self._field(name))
        return self._access(Call(base.node.position, "_?._", [base.node, field]), base)

    def member_index(self, children: _Children) -> Subtree:
        base, index = children
        return self._access(Call(base.node.position, "_[_]", [base.node, index.node]), base, index)

    def member_index_optional(self, children: _Children) -> Subtree:
        base, index = children
        return self._access(Call(base.node.position, "_[?_]", [base.node, index.node]), base, index)

    def member_dot_arg(self, children: _Children) -> Subtree:
        base, name, args = children
        arguments: list[Subtree] = args or []
        node = self._call(base.node.position, str(name), [p.node for p in arguments], base.node)
        return self._access(node, base, *arguments)

    def member_object(self, children: _Children) -> Subtree:
        base, fields = children if len(children) == 2 else (children[0], [])
        if not base.path:
            raise ParseError("mismatched input '{'", base.node.position)
        parts: list[tuple[str, Subtree, bool]] = fields
        node = Struct(base.node.position, base.path, [(f, p.node, o) for f, p, o in parts])
        part = Subtree(node, [p for _, p, _ in parts])
        part.members += 1
        return part

    # -- primaries

    def ident(self, children: _Children) -> Subtree:
        return self._name(children[0].position, children[0], "")

    def dot_ident(self, children: _Children) -> Subtree:
        return self._name(children[0].position, children[0], ".")

    def _name(self, position: int, name: Word, dot: str) -> Subtree:
        if name in _RESERVED:
            raise ParseError(f"reserved identifier: {name}", position)
        part = Subtree(Ident(position, dot + name))
        part.path = dot + name
        return part

    def ident_arg(self, children: _Children) -> Subtree:
        return self._global_call(children, "")

    def dot_ident_arg(self, children: _Children) -> Subtree:
        return self._global_call(children, ".")

    def _global_call(self, children: _Children, dot: str) -> Subtree:
        name, args = children
        if name in _RESERVED:
            raise ParseError(f"reserved identifier: {name}", name.position)
        arguments: list[Subtree] = args or []
        return Subtree(
            self._call(name.position, dot + name, [p.node for p in arguments], None), arguments
        )

    def _call(
        self, position: int, function: str, args: list[SyntaxNode], target: SyntaxNode | None
    ) -> SyntaxNode:
        try:
            expanded = macros.expand(position, function, target, args, self.with_lists)
        except macros.MacroError as error:
            raise ParseError(error.message, error.position) from None
        if expanded is None:
            return Call(position, function, args, target)
        # these macros copy their target, so nesting them doubles the tree
        if function in ("optMap", "optFlatMap"):
            self.nodes += sum(1 for _ in walk(expanded))
            if self.nodes > MAX_NODES:
                raise ParseError(
                    "the expression grows too large when its macros are expanded",
                    position,
                    deep=True,
                )
        return expanded

    def paren_expr(self, children: _Children) -> Subtree:
        part: Subtree = children[0]
        return part

    def exprlist(self, children: _Children) -> list[Subtree]:
        return _extended(children)

    # -- literals

    def literal(self, children: _Children) -> Subtree:
        token = children[0]
        try:
            constant = Constant(token.position, value_of(token.type, token))
        except LiteralError as error:
            raise ParseError(str(error), token.position) from None
        part = Subtree(constant)
        if token.type in ("INT_LIT", "FLOAT_LIT"):
            part.number = constant
        if token.type in ("INT_LIT", "FLOAT_LIT", "UINT_LIT"):
            self.numbers.append(constant)
        return part

    def list_lit(self, children: _Children) -> Subtree:
        items: list[tuple[Subtree, bool]] = children[0] if children else []
        optional = frozenset(i for i, (_, o) in enumerate(items) if o)
        position = items[0][0].node.position if items else 0
        return Subtree(
            ListNode(position, [p.node for p, _ in items], optional), [p for p, _ in items]
        )

    def listinits(self, children: _Children) -> list[tuple[Subtree, bool]]:
        return _extended(children)

    def listinit(self, children: _Children) -> tuple[Subtree, bool]:
        return children[0], False

    def listinit_optional(self, children: _Children) -> tuple[Subtree, bool]:
        return children[0], True

    def map_lit(self, children: _Children) -> Subtree:
        items: list[tuple[Subtree, Subtree, bool]] = children[0] if children else []
        position = items[0][0].node.position if items else 0
        node = MapNode(position, [(k.node, v.node, o) for k, v, o in items])
        return Subtree(node, [p for k, v, _ in items for p in (k, v)])

    def mapinits(self, children: _Children) -> list[tuple[Subtree, Subtree, bool]]:
        return _extended(children)

    def mapinit(self, children: _Children) -> tuple[Subtree, Subtree, bool]:
        return children[0], children[1], False

    def mapinit_optional(self, children: _Children) -> tuple[Subtree, Subtree, bool]:
        return children[0], children[1], True

    def fieldinits(self, children: _Children) -> list[tuple[str, Subtree, bool]]:
        return _extended(children)

    def fieldinit(self, children: _Children) -> tuple[str, Subtree, bool]:
        return children[0], children[1], False

    def fieldinit_optional(self, children: _Children) -> tuple[str, Subtree, bool]:
        return children[0], children[1], True

    def fieldname(self, children: _Children) -> str:
        return self._field(children[0])

    def _field(self, token: Word) -> str:
        if token[0] != "`":
            return str(token)
        if not self.with_backquotes:
            raise ParseError("unsupported syntax: '`'", token.position)
        return token[1:-1]


_OPERATORS: Final = {
    "relation_lt": "_<_",
    "relation_le": "_<=_",
    "relation_gt": "_>_",
    "relation_ge": "_>=_",
    "relation_eq": "_==_",
    "relation_ne": "_!=_",
    "relation_in": "@in",
    "addition_add": "_+_",
    "addition_sub": "_-_",
    "multiplication_mul": "_*_",
    "multiplication_div": "_/_",
    "multiplication_mod": "_%_",
}
for _rule, _operator in _OPERATORS.items():
    setattr(
        TreeBuilder, _rule, lambda _self, children, _operator=_operator: (_operator, children[0])
    )


def _extended(children: _Children) -> _Children:
    """Return the items of a list that the grammar builds one by one, from the left."""
    if len(children) == 1:
        return children
    children[0].append(children[1])
    items: _Children = children[0]
    return items
