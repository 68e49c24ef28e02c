"""`dataclass` as the standard library has it, at a tenth of what it costs at import.

The standard decorator writes and compiles six methods for each class, half a millisecond at each start of the command,
and a run loads some 300 classes and fills two thirds of them. Here `__init__` is made when a class is first filled,
from code that all classes with such fields share, and the other methods are functions over its fields. Types, `field`,
`fields`, `replace` and `asdict` are the standard ones.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from functools import cache
from itertools import dropwhile
from operator import attrgetter, ge, gt, le, lt
from reprlib import recursive_repr
from types import CodeType, FunctionType, MemberDescriptorType
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
    fields = _declare(cls, kw_only=kw_only)
    methods: dict[str, Any] = {"__repr__": _repr}
    if eq:
        compared = _values(each.name for each in fields if each.compare)
        methods["__eq__"] = _equality(compared)
        methods |= _order(compared) if order else {}
        hashed = (each.name for each in fields if (each.compare if each.hash is None else each.hash))
        methods["__hash__"] = _hash(_values(hashed)) if frozen else None
    if frozen:
        methods |= {"__setattr__": _refuse_set, "__delattr__": _refuse_delete}
        methods |= {"__getstate__": _values(each.name for each in fields), "__setstate__": _set_state}
    for name in own.keys() & methods.keys():
        inferred = name == "__hash__" and "__eq__" in own and own[name] is None  # Python's, beside an own __eq__
        if not inferred:
            del methods[name]
    made: Any = _with_slots(cls, fields, methods) if slots else _with_methods(cls, methods)
    if "__init__" not in own:
        made.__init__ = _written_later(made, frozen=frozen)
    decorated: type = made
    return decorated


def _declare(cls: type, *, kw_only: bool) -> tuple[Field, ...]:
    """Give the class its fields, and return them.

    Types are put aside meanwhile: the standard decorator looks through the text of each for `ClassVar` and its kind.
    It would also write the signature of a class without a docstring into one, which takes long.
    """
    cls.__doc__ = cls.__doc__ or cls.__name__
    types = vars(cls).get("__annotations__", {})
    if types:
        cls.__annotations__ = {name: each if _is_no_field(each) else Any for name, each in types.items()}
    dataclasses.dataclass(init=False, repr=False, eq=False, kw_only=kw_only)(cls)
    if types:
        cls.__annotations__ = types
    fields = dataclasses.fields(cls)
    for each in fields:
        each.type = types.get(each.name, each.type)  # those of a base have theirs
    return fields


def _with_methods(cls: Any, methods: dict[str, Any]) -> Any:
    for name, method in methods.items():
        setattr(cls, name, method)
    return cls


def _with_slots(cls: type, fields: tuple[Field, ...], methods: dict[str, Any]) -> Any:
    """Return the class made again with slots and these methods, which costs less than to set them one by one."""
    body = {**vars(cls), **methods}
    inherited = {name for base in cls.__mro__[1:-1] for name in vars(base).get("__slots__", ())}
    for each in fields:
        body.pop(each.name, None)  # the default, which a slot must not meet
    for name in ("__dict__", "__weakref__"):
        body.pop(name, None)
    body["__slots__"] = tuple(each.name for each in fields if each.name not in inherited)
    made = type(cls)(cls.__name__, cls.__bases__, body)
    made.__qualname__ = cls.__qualname__
    return made


def _is_no_field(declared: object) -> bool:
    """Return whether what stands for a type may say that there is no field."""
    return not isinstance(declared, str) or "ClassVar" in declared or "InitVar" in declared or "KW_ONLY" in declared


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
    fields = [each for each in dataclasses.fields(made) if each.init or _has_default(each)]
    sorts = tuple((each.init, _is_made(each), bool(each.kw_only)) for each in fields)
    code = _compiled(sorts, frozen=frozen, calls_post_init=hasattr(made, "__post_init__"))
    names = {f"f{number}": each.name for number, each in enumerate(fields)}
    code = code.replace(
        co_varnames=tuple(names.get(each, each) for each in code.co_varnames),
        co_names=tuple(names.get(each, each) for each in code.co_names),
    )
    known: dict[str, Any] = {"MISSING": dataclasses.MISSING}
    known |= {f"set{number}": _setter(made, each.name) for number, each in enumerate(fields)} if frozen else {}
    known |= {f"make{number}": each.default_factory for number, each in enumerate(fields)}
    known |= {f"default{number}": each.default for number, each in enumerate(fields)}
    written = FunctionType(code, known, "__init__")
    positional = [each for each in fields if each.init and not each.kw_only]
    required = list(dropwhile(_has_default, reversed(positional)))
    if wrong := next((each for each in reversed(required) if _has_default(each)), None):
        raise TypeError(f"a field of {made.__qualname__} without a default follows {wrong.name!r}, which has one")
    written.__defaults__ = tuple(each.default for each in positional[len(required) :])
    written.__kwdefaults__ = {each.name: each.default for each in fields if each.kw_only and _has_default(each)}
    written.__qualname__ = f"{made.__qualname__}.__init__"
    return written


def _setter(made: Any, name: str) -> Callable[[Any, Any], None]:
    """Return what sets a field of a frozen record: that of its slot, which takes half as long as to look for it."""
    slot = getattr(made, name, None)
    if isinstance(slot, MemberDescriptorType):
        return slot.__set__
    return lambda record, value: object.__setattr__(record, name, value)


@cache
def _compiled(sorts: tuple[tuple[bool, bool, bool], ...], *, frozen: bool, calls_post_init: bool) -> CodeType:
    """Return the code of an `__init__` for fields of these sorts: is it taken, is its default made, has it a name.

    The fields are called f0, f1 and so on: what classes take is alike, so that fewer texts are compiled than classes
    are filled. Those with a name are taken by it alone.
    """
    names = {f"f{number}": sort for number, sort in enumerate(sorts)}
    positional = [name for name, (is_taken, _, is_named) in names.items() if is_taken and not is_named]
    named = [name for name, (is_taken, _, is_named) in names.items() if is_taken and is_named]
    head = ", ".join(("self", *positional, *(["*", *named] if named else [])))
    lines = [_assignment(name, is_taken, is_made, frozen) for name, (is_taken, is_made, _) in names.items()]
    lines += ["self.__post_init__()"] if calls_post_init else []
    body = "\n ".join(lines or ["pass"])
    namespace: dict[str, Any] = {}
    exec(f"def __init__({head}):\n {body}", namespace)
    code: CodeType = namespace["__init__"].__code__
    return code


def _has_default(field: Field) -> bool:
    return field.default is not dataclasses.MISSING or _is_made(field)


def _is_made(field: Field) -> bool:
    return field.default_factory is not dataclasses.MISSING


def _assignment(name: str, is_taken: bool, is_made: bool, frozen: bool) -> str:
    value, number = name, name[1:]
    if is_made:
        value = f"make{number}() if {name} is MISSING else {name}" if is_taken else f"make{number}()"
    elif not is_taken:
        value = f"default{number}"
    return f"set{number}(self, {value})" if frozen else f"self.{name} = {value}"
