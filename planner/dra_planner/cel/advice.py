"""What would make a refused selector right.

Each rule looks at what was refused, not at the words alone, and says how to write what was likely meant. Where nothing
better is known there is no advice.
"""

from __future__ import annotations

import re
from typing import Final

from dra_planner.cel import types
from dra_planner.cel.dialect import Dialect
from dra_planner.cel.tree import Call, Ident, Node, Select, walk
from dra_planner.cel.types import Type

_ORDERINGS: Final = {"_<_": "<", "_<=_": "<=", "_>_": ">", "_>=_": ">="}
_METHODS: Final = frozenset({"isGreaterThan", "isLessThan", "compareTo", "add", "sub"})
_LISTS: Final = frozenset({"sort", "sortBy", "distinct", "flatten", "slice", "reverse", "range", "lists"})
_LEVELS: Final = (
    'attributes and capacity have two levels, domain and name: device.attributes["gpu.nvidia.com"].productName, '
    'device.capacity["gpu.nvidia.com"].memory'
)


def for_syntax(text: str) -> str | None:
    """Advice for a text that is no expression."""
    bare = re.sub(r"\"[^\"]*\"|'[^']*'", '""', text)
    if not bare.strip():
        return 'write a condition, such as device.driver == "gpu.nvidia.com"'
    if re.search(r"\b(?:and|or|not)\b", bare):
        return "the operators are &&, || and !"
    if re.search(r"(?<![=!<>])=(?!=)", bare):
        return "equality is =="
    if "===" in bare:
        return "equality is =="
    if bare.count("(") != bare.count(")"):
        return "every ( needs its )"
    return None


def for_node(node: Node, message: str, dialect: Dialect) -> str | None:
    """Advice for a node that does not type check; `message` is what the checker says of it."""
    if isinstance(node, Call):
        return _for_call(node, message, dialect)
    if isinstance(node, Select):
        return _for_field(node, message, dialect)
    if isinstance(node, Ident) and "undeclared" in message:
        return _for_name(node.name, dialect)
    return None


def for_result(result: Type) -> str:
    """Advice for a selector that gives something else than true or false."""
    if result == types.QUANTITY:
        return 'compare it: .compareTo(quantity("40Gi")) >= 0'
    if result.kind == "map":
        return _LEVELS
    if types.unwrap_optional(result)[1]:
        return "say what holds when it is absent: .orValue(false)"
    if result.kind == "dyn":
        return "compare it with something, or leave dyn() out"
    return "compare it with something: a selector is true or false"


def for_cost(root: Node) -> str:
    """Advice for a selector whose estimate is above the limit."""
    for node in walk(root):
        if isinstance(node, Call) and node.function == "_!=_" and _is_opaque(node.args[0].type):
            return "write !(a == b) instead of a != b: only == has a known cost for such values"
    return "read the attributes by name instead of looping over all of them, and loop over short lists only"


def _is_opaque(t: Type) -> bool:
    return t.kind in ("object", "opaque")


def _for_call(node: Call, message: str, dialect: Dialect) -> str | None:
    if "undeclared" in message:
        return _for_name(node.function, dialect)
    given = [child.type for child in node.children()]
    if node.function in _ORDERINGS:
        return _for_ordering(_ORDERINGS[node.function], given)
    if node.function in ("_==_", "_!=_"):
        return _for_equality(given)
    if node.function in _METHODS and len(given) == 2 and given[1] == types.STRING:
        if given[0] == types.SEMVER:
            return f'wrap the text: {node.function}(semver("1.2.3"))'
        return f'wrap the text: {node.function}(quantity("40Gi")) for capacity, (semver("1.2.3")) for a version'
    if node.function == "sign":
        return 'sign is a function: sign(quantity("1"))'
    if node.function == "@in" and len(given) == 2 and given[1].kind == "string":
        return "a text contains another: text.contains(part)"
    return _LEVELS if any(t.kind == "map" for t in given) else None


def _for_ordering(operator: str, given: list[Type]) -> str | None:
    if types.QUANTITY in given:
        if types.STRING in given:
            return f'write a.compareTo(quantity("40Gi")) {operator} 0'
        return f"quantities have no {operator}: write a.compareTo(b) {operator} 0"
    if types.SEMVER in given:
        return f"versions have no {operator}: write a.compareTo(b) {operator} 0"
    if any(t.kind == "map" for t in given):
        return _LEVELS
    if types.STRING in given and types.INT in given:
        return "a text and a number have no order: write both as numbers"
    return None


def _for_equality(given: list[Type]) -> str | None:
    if types.STRING in given and types.QUANTITY in given:
        return 'wrap the text: quantity("40Gi")'
    if types.STRING in given and types.SEMVER in given:
        return 'wrap the text: semver("1.2.3")'
    if any(t.kind == "map" for t in given):
        return _LEVELS
    if {t.kind for t in given} <= {"int", "uint", "double"}:
        return "write both numbers in the same form, 1 or 1.0"
    return None


def _for_field(node: Select, message: str, dialect: Dialect) -> str | None:
    if "undefined field" not in message:
        return _LEVELS if node.operand.type == types.STRING else None
    if node.field == "allowMultipleAllocations":
        return f"it needs the feature gate DRAConsumableCapacity, which is off on 1.{dialect.minor} here"
    return f'device has driver, attributes and capacity: device.attributes["gpu.nvidia.com"].{node.field}'


def _for_name(name: str, dialect: Dialect) -> str | None:
    if name == "includes":
        return "it needs the feature gate DRAListTypeAttributes (1.36 and later)"
    if name in _LISTS and not dialect.knows(34):
        return "new selectors may use it from 1.35 on"
    if name in ("attributes", "capacity", "driver"):
        return f"write device.{name}"
    if name in ("math", "base64", "authorizer", "now", "object", "self"):
        return f"device selectors have no {name}"
    return None
