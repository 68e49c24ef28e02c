"""From text to tree: the parser's callbacks, which also count how deeply things are nested.

Depth is counted as upstream's parser does, per kind of syntax (expressions, relations, calculations, member accesses)
and over all of them; beyond 250 the text is refused. Nothing here recurses: the tree grows from the leaves.
Source of the behaviour: google/cel-go:parser/parser.go@v0.26.0.
"""

from __future__ import annotations

import threading
from functools import cache
from typing import Any, Final

from lark import Lark, Token, Transformer
from lark.exceptions import UnexpectedInput, VisitError

from dra_planner.cel import grammar, macros
from dra_planner.cel.literals import LiteralError, bytes_of, text_of
from dra_planner.cel.tree import Call, Constant, Ident, ListNode, MapNode, Node, Select, Struct, walk
from dra_planner.cel.values import INT_MAX, INT_MIN, UINT_MAX, Uint

MAX_DEPTH: Final = 250
MAX_NODES: Final = 20_000
_RESERVED: Final = frozenset(
    ("as", "break", "const", "continue", "else", "false", "for", "function", "if", "import", "in", "let", "loop",
     "package", "namespace", "null", "return", "true", "var", "void", "while")
)  # fmt: skip


class ParseError(ValueError):
    """A text that is not an expression. `position` is the offset of the place."""

    def __init__(self, message: str, position: int, deep: bool = False) -> None:
        super().__init__(message)
        self.message, self.position, self.deep = message, position, deep


class _Part:
    """A piece of the tree with the depths within it."""

    __slots__ = ("calculations", "expressions", "members", "node", "number", "path", "relations", "visits")

    def __init__(self, node: Node, *within: _Part) -> None:
        self.node = node
        self.expressions: int = max((p.expressions for p in within), default=0)
        self.relations: int = max((p.relations for p in within), default=0)
        self.calculations: int = max((p.calculations for p in within), default=0)
        self.members: int = max((p.members for p in within), default=0)
        self.visits: int = max((p.visits for p in within), default=0)
        self.number: Constant | None = None  # the number at its left end, which a sign belongs to
        self.path = ""  # the dotted name that it is

    def check(self) -> _Part:
        if max(self.expressions, self.relations, self.calculations, self.members, self.visits) > MAX_DEPTH:
            message = f"expression recursion limit exceeded: {MAX_DEPTH}"
            raise ParseError(message, self.node.position, deep=True)
        return self


_Children = list[Any]


class _Builder(Transformer[Token, _Part]):
    """The callbacks of the grammar's rules, one per rule."""

    def __init__(self) -> None:
        super().__init__(visit_tokens=False)
        self.with_lists = True
        self.with_backquotes = True
        self.nodes = 0

    # -- expressions and operators

    def expr(self, children: _Children) -> _Part:
        condition, then, otherwise = children
        if then is None:
            part: _Part = condition
        else:
            nodes = [condition.node, then.node, otherwise.node]
            part = _Part(Call(condition.node.position, "_?_:_", nodes), condition, then, otherwise)
            part.visits += 1
        part.expressions += 1
        part.number, part.path = None, ""
        return part.check()

    def conditionalor(self, children: _Children) -> _Part:
        return self._logic("_||_", children)

    def conditionaland(self, children: _Children) -> _Part:
        return self._logic("_&&_", children)

    def _logic(self, function: str, children: _Children) -> _Part:
        if len(children) == 1:
            part: _Part = children[0]
            return part
        return _Part(Call(children[0].node.position, function, [p.node for p in children]), *children)

    def relation(self, children: _Children) -> _Part:
        left, right = children
        right.relations += 1
        if left is None:
            checked: _Part = right
            return checked
        operator, operand = left
        part = self._binary(operator, operand, right)
        part.relations = max(operand.relations, 1 + right.relations)
        return part.check()

    def addition(self, children: _Children) -> _Part:
        return self._calculation(children)

    def multiplication(self, children: _Children) -> _Part:
        left, right = children
        right.calculations += 1
        return self._calculation([left, right])

    def _calculation(self, children: _Children) -> _Part:
        left, right = children
        if left is None:
            checked: _Part = right
            return checked
        operator, operand = left
        part = self._binary(operator, operand, right)
        part.calculations = max(operand.calculations, 1 + right.calculations)
        return part.check()

    def _binary(self, operator: str, left: _Part, right: _Part) -> _Part:
        part = _Part(Call(left.node.position, operator, [left.node, right.node]), left, right)
        part.visits += 1
        return part

    # -- signs

    def unary(self, children: _Children) -> _Part:
        if len(children) == 1:
            part: _Part = children[0]
            return part
        signs, operand = children
        if signs[0] == "-" and len(signs) == 1 and operand.number is not None:
            return self._signed(signs[0].start_pos, operand)
        if len(signs) % 2 == 0:
            even: _Part = operand
            return even
        return _Part(Call(signs[0].start_pos, "!_" if signs[0] == "!" else "-_", [operand.node]), operand)

    def unary_not_signed(self, children: _Children) -> _Part:
        signs, operand = children
        if operand.number is None:
            raise ParseError("mismatched input '-'", signs[0].start_pos)
        return self.unary([signs, self._signed(operand.node.position, operand)])

    def _signed(self, position: int, operand: _Part) -> _Part:
        assert operand.number is not None
        operand.number.value = -operand.number.value
        operand.number.position = position
        operand.number = None
        return operand

    def unary_nots(self, children: _Children) -> list[Token]:
        return children

    def unary_negs(self, children: _Children) -> list[Token]:
        return children

    # -- member accesses

    def member(self, children: _Children) -> _Part:
        part: _Part = children[0]
        return part

    def _access(self, node: Node, base: _Part, *within: _Part) -> _Part:
        part = _Part(node, base, *within)
        part.members = max(base.members, *(1 + p.members for p in within), 1)
        part.number = base.number
        part.visits += 1
        return part.check()

    def member_dot(self, children: _Children) -> _Part:
        base, name = children
        part = self._access(Select(base.node.position, base.node, self._field(name)), base)
        if base.path and name[0] != "`":
            part.path = f"{base.path}.{name}"
        return part

    def member_dot_optional(self, children: _Children) -> _Part:
        base, name = children
        field = Constant(name.start_pos, self._field(name))
        return self._access(Call(base.node.position, "_?._", [base.node, field]), base)

    def member_index(self, children: _Children) -> _Part:
        base, index = children
        return self._access(Call(base.node.position, "_[_]", [base.node, index.node]), base, index)

    def member_index_optional(self, children: _Children) -> _Part:
        base, index = children
        return self._access(Call(base.node.position, "_[?_]", [base.node, index.node]), base, index)

    def member_dot_arg(self, children: _Children) -> _Part:
        base, name, args = children
        arguments: list[_Part] = args or []
        node = self._call(base.node.position, str(name), [p.node for p in arguments], base.node)
        return self._access(node, base, *arguments)

    def member_object(self, children: _Children) -> _Part:
        base, fields = children if len(children) == 2 else (children[0], [])
        if not base.path:
            raise ParseError("mismatched input '{'", base.node.position)
        parts: list[tuple[str, _Part, bool]] = fields
        node = Struct(base.node.position, base.path, [(f, p.node, o) for f, p, o in parts])
        part = _Part(node, *(p for _, p, _ in parts))
        part.members += 1
        return part

    # -- primaries

    def primary(self, children: _Children) -> _Part:
        part: _Part = children[0]
        part.members += 1
        return part.check()

    def ident(self, children: _Children) -> _Part:
        return self._name(children[0].start_pos, children[0], "")

    def dot_ident(self, children: _Children) -> _Part:
        return self._name(children[0].start_pos, children[0], ".")

    def _name(self, position: int, name: Token, dot: str) -> _Part:
        if name in _RESERVED:
            raise ParseError(f"reserved identifier: {name}", position)
        part = _Part(Ident(position, dot + name))
        part.path = dot + name
        return part

    def ident_arg(self, children: _Children) -> _Part:
        return self._global_call(children, "")

    def dot_ident_arg(self, children: _Children) -> _Part:
        return self._global_call(children, ".")

    def _global_call(self, children: _Children, dot: str) -> _Part:
        name, args = children
        if name in _RESERVED:
            raise ParseError(f"reserved identifier: {name}", name.start_pos)
        arguments: list[_Part] = args or []
        return _Part(self._call(name.start_pos, dot + name, [p.node for p in arguments], None), *arguments)

    def _call(self, position: int, function: str, args: list[Node], target: Node | None) -> Node:
        try:
            expanded = macros.expand(position, function, target, args, self.with_lists)
        except macros.MacroError as error:
            raise ParseError(error.message, error.position) from None
        if expanded is None:
            return Call(position, function, args, target)
        if function in ("optMap", "optFlatMap"):  # these copy their target, so nesting them doubles the tree
            self.nodes += sum(1 for _ in walk(expanded))
            if self.nodes > MAX_NODES:
                raise ParseError("the expression grows too large when its macros are expanded", position, deep=True)
        return expanded

    def paren_expr(self, children: _Children) -> _Part:
        part: _Part = children[0]
        return part

    def exprlist(self, children: _Children) -> list[_Part]:
        return children

    # -- literals

    def literal(self, children: _Children) -> _Part:
        token = children[0]
        try:
            constant = Constant(token.start_pos, _value(token))
        except LiteralError as error:
            raise ParseError(str(error), token.start_pos) from None
        part = _Part(constant)
        if token.type in ("INT_LIT", "FLOAT_LIT"):
            part.number = constant
        return part

    def list_lit(self, children: _Children) -> _Part:
        items: list[tuple[_Part, bool]] = children[0] if children else []
        optional = frozenset(i for i, (_, o) in enumerate(items) if o)
        position = items[0][0].node.position if items else 0
        return _Part(ListNode(position, [p.node for p, _ in items], optional), *(p for p, _ in items))

    def listinits(self, children: _Children) -> list[tuple[_Part, bool]]:
        return _extended(children)

    def listinit(self, children: _Children) -> tuple[_Part, bool]:
        return children[0], False

    def listinit_optional(self, children: _Children) -> tuple[_Part, bool]:
        return children[0], True

    def map_lit(self, children: _Children) -> _Part:
        items: list[tuple[_Part, _Part, bool]] = children[0] if children else []
        position = items[0][0].node.position if items else 0
        node = MapNode(position, [(k.node, v.node, o) for k, v, o in items])
        return _Part(node, *(p for k, v, _ in items for p in (k, v)))

    def mapinits(self, children: _Children) -> list[tuple[_Part, _Part, bool]]:
        return _extended(children)

    def mapinit(self, children: _Children) -> tuple[_Part, _Part, bool]:
        return children[0], children[1], False

    def mapinit_optional(self, children: _Children) -> tuple[_Part, _Part, bool]:
        return children[0], children[1], True

    def fieldinits(self, children: _Children) -> list[tuple[str, _Part, bool]]:
        return _extended(children)

    def fieldinit(self, children: _Children) -> tuple[str, _Part, bool]:
        return children[0], children[1], False

    def fieldinit_optional(self, children: _Children) -> tuple[str, _Part, bool]:
        return children[0], children[1], True

    def fieldname(self, children: _Children) -> str:
        return self._field(children[0])

    def _field(self, token: Token) -> str:
        if token[0] != "`":
            return str(token)
        if not self.with_backquotes:
            raise ParseError("unsupported syntax: '`'", token.start_pos or 0)
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
    setattr(_Builder, _rule, lambda _self, children, _operator=_operator: (_operator, children[0]))


def _extended(children: _Children) -> _Children:
    """The items of a list that the grammar builds one by one, from the left."""
    if len(children) == 1:
        return children
    children[0].append(children[1])
    items: _Children = children[0]
    return items


def _value(token: Token) -> Any:
    match token.type:
        case "INT_LIT":
            return int(token, 16) if token.startswith("0x") else _decimal(token)
        case "UINT_LIT":
            digits = token[:-1]
            return Uint(int(digits, 16) if digits.startswith("0x") else _decimal(digits))
        case "FLOAT_LIT":
            return float(token)
        case "BOOL_LIT":
            return token == "true"
        case "NULL_LIT":
            return None
        case "BYTES_LIT":
            return bytes_of(token[1:])
        case _:
            return text_of(token)


def _decimal(digits: str) -> int:
    return int(digits) if len(digits) < 4000 else UINT_MAX + 1  # Python refuses to read very long numbers


_lock = threading.Lock()
_builder = _Builder()


@cache
def _parser() -> Lark:
    return grammar.parser(_builder)


def parse(text: str, with_lists: bool, with_backquotes: bool = True) -> Node:
    """The tree of the text, macros expanded. Raises `ParseError`.

    `with_lists`: whether the macro `sortBy` is there; `with_backquotes`: whether fields may be quoted.
    """
    with _lock:
        _builder.with_lists, _builder.with_backquotes, _builder.nodes = with_lists, with_backquotes, 0
        try:
            part: Any = _parser().parse(text)
        except VisitError as error:
            if isinstance(error.orig_exc, ParseError):
                raise error.orig_exc from None
            raise
        except UnexpectedInput as error:
            raise ParseError(_explain(error), min(max(error.pos_in_stream or 0, 0), len(text))) from None
    _check_numbers(part.node)
    root: Node = part.node
    return root


def _explain(error: UnexpectedInput) -> str:
    token = getattr(error, "token", None)
    if token is not None:
        shown = "<EOF>" if token.type == "$END" else str(token)
        return f"Syntax error: mismatched input '{shown}'"
    return f"Syntax error: token recognition error at: '{getattr(error, 'char', '?')}'"


def _check_numbers(root: Node) -> None:
    for node in walk(root):
        if isinstance(node, Constant):
            kind = node.value.__class__
            if kind is int and not INT_MIN <= node.value <= INT_MAX:
                raise ParseError("invalid int literal", node.position)
            if kind is Uint and node.value > UINT_MAX:
                raise ParseError("invalid uint literal", node.position)
            if kind is float and node.value in (float("inf"), float("-inf")):
                raise ParseError("invalid double literal", node.position)
