"""Resources in Terraform code, parsed by python-hcl2: attributes, blocks, and embedded YAML."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from textwrap import dedent
from typing import Final

import hcl2
from lark import Token, Tree
from lark.exceptions import LarkError
from msgspec import Struct

Expression = Tree[Token]
_TOP_LEVEL: Final = re.compile(r"^(?=[a-z_]+\s+[\"{]|[a-z_]+\s+\w+\s*=)", re.MULTILINE)
_RESOURCE: Final = re.compile(r'\s*resource\s+"(?P<type>[\w-]+)"\s+"(?P<name>[\w-]+)"')
_PLAIN_KEY: Final = re.compile(r"[A-Za-z_][\w.-]*")
_ENCODERS: Final = frozenset({"yamlencode", "jsonencode"})
_HEREDOCS: Final = frozenset({"heredoc_template", "heredoc_template_trim"})


class BlockBody(Struct, frozen=True):
    """Attributes and blocks between braces."""

    attributes: Mapping[str, Expression] = {}
    blocks: tuple[tuple[str, BlockBody], ...] = ()


class TerraformResource(Struct, frozen=True):
    """A resource, and the number of its first line (from 1). Its body is empty if python-hcl2 can't
    parse the resource.

    `above` is the number of lines above the parsed text. Line numbers in `yaml_texts` are relative
    to the parsed text.
    """

    type: str
    name: str
    line: int
    body: BlockBody
    above: int


def read_resources(text: str) -> Iterator[TerraformResource]:
    """Yield the resources of a program.

    A page often shows only parts of a program. If the whole text can't be parsed, each block is
    parsed separately.
    """
    try:
        yield from _resources(hcl2.parses_to_tree(text), 0)
    except LarkError:
        begins = [*(match.start() for match in _TOP_LEVEL.finditer(text)), len(text)]
        for begin, end in pairwise(begins):
            yield from _resources_of_block(text[begin:end], text.count("\n", 0, begin))


def literal(expression: Expression | None) -> str:
    """Return a string, number, or boolean as text, or "" if Terraform computes the expression."""
    node = _unwrapped(expression)
    if node is None or not (node.data == "string" or _is_plain(node)):
        return ""
    text = _text(node)
    return "" if "$" in text else text


def objects(expression: Expression | None) -> Iterator[Mapping[str, Expression]]:
    """Yield the objects of a list, or the object itself if the expression is an object."""
    node = _unwrapped(expression)
    if node is None:
        return
    if node.data == "object":
        yield {key: value for key, value, _ in _entries(node)}
    elif node.data == "tuple":
        for each in _trees(node):
            yield from objects(each)


def yaml_texts(expression: Expression | None) -> Iterator[str]:
    """Yield the YAML that an expression contains: heredocs, encoded objects, or the object itself.

    Each text starts with empty lines, so that its line numbers match the program. Entries that
    Terraform computes are omitted.
    """
    node = _unwrapped(expression)
    if node is None:
        return
    if node.data == "object":
        yield _Flow().text_of(node)
    elif node.data in _HEREDOCS:
        token = next(each for each in node.children if isinstance(each, Token))
        lines = str(token).rstrip("\n").split("\n")
        yield "\n" * (token.line or 1) + dedent("\n".join(lines[1:-1])) + "\n"
    elif node.data == "tuple" or (
        node.data == "function_call" and _function(node) in _ENCODERS | {"yamldecode"}
    ):
        inner = node if node.data == "tuple" else next(iter(_named(node, "arguments")), None)
        for each in _trees(inner) if inner is not None else ():
            yield from yaml_texts(each)


def _resources_of_block(text: str, above: int) -> Iterator[TerraformResource]:
    try:
        yield from _resources(hcl2.parses_to_tree(text), above)
    except LarkError:
        found = _RESOURCE.match(text)
        if found is not None:
            yield TerraformResource(found["type"], found["name"], above + 1, BlockBody(), above)


def _resources(program: Expression, above: int) -> Iterator[TerraformResource]:
    body = program.children[0]
    assert isinstance(body, Tree)
    for block in _named(body, "block"):
        keyword = next(iter(_named(block, "identifier"))).children[0]
        labels = [_text(each) for each in _named(block, "string")]
        if keyword == "resource" and len(labels) == 2 and isinstance(keyword, Token):
            inner = next(iter(_named(block, "body")))
            yield TerraformResource(
                labels[0], labels[1], above + (keyword.line or 1), _body(inner), above
            )


def _body(body: Expression) -> BlockBody:
    attributes = {_text(each.children[0]): each.children[-1] for each in _named(body, "attribute")}
    blocks = [
        (_text(block.children[0]), _body(inner))
        for block in _named(body, "block")
        for inner in _named(block, "body")
    ]
    return BlockBody(
        {name: each for name, each in attributes.items() if isinstance(each, Tree)}, tuple(blocks)
    )


def _named(node: Expression, name: str) -> Iterator[Expression]:
    return (each for each in _trees(node) if each.data == name)


def _trees(node: Expression) -> Iterator[Expression]:
    return (each for each in node.children if isinstance(each, Tree))


def _text(node: Expression | Token) -> str:
    """Return the characters of a name or a quoted string."""
    if isinstance(node, Token):
        return str(node)
    inner = _unwrapped(node)
    parts = [str(each) for each in node.scan_values(lambda each: isinstance(each, Token))]
    return "".join(parts[1:-1] if inner is not None and inner.data == "string" else parts)


def _unwrapped(expression: Expression | None) -> Expression | None:
    """Return an expression without the syntax nodes that only wrap it."""
    while expression is not None and expression.data in ("expr_term", "object_elem_key"):
        expression = next(
            (each for each in _trees(expression) if each.data != "new_line_or_comment"), None
        )
    return expression


def _is_plain(node: Expression) -> bool:
    return node.data in ("int_lit", "float_lit", "literal_value")


def _function(call: Expression) -> str:
    return _text(call.children[0])


def _entries(node: Expression) -> Iterator[tuple[str, Expression, int]]:
    """Yield the keys of an object, their values, and the lines of the keys."""
    for element in _named(node, "object_elem"):
        key, *_, value = _trees(element)
        yield _text(key), value, _line(key)


def _line(node: Expression) -> int:
    """Return the number of the line on which a node begins (from 1)."""
    token = next(iter(node.scan_values(lambda each: isinstance(each, Token))), None)
    return token.line or 1 if isinstance(token, Token) else 1


def _quoted(text: str) -> str:
    """Return the characters between the quotes of a Terraform string as a YAML string."""
    try:
        return json.dumps(json.loads(f'"{text}"'))
    except ValueError:
        return json.dumps(text)


class _Flow:
    """Writes an object as YAML flow mappings, with each key on the same line as in the program."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._line = 1

    def text_of(self, node: Expression) -> str:
        self._write(node)
        return "".join(self._parts)

    def _go_to(self, line: int) -> None:
        self._parts.append("\n" * max(0, line - self._line))
        self._line = max(line, self._line)

    def _write(self, expression: Expression) -> bool:
        """Write a value, and return True. For a value that Terraform computes, write nothing and
        return False.
        """
        node = _unwrapped(expression)
        if node is None:
            return False
        if node.data == "object":
            self._go_to(_line(node))
            self._parts.append("{")
            for key, value, line in _entries(node):
                written, before = len(self._parts), self._line
                self._go_to(line)
                self._parts.append(f"{key if _PLAIN_KEY.fullmatch(key) else _quoted(key)}: ")
                if self._write(value):
                    self._parts.append(", ")
                else:
                    del self._parts[written:]
                    self._line = before
            self._parts.append("}")
            return True
        if node.data == "tuple":
            self._parts.append("[")
            for each in _trees(node):
                if self._write(each):
                    self._parts.append(", ")
            self._parts.append("]")
            return True
        if node.data == "string":
            self._parts.append(_quoted(_text(node)))
            return True
        if _is_plain(node):
            self._parts.append(_text(node))
            return True
        return False
