"""The types of the checker, and the rules for assigning one type to another.

Source of the behavior: google/cel-go:common/types/types.go, checker/types.go, checker/mapping.go
@v0.26.0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

MAX_DEPTH: Final = 300
"""Maximum depth of a type. No literal is as deep, but nested bindings could be deeper."""
MAX_STEPS: Final = 100_000
"""Maximum number of type comparisons, far more than an ordinary selector needs."""


class TypesTooLarge(Exception):
    """The types of an expression are too deep, or comparing them needs too many steps."""


class CelType:
    """An immutable type: its kind, its name in messages, and its parameters.

    `generic` is True if it contains an unresolved type, and `depth` is its number of levels. Raises
    `TypesTooLarge` beyond `MAX_DEPTH` levels.
    """

    __slots__ = ("_hash", "depth", "generic", "kind", "name", "parameters")

    def __init__(self, kind: str, name: str, parameters: tuple[CelType, ...] = ()) -> None:
        self.kind, self.name, self.parameters = kind, name, parameters
        self.generic = kind == "parameter"
        self.depth = 1
        for inner in parameters:
            self.generic = self.generic or inner.generic
            self.depth = max(self.depth, inner.depth + 1)
        if self.depth > MAX_DEPTH:
            raise TypesTooLarge
        self._hash: int = hash((kind, name, *[inner._hash for inner in parameters]))

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, CelType) and self._hash == other._hash and _is_same(self, other)

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"CelType({self.kind!r}, {str(self)!r})"

    def __str__(self) -> str:
        return _spelt(self, lambda t: f"<{t.name}>" if t.kind == "parameter" else t.name)


def _is_same(a: CelType, b: CelType) -> bool:
    """Return True if two types are equal. Compares each pair of parts once, without recursion."""
    pending, seen = [(a, b)], set()
    while pending:
        a, b = pending.pop()
        if a is b:
            continue
        if (
            a._hash != b._hash
            or a.kind != b.kind
            or a.name != b.name
            or len(a.parameters) != len(b.parameters)
        ):
            return False
        if a.parameters and (id(a), id(b)) not in seen:
            seen.add((id(a), id(b)))
            pending.extend(zip(a.parameters, b.parameters, strict=True))
    return True


BOOL: Final = CelType("bool", "bool")
BYTES: Final = CelType("bytes", "bytes")
DOUBLE: Final = CelType("double", "double")
INT: Final = CelType("int", "int")
NULL: Final = CelType("null", "null_type")
STRING: Final = CelType("string", "string")
UINT: Final = CelType("uint", "uint")
DYN: Final = CelType("dyn", "dyn")
ANY: Final = CelType("any", "any")
ERROR: Final = CelType("error", "!error!")
DURATION: Final = CelType("duration", "google.protobuf.Duration")
TIMESTAMP: Final = CelType("timestamp", "google.protobuf.Timestamp")
QUANTITY: Final = CelType("object", "kubernetes.Quantity")
SEMVER: Final = CelType("object", "kubernetes.Semver")
URL: Final = CelType("object", "kubernetes.URL")
FORMAT: Final = CelType("object", "kubernetes.NamedFormat")
DEVICE: Final = CelType("object", "kubernetes.DRADevice")
IP: Final = CelType("opaque", "net.IP")
CIDR: Final = CelType("opaque", "net.CIDR")

_SCALARS: Final = frozenset({"bool", "double", "duration", "int", "timestamp", "uint"})
_EXACT: Final = frozenset(
    {"bool", "bytes", "double", "int", "string", "uint", "any", "duration", "timestamp", "object"}
)
_NULLABLE: Final = frozenset({"opaque", "object", "any", "duration", "timestamp"})


def list_of(element: CelType) -> CelType:
    """Return the type of lists with this element type."""
    return CelType("list", "list", (element,))


def map_of(key: CelType, value: CelType) -> CelType:
    """Return the type of maps with this key and value type."""
    return CelType("map", "map", (key, value))


def optional_of(value: CelType) -> CelType:
    """Return the type of a value that can be absent."""
    return CelType("opaque", "optional_type", (value,))


def type_of(value: CelType) -> CelType:
    """Return the type of a type."""
    return CelType("type", "type", (value,))


def parameter(name: str) -> CelType:
    """Return a type parameter."""
    return CelType("parameter", name)


def is_dynamic(t: CelType) -> bool:
    """Return True if the type accepts any value (dyn or any)."""
    return t.kind == "dyn" or t.kind == "any"


def unwrap_optional(t: CelType) -> tuple[CelType, bool]:
    """Return the type inside an optional type, and whether it was optional."""
    if t.kind == "opaque" and t.name == "optional_type":
        return t.parameters[0], True
    return t, False


def is_scalar(t: CelType) -> bool:
    """Return True if a value of the type has size 1 for the estimator."""
    inner, _ = unwrap_optional(t)
    return inner.kind in _SCALARS or (inner is not t and is_scalar(inner))


class Substitution:
    """The types of the type parameters so far."""

    __slots__ = ("_replaced", "_steps", "bound")

    def __init__(self, bound: dict[str, CelType] | None = None) -> None:
        self.bound: dict[str, CelType] = {} if bound is None else bound
        # the types that were bound since the trial began, and their earlier values
        self._replaced: list[tuple[str, CelType | None]] = []
        self._steps = 0

    def _step(self) -> None:
        self._steps += 1
        if self._steps > MAX_STEPS:
            raise TypesTooLarge

    def find(self, t: CelType) -> CelType | None:
        """Return the type of the parameter, if it's known."""
        return self.bound.get(t.name) if t.kind == "parameter" else None

    def resolve(self, t: CelType) -> CelType:
        """Return the type with its parameters replaced by their types."""
        if not t.generic:
            return t
        self._step()
        if t.kind == "parameter":
            found = self.bound.get(t.name)
            return t if found is None else self.resolve(found)
        changed = False
        resolved = []
        for inner in t.parameters:
            new = self.resolve(inner)
            changed = changed or new is not inner
            resolved.append(new)
        return CelType(t.kind, t.name, tuple(resolved)) if changed else t

    def settle(
        self, t: CelType, settled: dict[int, CelType], known: dict[CelType, CelType]
    ) -> CelType:
        """Return the type without type parameters. Unresolved parameters become dyn.

        `settled` contains earlier results by identity, and `known` contains every result once, so
        that equal types are identical.
        """
        if not t.generic and not t.parameters:
            return t
        found = settled.get(id(t))
        if found is not None:
            return found
        if t.kind == "parameter":
            bound = self.bound.get(t.name)
            found = DYN if bound is None else self.settle(bound, settled, known)
        else:
            inner = [self.settle(parameter, settled, known) for parameter in t.parameters]
            found = CelType(t.kind, t.name, tuple(inner))
            found = known.setdefault(found, found)
        settled[id(t)] = found
        return found

    def assign(self, a: CelType, b: CelType) -> bool:
        """Return True if `a` can be used for `b`, and store the resulting types of parameters."""
        return self.assign_all((a,), (b,))

    def assign_all(self, given: Sequence[CelType], wanted: Sequence[CelType]) -> bool:
        """Return True if each type can be used for its counterpart.

        Types of parameters are stored only if all types can.
        """
        self._replaced.clear()
        if self._assign_all(given, wanted):
            return True
        while self._replaced:
            name, before = self._replaced.pop()
            if before is None:
                del self.bound[name]
            else:
                self.bound[name] = before
        return False

    def _assign(self, a: CelType, b: CelType) -> bool:
        if a is b:
            return True
        self._step()
        if b.kind == "parameter":
            valid, substituted = self._bind(a, b)
            if valid:
                return True
            if substituted:
                return False
        if a.kind == "parameter":
            return self._bind(b, a)[0]
        if a.kind in ("dyn", "any", "error") or b.kind in ("dyn", "any", "error"):
            return True
        if a.kind == "null":
            return b.kind in _NULLABLE or b.kind == "null"
        if b.kind == "null":
            return a.kind in _NULLABLE
        if a.kind in _EXACT:
            return a == b
        if a.kind == "type":
            return b.kind == "type"
        return (
            a.kind == b.kind and a.name == b.name and self._assign_all(a.parameters, b.parameters)
        )

    def _assign_all(self, given: Sequence[CelType], wanted: Sequence[CelType]) -> bool:
        if len(given) != len(wanted):
            return False
        for a, b in zip(given, wanted, strict=True):  # noqa: SIM110  (all() would take C stack at every level)
            if not self._assign(a, b):
                return False
        return True

    def _bind(self, t: CelType, param: CelType) -> tuple[bool, bool]:
        """Return True if the parameter can be the type, and whether it already had a type."""
        if t == param:
            return True, True
        bound = self.bound.get(param.name)
        if bound is not None:
            if t is bound:
                return True, True
            if self._assign(t, bound):
                wider = most_general(t, bound)
                if wider is not bound and self._absent(param, wider):
                    self._set(param, wider)
                return True, True
            return False, True
        if self._absent(param, t):
            self._set(param, t)
            return True, False
        return False, False

    def _set(self, param: CelType, t: CelType) -> None:
        self._replaced.append((param.name, self.bound.get(param.name)))
        self.bound[param.name] = t

    def _absent(self, param: CelType, within: CelType) -> bool:
        if not within.generic:
            return True
        self._step()
        if within.kind == "parameter":
            if within.name == param.name:
                return False
            bound = self.bound.get(within.name)
            return bound is None or self._absent(param, bound)
        for inner in within.parameters:  # noqa: SIM110  (as above)
            if not self._absent(param, inner):
                return False
        return True


def most_general(a: CelType, b: CelType) -> CelType:
    """Return the wider of two types, one of which can be used for the other."""
    return a if _no_more_specific(a, b) else b


def _no_more_specific(a: CelType, b: CelType) -> bool:
    if a is b or is_dynamic(a) or a.kind == "parameter":
        return True
    if is_dynamic(b) or b.kind == "parameter" or a.kind != b.kind:
        return False
    if a.kind in ("opaque", "list", "map"):
        if a.name != b.name or len(a.parameters) != len(b.parameters):
            return False
        for x, y in zip(a.parameters, b.parameters, strict=True):  # noqa: SIM110  (as above)
            if not _no_more_specific(x, y):
                return False
        return True
    return a.kind == "type" or a == b


_SHOWN: Final = {"duration": "duration", "timestamp": "timestamp", "null": "null"}
_MAX_SHOWN: Final = 400


def show(t: CelType) -> str:
    """Return the type as in messages."""
    return _spelt(t, lambda t: _SHOWN.get(t.kind, t.name))


def _spelt(t: CelType, name_of: Callable[[CelType], str]) -> str:
    """Return a type with its parameters. A very long one is shortened."""
    words: list[str] = []
    length = 0
    stack: list[CelType | str] = [t]
    while stack and length < _MAX_SHOWN:
        top = stack.pop()
        word = top if isinstance(top, str) else name_of(top)
        words.append(word)
        length += len(word)
        if not isinstance(top, str) and top.parameters:
            inner = [part for p in top.parameters for part in (", ", p)][1:]
            stack.extend(reversed(["(", *inner, ")"]))
    return "".join(words) + ("…" if stack else "")
