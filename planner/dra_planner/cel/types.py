"""The types of the checker and the rules by which one may stand for another.

Source of the behaviour: google/cel-go:common/types/types.go, checker/types.go, checker/mapping.go @v0.26.0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Type:
    """A type: its kind, the name that messages show, and its parameters."""

    kind: str
    name: str
    parameters: tuple[Type, ...] = ()

    def __str__(self) -> str:
        name = "wrapper" if self.kind == "nullable" else self.name
        if self.kind == "parameter":
            return f"<{name}>"
        if not self.parameters:
            return name
        return f"{name}({', '.join(map(str, self.parameters))})"


BOOL: Final = Type("bool", "bool")
BYTES: Final = Type("bytes", "bytes")
DOUBLE: Final = Type("double", "double")
INT: Final = Type("int", "int")
NULL: Final = Type("null", "null_type")
STRING: Final = Type("string", "string")
UINT: Final = Type("uint", "uint")
DYN: Final = Type("dyn", "dyn")
ANY: Final = Type("any", "any")
ERROR: Final = Type("error", "!error!")
DURATION: Final = Type("duration", "google.protobuf.Duration")
TIMESTAMP: Final = Type("timestamp", "google.protobuf.Timestamp")
QUANTITY: Final = Type("object", "kubernetes.Quantity")
SEMVER: Final = Type("object", "kubernetes.Semver")
URL: Final = Type("object", "kubernetes.URL")
FORMAT: Final = Type("object", "kubernetes.NamedFormat")
DEVICE: Final = Type("object", "kubernetes.DRADevice")
IP: Final = Type("opaque", "net.IP")
CIDR: Final = Type("opaque", "net.CIDR")

_SCALARS: Final = frozenset({"bool", "double", "duration", "int", "timestamp", "uint"})
_EXACT: Final = frozenset(
    {"bool", "bytes", "double", "int", "string", "uint", "any", "duration", "timestamp", "object"}
)
_NULLABLE: Final = frozenset({"opaque", "object", "any", "duration", "timestamp"})


def list_of(element: Type) -> Type:
    """The type of lists of that element."""
    return Type("list", "list", (element,))


def map_of(key: Type, value: Type) -> Type:
    """The type of maps from that key to that value."""
    return Type("map", "map", (key, value))


def optional_of(value: Type) -> Type:
    """The type of a value that may be absent."""
    return Type("opaque", "optional_type", (value,))


def type_of(value: Type) -> Type:
    """The type of a type."""
    return Type("type", "type", (value,))


def parameter(name: str) -> Type:
    """A type still to be found."""
    return Type("parameter", name)


def is_dynamic(t: Type) -> bool:
    """Whether anything may stand for the type (dyn, or any)."""
    return t.kind == "dyn" or t.kind == "any"


def unwrap_optional(t: Type) -> tuple[Type, bool]:
    """The type within an optional one, and whether there was one."""
    if t.kind == "opaque" and t.name == "optional_type":
        return t.parameters[0], True
    return t, False


def is_scalar(t: Type) -> bool:
    """Whether a value of the type has size 1 for the estimator."""
    inner, _ = unwrap_optional(t)
    return inner.kind in _SCALARS or (inner is not t and is_scalar(inner))


def equivalent(a: Type, b: Type) -> bool:
    """Whether two types are the same but for the names of their parameters."""
    if a.kind != b.kind or len(a.parameters) != len(b.parameters):
        return False
    if a.kind != "parameter" and a.name != b.name:
        return False
    return all(map(equivalent, a.parameters, b.parameters))


class Substitution:
    """What the type parameters met so far stand for."""

    __slots__ = ("bound",)

    def __init__(self, bound: dict[str, Type] | None = None) -> None:
        self.bound: dict[str, Type] = {} if bound is None else bound

    def copy(self) -> Substitution:
        """One to try things on."""
        return Substitution(dict(self.bound))

    def find(self, t: Type) -> Type | None:
        """What the parameter stands for, if that is known."""
        return self.bound.get(t.name) if t.kind == "parameter" else None

    def resolve(self, t: Type, unbound_to_dyn: bool = False) -> Type:
        """The type with its parameters replaced by what they stand for."""
        if t.kind == "parameter":
            found = self.bound.get(t.name)
            if found is not None:
                return self.resolve(found, unbound_to_dyn)
            return DYN if unbound_to_dyn else t
        if not t.parameters:
            return t
        resolved = tuple(self.resolve(p, unbound_to_dyn) for p in t.parameters)
        # By identity: comparing deep types at every level would cost the square of their depth.
        if all(new is old for new, old in zip(resolved, t.parameters, strict=True)):
            return t
        return Type(t.kind, t.name, resolved)

    def assign(self, a: Type, b: Type) -> bool:
        """Whether `a` may stand where `b` is asked for; what that says about parameters is kept."""
        if a == b:
            return True
        trial = self.copy()
        if trial._assign(a, b):
            self.bound = trial.bound
            return True
        return False

    def assign_all(self, given: list[Type], wanted: tuple[Type, ...]) -> bool:
        """Whether each may stand for its counterpart; nothing is kept unless all may."""
        trial = self.copy()
        if trial._assign_all(tuple(given), wanted):
            self.bound = trial.bound
            return True
        return False

    def _assign(self, a: Type, b: Type) -> bool:
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
        return a.kind == b.kind and a.name == b.name and self._assign_all(a.parameters, b.parameters)

    def _assign_all(self, given: tuple[Type, ...], wanted: tuple[Type, ...]) -> bool:
        return len(given) == len(wanted) and all(map(self._assign, given, wanted))

    def _bind(self, t: Type, param: Type) -> tuple[bool, bool]:
        """Whether the parameter may stand for the type, and whether it already stood for one."""
        if t == param:
            return True, True
        bound = self.bound.get(param.name)
        if bound is not None:
            if t == bound:
                return True, True
            if self._assign(t, bound):
                wider = most_general(t, bound)
                if self._absent(param, wider):
                    self.bound[param.name] = wider
                return True, True
            return False, True
        if self._absent(param, t):
            self.bound[param.name] = t
            return True, False
        return False, False

    def _absent(self, param: Type, within: Type) -> bool:
        if param == within:
            return False
        if within.kind == "parameter":
            bound = self.bound.get(within.name)
            return bound is None or self._absent(param, bound)
        return all(self._absent(param, p) for p in within.parameters)


def most_general(a: Type, b: Type) -> Type:
    """The wider of two types of which one may stand for the other."""
    return a if _no_more_specific(a, b) else b


def _no_more_specific(a: Type, b: Type) -> bool:
    if is_dynamic(a) or a.kind == "parameter":
        return True
    if is_dynamic(b) or b.kind == "parameter" or a.kind != b.kind:
        return False
    if a.kind in ("opaque", "list", "map"):
        return (
            a.name == b.name
            and len(a.parameters) == len(b.parameters)
            and all(map(_no_more_specific, a.parameters, b.parameters))
        )
    return a.kind == "type" or a == b


_SHOWN: Final = {"duration": "duration", "timestamp": "timestamp", "null": "null"}


def show(t: Type) -> str:
    """The type as messages show it."""
    if t.kind in _SHOWN:
        return _SHOWN[t.kind]
    if not t.parameters:
        return t.name
    return f"{t.name}({', '.join(map(show, t.parameters))})"
