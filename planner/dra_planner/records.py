"""`dataclass` as the standard library has it, at a tenth of what it costs at import.

The standard decorator writes and compiles six methods for each class, half a millisecond at each start of the command,
and a run loads some 300 classes and fills half of them. Here `__init__` is compiled when a class is first filled, and
the other methods are functions over its fields. Types, `field`, `fields`, `replace` and `asdict` are the standard ones.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from operator import attrgetter, ge, gt, le, lt
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

Field: TypeAlias = "dataclasses.Field[Any]"

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls: type | None = None, /, **options: bool) -> Any:
        """Return the class as `dataclasses.dataclass` does; `options` are frozen, slots, kw_only, order and eq."""
        return _record(cls, **options) if cls is not None else lambda each: _record(each, **options)


def _record(
    cls: type, *, frozen: bool = False, slots: bool = False, kw_only: bool = False, order: bool = False, eq: bool = True
) -> type:
    own = vars(cls)
    declare = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots, kw_only=kw_only)
    made: Any = declare(cls)
    fields = dataclasses.fields(made)
    methods: dict[str, Any] = {"__init__": _written_later(made, frozen=frozen), "__repr__": _repr}
    if eq:
        compared = _values(each.name for each in fields if each.compare)
        methods["__eq__"] = _equality(compared)
        methods |= _order(compared) if order else {}
        hashed = (each.name for each in fields if (each.compare if each.hash is None else each.hash))
        methods["__hash__"] = _hash(_values(hashed)) if frozen else None
    if frozen:
        methods |= {"__setattr__": _refuse_set, "__delattr__": _refuse_delete}
        methods |= {"__getstate__": _values(each.name for each in fields), "__setstate__": _set_state}
    for name, method in methods.items():
        inferred = name == "__hash__" and "__eq__" in own and own.get(name) is None  # Python's, beside an own __eq__
        if name not in own or inferred:
            setattr(made, name, method)
    decorated: type = made
    return decorated


def _values(names: Iterable[str]) -> Callable[[Any], tuple[Any, ...]]:
    """Return what gives an object's values of these fields as a tuple."""
    match tuple(names):
        case ():
            return lambda _: ()
        case (name,):
            get = attrgetter(name)
            return lambda record: (get(record),)
        case several:
            get = attrgetter(*several)
            return lambda record: get(record)


def _equality(values: Callable[[Any], tuple[Any, ...]]) -> Callable[[Any, Any], bool]:
    def __eq__(self: Any, other: Any) -> bool:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    return __eq__


def _order(values: Callable[[Any], tuple[Any, ...]]) -> dict[str, Callable[[Any, Any], bool]]:
    def compared_by(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
        def method(self: Any, other: Any) -> bool:
            return compare(values(self), values(other)) if other.__class__ is self.__class__ else NotImplemented

        return method

    return {f"__{each.__name__}__": compared_by(each) for each in (lt, le, gt, ge)}


def _hash(values: Callable[[Any], tuple[Any, ...]]) -> Callable[[Any], int]:
    return lambda self: hash(values(self))


def _set_state(self: Any, state: tuple[Any, ...]) -> None:
    for each, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, each.name, value)


@recursive_repr("...")
def _repr(self: Any) -> str:
    shown = (f"{each.name}={getattr(self, each.name)!r}" for each in dataclasses.fields(self) if each.repr)
    return f"{self.__class__.__qualname__}({', '.join(shown)})"


def _refuse_set(self: Any, name: str, value: Any) -> NoReturn:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_delete(self: Any, name: str) -> NoReturn:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def _written_later(made: Any, *, frozen: bool) -> Callable[..., None]:
    def __init__(self: Any, *args: Any, **named: Any) -> None:
        made.__init__ = written = _written(made, frozen=frozen)
        written(self, *args, **named)

    return __init__


def _written(made: Any, *, frozen: bool) -> Callable[..., None]:
    """Return the `__init__` that takes and sets the fields of the class, and then calls its `__post_init__`."""
    fields = dataclasses.fields(made)
    taken = [each for each in fields if each.init]
    positional = [_parameter(each) for each in taken if not each.kw_only]
    named = [_parameter(each) for each in taken if each.kw_only]
    head = ", ".join(("self", *positional, *(["*", *named] if named else [])))
    lines = [_assignment(each, frozen=frozen) for each in fields if each.init or _has_default(each)]
    if hasattr(made, "__post_init__"):
        lines.append("self.__post_init__()")
    known: dict[str, Any] = {"__set": object.__setattr__, "__missing": dataclasses.MISSING}
    known |= {f"__default_{each.name}": each.default for each in fields}
    known |= {f"__make_{each.name}": each.default_factory for each in fields}
    body = "\n  ".join(lines or ["pass"])
    namespace: dict[str, Any] = {}
    exec(f"def make({', '.join(known)}):\n def __init__({head}):\n  {body}\n return __init__", {}, namespace)
    written: Callable[..., None] = namespace["make"](**known)
    written.__qualname__ = f"{made.__qualname__}.__init__"
    return written


def _has_default(field: Field) -> bool:
    return field.default is not dataclasses.MISSING or field.default_factory is not dataclasses.MISSING


def _parameter(field: Field) -> str:
    if field.default is not dataclasses.MISSING:
        return f"{field.name}=__default_{field.name}"
    return f"{field.name}=__missing" if _has_default(field) else field.name


def _assignment(field: Field, *, frozen: bool) -> str:
    name = field.name
    value = name if field.init else f"__default_{name}"
    if field.default_factory is not dataclasses.MISSING:
        value = f"__make_{name}() if {name} is __missing else {name}" if field.init else f"__make_{name}()"
    return f"__set(self, {name!r}, {value})" if frozen else f"self.{name} = {value}"
