"""The values that expressions compute with.

Where Python has the value, it is the value: bool, int, float, str, bytes, None and list stand for
CEL's bool, int, double, string, bytes, null and list. The others are here. Nothing in this module
counts cost.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from dra_planner.quantity import Quantity

INT_MAX: Final = 2**63 - 1
INT_MIN: Final = -(2**63)
UINT_MAX: Final = 2**64 - 1


class CelError(Exception):
    """A run-time error of an expression. `message` is upstream's."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class UnknownError(Exception):
    """An expression needs a value that is known at run time only.

    `paths` names what is needed, `like` is a text of the same form, if that is known of it.
    """

    def __init__(self, paths: frozenset[str], like: str = "") -> None:
        super().__init__(", ".join(sorted(paths)))
        self.paths = paths
        self.like = like


class CostExceeded(Exception):
    """The budget is spent; nothing absorbs this."""


class Panic(Exception):
    """Upstream's code panics here, which ends the evaluation with an error that nothing absorbs."""


def no_overload(*_: Any) -> CelError:
    """The error of a function that has no form for the values at hand."""
    return CelError("no such overload")


class Uint(int):
    """An unsigned integer: equal to the int of the same number, of another type."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class UnknownValue:
    """The value of an attribute that is known at run time only; reading it raises
    `UnknownError`.
    """

    path: str
    group: str = ""
    like: str = ""


@dataclass(frozen=True, slots=True)
class Duration:
    """A span of time in nanoseconds."""

    nanos: int


@dataclass(frozen=True, slots=True)
class Timestamp:
    """A point in time: nanoseconds since 1970 (UTC), and the offset it was written with, in
    seconds.
    """

    nanos: int
    offset: int = 0


@dataclass(frozen=True, slots=True)
class TypeValue:
    """The type of a value, as a value."""

    name: str


@dataclass(frozen=True, slots=True)
class Optional:
    """A value that may be absent."""

    present: bool
    value: Any = None


NONE: Final = Optional(False)


class QuantityValue:
    """A quantity in an expression: comparing it may change its form, as it does upstream.

    `derived` marks the result of an addition, which upstream holds differently and to which nothing
    is equal.
    """

    __slots__ = ("_cell", "derived")

    def __init__(self, quantity: Quantity, derived: bool = False) -> None:
        self._cell = [quantity]
        self.derived = derived

    @property
    def quantity(self) -> Quantity:
        """The quantity as it is now."""
        return self._cell[0]

    @quantity.setter
    def quantity(self, quantity: Quantity) -> None:
        self._cell[0] = quantity

    def sharing(self) -> QuantityValue:
        """A result that is one with this value: what changes one later changes the other."""
        shared = QuantityValue(self.quantity, derived=True)
        shared._cell = self._cell
        return shared


@dataclass(frozen=True, slots=True)
class SemverValue:
    """A version: numbers, pre-release identifiers (int or str), build metadata, and the string it
    came from.
    """

    major: int
    minor: int
    patch: int
    prerelease: tuple[int | str, ...] = ()
    text: str = ""


@dataclass(frozen=True, slots=True)
class AddressValue:
    """An IP address: its number, and 4 or 6."""

    number: int
    family: int


@dataclass(frozen=True, slots=True)
class NetworkValue:
    """An IP address with the length of its network prefix."""

    address: AddressValue
    bits: int


@dataclass(frozen=True, slots=True)
class UrlValue:
    """A URL in its parts, and as a string."""

    text: str
    scheme: str
    host: str
    path: str
    raw_path: str
    query: str


@dataclass(frozen=True, slots=True)
class FormatValue:
    """A named format of Kubernetes, such as dns1123Label."""

    name: str
    key: str


class _BoolKey:
    """A bool as a key: Python takes True and 1 for the same key, CEL does not."""

    __slots__ = ("value",)

    def __init__(self, value: bool) -> None:
        self.value = value


_TRUE_KEY: Final = _BoolKey(True)
_FALSE_KEY: Final = _BoolKey(False)


def _key(value: Any) -> Any:
    kind = value.__class__
    if kind is str:
        return value
    if kind is bool:
        return _TRUE_KEY if value else _FALSE_KEY
    if kind in _HASHED or value is None:
        return value
    check_key(value)
    return None


_HASHED: Final = frozenset({int, float, Uint, Duration, Timestamp, TypeValue})
_UNHASHABLE: Final = frozenset({bytes, SemverValue, FormatValue})


def check_key(value: Any) -> None:
    """Raises `Panic` for a key by which upstream cannot file."""
    if value.__class__ in _UNHASHABLE:
        raise Panic(f"hash of unhashable type {type_name(value)}")


def _key_of_its_own(value: Any) -> Any:
    """What the key is filed under; keys that equal no other are filed under something new."""
    hashed = _key(value)
    return object() if hashed is None and value is not None else hashed


class MapValue:
    """A map. Keys of different number types that are the same number find the same entry.

    `default` is what looking up a missing key gives, where there is such a thing (the maps of
    domains have one). `of_texts` says that no key is anything but a text, so that looking up other
    things finds nothing.
    """

    __slots__ = ("default", "entries", "of_texts")

    def __init__(
        self, entries: dict[Any, tuple[Any, Any]], default: Any = None, of_texts: bool = False
    ) -> None:
        self.entries = entries
        self.default = default
        self.of_texts = of_texts

    @staticmethod
    def of_strings(values: Mapping[str, Any], default: Any = None) -> MapValue:
        """The map with these string keys."""
        return MapValue({k: (k, v) for k, v in values.items()}, default, of_texts=True)

    @staticmethod
    def of_pairs(pairs: list[tuple[Any, Any]]) -> MapValue:
        """The map of those pairs, later ones replacing earlier ones."""
        entries: dict[Any, tuple[Any, Any]] = {}
        for key, value in pairs:
            entries[_key_of_its_own(key)] = (key, value)
        return MapValue(entries)

    def find(self, key: Any) -> tuple[Any, Any] | None:
        """Key and value of the entry, or None."""
        if not self.entries or (self.of_texts and key.__class__ is not str):
            return None
        hashed = _key(key)
        return None if hashed is None and key is not None else self.entries.get(hashed)

    def insert(self, key: Any, value: Any) -> None:
        """Adds an entry in place. Raises `CelError` if there is one with that key."""
        hashed = _key_of_its_own(key)
        if hashed in self.entries:
            raise CelError(f"insert failed: key {show(key)} already exists")
        self.entries[hashed] = (key, value)

    def keys(self) -> Iterator[Any]:
        """The keys, in the order in which they were put in."""
        return (key for key, _ in self.entries.values())

    def __len__(self) -> int:
        return len(self.entries)


_TYPE_NAMES: Final[dict[type, str]] = {
    bool: "bool",
    int: "int",
    Uint: "uint",
    float: "double",
    str: "string",
    bytes: "bytes",
    list: "list",
    MapValue: "map",
    type(None): "null_type",
    Duration: "google.protobuf.Duration",
    Timestamp: "google.protobuf.Timestamp",
    TypeValue: "type",
    Optional: "optional_type",
    QuantityValue: "kubernetes.Quantity",
    SemverValue: "kubernetes.Semver",
    AddressValue: "net.IP",
    NetworkValue: "net.CIDR",
    UrlValue: "kubernetes.URL",
    FormatValue: "kubernetes.NamedFormat",
}


def type_name(value: Any) -> str:
    """The name of the value's type at run time."""
    return _TYPE_NAMES[value.__class__]


def show(value: Any) -> str:
    """The value as messages show it."""
    kind = value.__class__
    if kind is bool:
        return "true" if value else "false"
    if kind is TypeValue:
        return str(value.name)
    if kind is bytes:
        return str(value.decode("utf-8", "replace"))
    if value is None:
        return "null"
    return type_name(value) if kind is list or kind is MapValue else str(value)
