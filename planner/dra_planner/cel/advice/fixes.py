"""Fixes for rejected selectors.

Each rule looks at the rejected node, not only at the error message, and its advice contains a
complete replacement expression. If no better expression is known, there is no advice.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

from dra_planner.cel import types
from dra_planner.cel.checking.overloads import declared
from dra_planner.cel.dialect import Dialect
from dra_planner.cel.libraries.semvers import SemverError, parse_semver
from dra_planner.cel.syntax.printer import spell
from dra_planner.cel.tree import Call, Constant, Ident, ListNode, Select, SyntaxNode, walk
from dra_planner.cel.types import CelType
from dra_planner.drivers import nvidia
from dra_planner.quantity import Quantity, QuantityError

DOMAIN: Final = nvidia.GPU_DRIVER  # driver name of the devices in examples
_ORDERINGS: Final = {"_<_": "<", "_<=_": "<=", "_>_": ">", "_>=_": ">="}
_EQUALITIES: Final = {"_==_": "==", "_!=_": "!="}
_METHODS: Final = frozenset({"isGreaterThan", "isLessThan", "compareTo", "add", "sub"})
_LISTS: Final = frozenset(
    {"sort", "sortBy", "distinct", "flatten", "slice", "reverse", "range", "lists"}
)
_FIELDS: Final = ("driver", "attributes", "capacity", "allowMultipleAllocations")
_LEVELS: Final = (
    "use both levels of attributes and capacity, domain and name: "
    f'device.attributes["{DOMAIN}"].productName, device.capacity["{DOMAIN}"].memory'
)
_VERSIONS: Final = frozenset({"version", "Version", "ver", "parseVersion", "toVersion"})
_CLOSE: Final = 0.7


def for_node(node: SyntaxNode, message: str, dialect: Dialect) -> str | None:
    """Return the advice for a node that doesn't type-check. `message` is the checker's error."""
    if isinstance(node, Call):
        return _for_call(node, message, dialect)
    if isinstance(node, Select):
        return _for_field(node, message, dialect)
    if isinstance(node, Ident) and "undeclared" in message:
        return _for_name(node.name, dialect)
    return None


def for_result(root: SyntaxNode) -> str:
    """Return the advice for a selector whose result isn't a boolean."""
    result, text = root.type, spell(root)
    if result == types.QUANTITY and text is not None:
        return f'compare the quantity: {text}.compareTo(quantity("40Gi")) >= 0'
    if result == types.SEMVER and text is not None:
        return f'compare the version: {text}.compareTo(semver("1.2.3")) >= 0'
    if result.kind == "map":
        return _LEVELS
    if types.unwrap_optional(result)[1]:
        return "add a default for devices that don't publish this value: " + (
            f"{text}.orValue(false)" if text else ".orValue(false)"
        )
    if result.kind == "dyn":
        return "compare the expression with a value, or remove dyn()"
    return "compare the expression with a value, because a selector must be true or false"


def for_cost(root: SyntaxNode) -> str:
    """Return the advice for a selector whose estimated cost is above the limit."""
    for node in walk(root):
        if isinstance(node, Call) and node.function == "_!=_" and _is_opaque(node.args[0].type):
            left, right = spell(node.args[0]), spell(node.args[1])
            if left is not None and right is not None:
                return f"use !({left} == {right}), because only == has a known cost for such values"
            return (
                "use !(a == b) instead of a != b, because only == has a known cost for such values"
            )
    return (
        "read the attributes by name instead of looping over all attributes, and loop only over "
        "short lists"
    )


def _is_opaque(t: CelType) -> bool:
    return t.kind in ("object", "opaque")


# -- comparisons


def _for_call(node: Call, message: str, dialect: Dialect) -> str | None:
    if "undeclared" in message:
        return _for_function(node, dialect)
    given = [child.type for child in node.children()]
    if node.function in _ORDERINGS or node.function in _EQUALITIES:
        return _for_comparison(node, given)
    if node.target is not None and given[0].kind == "map" and node.function in _METHODS:
        return _with_levels(node)
    if node.function in _METHODS and node.target is not None and len(given) == 2:
        return _for_method(node, node.target, given)
    if node.function == "sign" and node.target is not None:
        return f"call sign as a function: sign({spell(node.target) or 'quantity'}) == 1"
    if node.function == "@in" and given[0] == types.QUANTITY and isinstance(node.args[1], ListNode):
        quantities = [_wrapped(element, "quantity") for element in node.args[1].elements]
        if not all(quantities):
            return "compare with each quantity separately, because the list contains strings"
        read = spell(node.args[0])
        return "compare with quantities, not strings: " + " || ".join(
            f"{read} == {quantity}" for quantity in quantities
        )
    if node.function == "@in" and len(given) == 2 and given[1].kind == "string":
        part, whole = spell(node.args[0]), spell(node.args[1])
        return (
            f"use {whole or 'string'}.contains({part or 'part'}), because `in` searches only lists "
            "and maps"
        )
    if node.function == "matches" and types.STRING not in given[:1]:
        return "use matches only on strings"
    return _LEVELS if any(t.kind == "map" for t in given) else None


def _for_comparison(node: Call, given: list[CelType]) -> str | None:
    if types.QUANTITY in given:
        return _compared(node, "quantity")
    if types.SEMVER in given:
        return _compared(node, "semver")
    if any(t.kind == "map" for t in given):
        return _with_levels(node)
    if node.function in _ORDERINGS:
        if types.STRING in given and types.INT in given:
            return "compare two numbers, because a string and a number don't have an order"
        return None
    if {t.kind for t in given} <= {"int", "uint", "double"}:
        return "use numbers of the same type (1 or 1.0), because == doesn't compare different types"
    return None


_PLURALS: Final = {"quantity": "quantities", "semver": "versions"}


def _compared(node: Call, kind: str) -> str | None:
    """Return the comparison with methods of quantities or versions. Strings and numbers are
    converted.
    """
    operator = _ORDERINGS.get(node.function) or _EQUALITIES[node.function]
    left, right = [_wrapped(argument, kind) for argument in node.args]
    if left is None or right is None:
        return f"use a.compareTo(b) {operator} 0, because {_PLURALS[kind]} don't support {operator}"
    reason = (
        f"{_PLURALS[kind]} don't support {operator}"
        if node.function in _ORDERINGS
        else f"a string isn't a {kind}"
    )
    if kind == "quantity" and any(map(_is_attribute, node.args)):
        reason = "only capacities are quantities"
    if node.function == "_==_":
        return f"use {left} == {right}, because {reason}"
    if node.function == "_!=_":
        return f"use !({left} == {right}), because {reason}"
    return f"use {left}.compareTo({right}) {operator} 0, because {reason}"


def _for_method(node: Call, target: SyntaxNode, given: list[CelType]) -> str | None:
    """Return the advice for a method of quantities or versions whose target or argument is a string
    or number.
    """
    kind = (
        "semver"
        if types.SEMVER in given
        else "quantity"
        if types.QUANTITY in given
        else _kind_of(node.args[0])
    )
    if (
        kind == "quantity"
        and types.QUANTITY not in given
        and _is_attribute(target)
        and _is_short_version(node.args[0])
    ):
        kind = "semver"
    left, right = _wrapped(target, kind), _wrapped(node.args[0], kind)
    if left is None or right is None:
        return f"convert the string: {node.function}({kind}(...))"
    whole = f"{left}.{node.function}({right})"
    if node.function in ("isGreaterThan", "isLessThan"):
        return f"convert the string to a {kind}: {whole}"
    return (
        f"convert the string to a {kind}: {whole}{' >= 0' if node.function == 'compareTo' else ''}"
    )


def _kind_of(node: SyntaxNode) -> str:
    """Return the kind that a string represents: a version if it is one, otherwise a quantity."""
    if isinstance(node, Constant) and isinstance(node.value, str):
        try:
            parse_semver(node.value)
        except SemverError:
            return "quantity"
        return "semver"
    return "quantity"


def _is_short_version(node: SyntaxNode) -> bool:
    return isinstance(node, Constant) and set(str(node.value)) <= set("0123456789.")


def _wrapped(node: SyntaxNode, kind: str) -> str | None:
    """Return the operand as an expression, with a literal converted to a quantity or version, and
    an attribute to a capacity if necessary.
    """
    if isinstance(node, Constant):
        text = str(node.value)
        if kind == "semver" and text.count(".") < 2:
            return f'semver("{text}", true)'
        if kind == "quantity" and not _is_quantity(text):
            return None
        return f'{kind}("{text}")'
    spelt = spell(node)
    if spelt is not None and kind == "quantity" and _is_attribute(node):
        return spelt.replace("device.attributes", "device.capacity", 1)
    return spelt


def _is_quantity(text: str) -> bool:
    try:
        Quantity.parse(text)
    except QuantityError:
        return False
    return True


def _is_attribute(node: SyntaxNode) -> bool:
    text = spell(node)
    return text is not None and text.startswith("device.attributes[") and node.type.kind != "map"


# -- names


def _with_levels(node: Call) -> str:
    """Return the advice for a name in the place of the domain."""
    for argument in node.children():
        base, name = _read(argument)
        if base not in ("device.attributes", "device.capacity") or name is None:
            continue
        domain, _, identifier = name.rpartition("/")
        read = f'{base}["{domain or DOMAIN}"].{identifier}'
        others = [a for a in node.children() if a is not argument]
        return f"add the domain: {_rewritten(node, read, others, base == 'device.capacity')}"
    return _LEVELS


def _rewritten(node: Call, read: str, others: list[SyntaxNode], is_capacity: bool) -> str:
    """Return the comparison or call with another left side."""
    other = next((_wrapped(a, "quantity") if is_capacity else spell(a) for a in others), None)
    if other is None:
        return read
    operator = _ORDERINGS.get(node.function) or _EQUALITIES.get(node.function)
    if operator is None:
        return f"{read}.{node.function}({other})" + (
            " >= 0" if node.function == "compareTo" else ""
        )
    if is_capacity and node.function in _ORDERINGS:
        return f"{read}.compareTo({other}) {operator} 0"
    return f"{read} {operator} {other}"


def _read(node: SyntaxNode) -> tuple[str | None, str | None]:
    """Return the expression that reads a value of the device, and the value's name."""
    if isinstance(node, Select):
        return spell(node.operand), node.field
    if isinstance(node, Call) and node.function == "_[_]" and isinstance(node.args[1], Constant):
        return spell(node.args[0]), str(node.args[1].value)
    return None, None


def _for_field(node: Select, message: str, dialect: Dialect) -> str | None:
    if "undefined field" not in message:
        return _LEVELS if node.operand.type == types.STRING else None
    if node.field == "allowMultipleAllocations":
        return (
            "enable the feature gate DRAConsumableCapacity, which this field needs and which is "
            f"off in Kubernetes 1.{dialect.minor} here"
        )
    close = _near(node.field, _FIELDS)
    if close:
        return f"did you mean device.{close[0]}?"
    if node.field in ("memory", "cores", "multiprocessors"):
        return (
            f'use device.capacity["{DOMAIN}"].{node.field}, because device has only driver, '
            "attributes, and capacity"
        )
    return (
        f'use device.attributes["{DOMAIN}"].{node.field}, because device has only driver, '
        "attributes, and capacity"
    )


def _for_function(node: Call, dialect: Dialect) -> str | None:
    known = _for_name(node.function, dialect)
    if known is not None:
        return known
    if node.function in _VERSIONS and len(node.args) == 1:
        return (
            "compare versions as semver: "
            f"{spell(Call(node.position, 'semver', node.args)) or 'semver(…)'}"
        )
    if node.function in ("not", "NOT") and len(node.args) == 1:
        return f"use !({spell(node.args[0]) or 'condition'}), because the operator is !"
    names = [name for name in declared(dialect) if name[0].isalpha()]
    macros = (
        ("has", "all", "exists", "exists_one", "map", "filter")
        if node.target is not None
        else ("has",)
    )
    close = _near(node.function, [*names, *macros])
    if not close:
        return None
    corrected = spell(Call(node.position, close[0], node.args, node.target))
    return f"did you mean {close[0]}?" if corrected is None else f"use {corrected}"


def _for_name(name: str, dialect: Dialect) -> str | None:
    if name == "includes":
        return (
            "enable the feature gate DRAListTypeAttributes (1.36 and later), which this function "
            "needs"
        )
    if name in _LISTS and not dialect.has_lists_extension:
        return "use this function only in 1.35 and later"
    if name in ("attributes", "capacity", "driver"):
        return f"use device.{name}"
    if name in ("math", "base64", "authorizer", "now", "object", "self"):
        return f"remove {name}, which device selectors don't support"
    if name in ("True", "False", "TRUE", "FALSE"):
        return f"use {name.lower()}"
    if name in ("None", "nil", "NULL"):
        return "use null"
    close = _near(name, ("device",))
    return "did you mean device?" if close else None


def _near(word: str, known: Iterable[str]) -> list[str]:
    return get_close_matches(word, list(known), n=1, cutoff=_CLOSE)
