"""The values of expressions.

Python's bool, int, float, str, bytes, None, and list represent CEL's bool, int, double, string,
bytes, null, and list. This module contains the other types. It doesn't count cost.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from dra_planner.quantity import Quantity

INT_MAX: Final = 2**63 - 1
INT_MIN: Final = -(2**63)
UINT_MAX: Final = 2**64 - 1


class CelError(Exception):
    """A run-time error of an expression. `message` is upstream's message."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class UnknownError(Exception):
    """An expression needs a value that is known only at run time.

    `paths` names the value, and `like` is a value of the same form or type, if one is known.
    """

    def __init__(self, paths: frozenset[str], like: Any = "") -> None:
        super().__init__(", ".join(sorted(paths)))
        self.paths = paths
        self.like = like


class CostExceeded(Exception):
    """The evaluation exceeds its budget. No operator absorbs this error."""


class Panic(Exception):
    """Upstream's code panics here, which ends the evaluation with an error that no operator
    absorbs.
    """


def no_overload(*_: Any) -> CelError:
    """Return the error of a function without an overload for these values."""
    return CelError("no such overload")


class Uint(int):
    """An unsigned integer, which equals the int with the same number but has another type."""

    __slots__ = ()


class UnknownValue(Struct, frozen=True):
    """The value of an attribute that is known only at run time. Reading it raises
    `UnknownError`.
    """

    path: str
    group: str = ""
    like: Any = ""  # a text or version in the same form


class Duration(Struct, frozen=True):
    """A duration in nanoseconds."""

    nanos: int


class Timestamp(Struct, frozen=True):
    """A timestamp: nanoseconds since 1970 (UTC), and its original offset in seconds."""

    nanos: int
    offset: int = 0


class TypeValue(Struct, frozen=True):
    """The type of a value, as a value."""

    name: str


class Optional(Struct, frozen=True):
    """A value that can be absent."""

    present: bool
    value: Any = None


NONE: Final = Optional(False)


class QuantityValue:
    """A quantity in an expression. As in upstream, comparing it can change its format.

    `derived` marks the result of an addition, which upstream stores differently and which doesn't
    equal any value.
    """

    __slots__ = ("_cell", "derived")

    def __init__(self, quantity: Quantity, derived: bool = False) -> None:
        self._cell = [quantity]
        self.derived = derived

    @property
    def quantity(self) -> Quantity:
        """The current quantity."""
        return self._cell[0]

    @quantity.setter
    def quantity(self, quantity: Quantity) -> None:
        self._cell[0] = quantity

    def sharing(self) -> QuantityValue:
        """Return a result that shares its state with this value, so that later changes
        affect both.
        """
        shared = QuantityValue(self.quantity, derived=True)
        shared._cell = self._cell
        return shared


class SemverValue(Struct, frozen=True):
    """A version: numbers, pre-release identifiers (int or str), build metadata, and the original
    text.
    """

    major: int
    minor: int
    patch: int
    prerelease: tuple[int | str, ...] = ()
    text: str = ""


class AddressValue(Struct, frozen=True):
    """An IP address: its number, and 4 or 6."""

    number: int
    family: int


class NetworkValue(Struct, frozen=True):
    """An IP address with a prefix length."""

    address: AddressValue
    bits: int


class UrlValue(Struct, frozen=True):
    """A URL in parts, and as text."""

    text: str
    scheme: str
    host: str
    path: str
    raw_path: str
    query: str


class FormatValue(Struct, frozen=True):
    """A named format of Kubernetes, such as dns1123Label."""

    name: str
    key: str


class _BoolKey:
    """A bool as a key.

    It has its own class because Python treats True and 1 as the same key, but CEL doesn't.
    """

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
    """Raise `Panic` for a value that upstream can't use as a key."""
    if value.__class__ in _UNHASHABLE:
        raise Panic(f"hash of unhashable type {type_name(value)}")


def _key_of_its_own(value: Any) -> Any:
    """Return the Python key for a CEL key. A key that doesn't equal any other gets a new one."""
    hashed = _key(value)
    return object() if hashed is None and value is not None else hashed


class MapValue:
    """A map. Keys of different number types with the same number refer to the same entry.

    `default` is the result for a missing key, if there is one (as in the maps of domains).
    `of_texts` is True if all keys are texts, so that other keys are never found.
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
        """Return the map with these text keys."""
        return MapValue({k: (k, v) for k, v in values.items()}, default, of_texts=True)

    @staticmethod
    def of_pairs(pairs: list[tuple[Any, Any]]) -> MapValue:
        """Return the map of these pairs. Later pairs replace earlier ones."""
        entries: dict[Any, tuple[Any, Any]] = {}
        for key, value in pairs:
            entries[_key_of_its_own(key)] = (key, value)
        return MapValue(entries)

    def find(self, key: Any) -> tuple[Any, Any] | None:
        """Return key and value of the entry, or None."""
        if not self.entries or (self.of_texts and key.__class__ is not str):
            return None
        hashed = _key(key)
        return None if hashed is None and key is not None else self.entries.get(hashed)

    def insert(self, key: Any, value: Any) -> None:
        """Add an entry in place. Raises `CelError` if the key exists."""
        hashed = _key_of_its_own(key)
        if hashed in self.entries:
            raise CelError(f"insert failed: key {show(key)} already exists")
        self.entries[hashed] = (key, value)

    def keys(self) -> Iterator[Any]:
        """Return the keys in insertion order."""
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
    """Return the name of the value's run-time type."""
    return _TYPE_NAMES[value.__class__]


def show(value: Any) -> str:
    """Return the value as in messages."""
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
