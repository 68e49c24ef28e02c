"""The table of overloads, with every function that a selector can call.

A row reads `id name(types) result` for a function and `id (type).name(types) result` for a method.
Single capital letters are type parameters. A library sets the first version, the last version, and
the feature gate for its rows.

Sources: google/cel-go:common/stdlib/standard.go, cel/library.go,
ext/{strings,lists,sets,comprehensions}.go @v0.26.0 and v0.29.2;
kubernetes/apiserver:pkg/cel/environment/base.go, pkg/cel/library/*.go @v0.34.9 to v0.37.2.
"""

from __future__ import annotations

from functools import cache
from typing import Final, Literal

from msgspec import Struct

from dra_planner.cel import types
from dra_planner.cel.checking.overload_rows import (
    AUTHORIZER,
    CIDRS,
    COMPREHENSIONS,
    FORMATS,
    INCLUDES,
    INCLUDES_36,
    INT_DURATIONS,
    IPS,
    LISTS,
    LISTS_EXTENSION,
    OPTIONALS,
    QUANTITIES,
    REGEX,
    SEMVERS,
    SETS,
    STANDARD,
    STRINGS,
    URLS,
)
from dra_planner.cel.dialect import LISTS_EXTENSION_SINCE, Dialect
from dra_planner.cel.types import CelType


class Overload(Struct, frozen=True):
    """One overload of a function: its parameter types (for a method, starting with the target) and
    its result type.
    """

    id: str
    function: str
    is_method: bool
    parameters: tuple[CelType, ...]
    result: CelType
    generic: tuple[str, ...]


class Declarations(Struct, frozen=True):
    """Rows that are declared together."""

    rows: str
    since: int = 0
    until: int | None = None
    gate: Literal["list_attributes"] | None = None
    dropped: int | None = None  # the first minor version whose binary doesn't contain them


_LIBRARIES: Final = (
    Declarations(STANDARD),
    Declarations(INT_DURATIONS, dropped=37),
    Declarations(URLS),
    Declarations(REGEX),
    Declarations(LISTS, until=37),
    Declarations(AUTHORIZER),
    Declarations(OPTIONALS),
    Declarations(QUANTITIES),
    Declarations(STRINGS),
    Declarations(SETS),
    Declarations(IPS),
    Declarations(CIDRS),
    Declarations(FORMATS),
    Declarations(COMPREHENSIONS),
    Declarations(SEMVERS),
    Declarations(LISTS_EXTENSION, since=LISTS_EXTENSION_SINCE),
    Declarations(LISTS, since=37),
    Declarations(INCLUDES_36, since=36, gate="list_attributes", dropped=37),
    Declarations(INCLUDES, since=37, gate="list_attributes"),
)

_NAMES: Final[dict[str, CelType]] = {
    "bool": types.BOOL,
    "bytes": types.BYTES,
    "double": types.DOUBLE,
    "int": types.INT,
    "string": types.STRING,
    "uint": types.UINT,
    "dyn": types.DYN,
    "duration": types.DURATION,
    "timestamp": types.TIMESTAMP,
    "quantity": types.QUANTITY,
    "semver": types.SEMVER,
    "url": types.URL,
    "format": types.FORMAT,
    "ip": types.IP,
    "cidr": types.CIDR,
    "authorizer": CelType("object", "kubernetes.authorization.Authorizer"),
    "pathcheck": CelType("object", "kubernetes.authorization.PathCheck"),
    "groupcheck": CelType("object", "kubernetes.authorization.GroupCheck"),
    "resourcecheck": CelType("object", "kubernetes.authorization.ResourceCheck"),
    "decision": CelType("object", "kubernetes.authorization.Decision"),
}
_MAKERS: Final = {
    "list": types.list_of,
    "optional": types.optional_of,
    "type": types.type_of,
    "map": types.map_of,
}


@cache
def declared(dialect: Dialect) -> dict[str, tuple[Overload, ...]]:
    """Return the functions of the dialect by name, with their overloads in the order in which they
    are tried.
    """
    functions: dict[str, list[Overload]] = {}
    for library in _LIBRARIES:
        if not dialect.includes(library.since, library.dropped):
            continue
        gate = None if library.gate is None else bool(getattr(dialect, library.gate))
        if (library.since or library.until) and not dialect.knows(
            library.since, library.until, gate
        ):
            continue
        for overload in _overloads(library.rows):
            functions.setdefault(overload.function, []).append(overload)
    return {name: tuple(overloads) for name, overloads in functions.items()}


@cache
def _overloads(rows: str) -> tuple[Overload, ...]:
    return tuple(_overload(row) for row in rows.strip().splitlines() if row)


def _overload(row: str) -> Overload:
    identity, signature = row.split(None, 1)
    head, result = signature.rsplit(") ", 1)
    target = None
    if head.startswith("("):
        close = head.index(").")
        target, head = head[1:close], head[close + 2 :]
    name, arguments = head.split("(", 1)
    texts = ([target] if target is not None else []) + _split(arguments)
    parameters = tuple(_type(text) for text in texts)
    generic = sorted({n for p in (*parameters, _type(result)) for n in _parameters(p)})
    return Overload(identity, name, target is not None, parameters, _type(result), tuple(generic))


def _split(text: str) -> list[str]:
    parts, depth, start = [], 0, 0
    for at, char in enumerate(text + ","):
        depth += (char == "(") - (char == ")")
        if char == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    return [p for p in parts if p]


@cache
def _type(text: str) -> CelType:
    if text in _NAMES:
        return _NAMES[text]
    if len(text) == 1:
        return types.parameter(text)
    maker, inner = text[:-1].split("(", 1)
    return _MAKERS[maker](*map(_type, _split(inner)))  # type: ignore[no-any-return,operator]  # the table gives the right count


def _parameters(t: CelType) -> set[str]:
    if t.kind == "parameter":
        return {t.name}
    return {name for p in t.parameters for name in _parameters(p)}
