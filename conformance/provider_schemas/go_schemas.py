"""Read the schemas in Go sources of Terraform providers, and the calls that validate properties."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

_BLOCK = re.compile(r'^(?:"(?P<name>\w+)"|names\.Attr(?P<const>\w+)):\s*(?:&?\w+\.Schema)?\{$')
_CALL = re.compile(r'^(?:"(?P<name>\w+)"|names\.Attr(?P<const>\w+)):\s*(?P<call>\w+)\(.*\),$')
_ENTRY = re.compile(r"^(?P<key>[A-Z]\w+):\s*(?P<value>.*?),?$")
_NESTED = ("Elem", "Schema", "SchemaFunc")
_FUNCTION = re.compile(r"^func (?P<name>\w+)\(.*\*\w+\.(?:Schema|Resource) \{$")


class GoProperty(Struct):
    """One property of a schema: the entries of its block (ValidateFunc, MaxItems, …), and the
    properties of its elements.
    """

    entries: dict[str, str] = {}
    members: dict[str, GoProperty] = {}


def read_schema(text: str, function: str) -> dict[str, GoProperty]:
    """Return the properties in the schema that a function of a Go file returns."""
    functions = dict(_functions(text.splitlines()))
    return _properties(functions[function], functions, frozenset({function}))


def _functions(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    for at, line in enumerate(lines):
        if found := _FUNCTION.match(line):
            end = lines.index("}", at)
            yield found["name"], lines[at + 1 : end]


def _properties(
    lines: list[str], functions: dict[str, list[str]], inside: frozenset[str]
) -> dict[str, GoProperty]:
    top: dict[str, GoProperty] = {}
    open_blocks: list[tuple[int, GoProperty]] = []
    texts = iter(lines)
    for line in texts:
        indent, text = len(line) - len(line.lstrip("\t")), line.strip()
        while open_blocks and indent <= open_blocks[-1][0]:
            open_blocks.pop()
        members = open_blocks[-1][1].members if open_blocks else top
        if found := _BLOCK.match(text):
            members[_name(found)] = GoProperty()
            open_blocks.append((indent, members[_name(found)]))
        elif (found := _CALL.match(text)) and found["call"] in functions:
            call = found["call"]
            below = GoProperty()
            if call not in inside:
                below.members = _properties(functions[call], functions, inside | {call})
            members[_name(found)] = below
        elif (found := _ENTRY.match(text)) and open_blocks:
            value = found["value"]
            if found["key"] in _NESTED and value.endswith("{"):
                continue  # the lines of the block itself follow
            while _depth(value) > 0:
                value = f"{value} {next(texts).strip()}"
            open_blocks[-1][1].entries.setdefault(found["key"], value.rstrip(","))
    return top


def _name(found: re.Match[str]) -> str:
    return found["name"] or re.sub(r"(?<=[a-z])(?=[A-Z])", "_", found["const"]).lower()


def _depth(text: str) -> int:
    bare = re.sub(r'"[^"]*"|`[^`]*`', "", text)
    return sum(bare.count(each) for each in "({[") - sum(bare.count(each) for each in ")}]")
