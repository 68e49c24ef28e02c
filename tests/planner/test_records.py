"""`dra_planner.records.dataclass` beside the standard one: the same class body through both behaves the same."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest

from dra_planner import records

CASES: dict[str, dict[str, bool]] = {
    "frozen": {"frozen": True, "slots": True},
    "frozen without slots": {"frozen": True},
    "open": {"slots": True},
    "by name": {"frozen": True, "slots": True, "kw_only": True},
    "ordered": {"frozen": True, "slots": True, "order": True},
    "by identity": {"frozen": True, "slots": True, "eq": False},
}
VALUES: tuple[dict[str, Any], ...] = (
    {"a": 1},
    {"a": 1, "b": "x"},
    {"a": 2, "hidden": 5},
    {"a": 1, "c": [1, 2]},
    {"a": 1, "hidden": 6},
)


def declared(decorate: Callable[..., Any], options: dict[str, bool]) -> Any:
    class Base:
        """A record with every sort of field that is in use."""

        a: int
        b: str = ""
        c: list[int] = dataclasses.field(default_factory=list, hash=False)
        hidden: int = dataclasses.field(default=0, compare=False, repr=False)
        made: list[int] = dataclasses.field(init=False, compare=False)
        fixed: int = dataclasses.field(init=False, default=7)

        def __post_init__(self) -> None:
            object.__setattr__(self, "made", [self.a])

    return decorate(**options)(Base)


@pytest.mark.parametrize("name", CASES)
def test_behaves_as_the_standard_one(name: str) -> None:
    options = CASES[name]
    ours, theirs = declared(records.dataclass, options), declared(dataclasses.dataclass, options)
    mine, other = [ours(**each) for each in VALUES], [theirs(**each) for each in VALUES]
    shown = [repr(each) for each in mine]
    assert shown == [repr(each) for each in other]
    assert [dataclasses.asdict(each) for each in mine] == [dataclasses.asdict(each) for each in other]
    assert [[x == y for y in mine] for x in mine] == [[x == y for y in other] for x in other]
    assert (ours.__hash__ is None) == (theirs.__hash__ is None)
    if ours.__hash__ is not None and options.get("eq", True):
        assert [hash(each) for each in mine] == [hash(each) for each in other]
    if options.get("order"):
        in_order = [[each for each in VALUES if ours(**each) < ours(a=edge)] for edge in (1, 2, 3)]
        assert in_order == [[each for each in VALUES if theirs(**each) < theirs(a=edge)] for edge in (1, 2, 3)]
    changed, expected = dataclasses.replace(mine[0], b="y"), dataclasses.replace(other[0], b="y")
    assert repr(changed) == repr(expected)
    assert ours.__match_args__ == theirs.__match_args__
    assert hasattr(mine[0], "__dict__") == hasattr(other[0], "__dict__")
    assert mine[1] != other[1]


@pytest.mark.parametrize("name", CASES)
def test_refuses_what_the_standard_one_refuses(name: str) -> None:
    for decorate in (records.dataclass, dataclasses.dataclass):
        made = declared(decorate, CASES[name])
        with pytest.raises(TypeError, match="missing 1 required"):
            made()
        with pytest.raises(TypeError, match="unexpected keyword argument 'd'"):
            made(a=1, d=2)
        record = made(a=1)
        if CASES[name].get("frozen"):
            with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'a'"):
                record.a = 2
            with pytest.raises(dataclasses.FrozenInstanceError, match="cannot delete field 'a'"):
                del record.a
        else:
            record.a = 2
            assert record.a == 2
        if CASES[name].get("kw_only"):
            with pytest.raises(TypeError, match="positional argument"):
                made(1)


def test_a_default_before_a_field_without_one_is_refused() -> None:
    made: Any = records.dataclass(type("Wrong", (), {"__annotations__": {"a": int, "b": int}, "a": 1}))
    with pytest.raises(TypeError, match="without a default follows 'a'"):
        made(b=1)


def test_types_stay_as_they_are_written() -> None:
    assert {each.name: each.type for each in dataclasses.fields(Longer)} == {
        "a": "int",
        "b": "tuple[str, ...]",
        "c": "int",
    }
    assert Longer.__annotations__ == {"c": "int"}
    assert [each.name for each in dataclasses.fields(WithConstant)] == ["a"]


@records.dataclass(frozen=True, slots=True)
class WithConstant:
    """A record with something beside its fields."""

    a: int
    most: ClassVar[int] = 3


@records.dataclass(frozen=True, slots=True)
class Kept:
    """A record that another process reads."""

    a: int
    b: tuple[str, ...] = ()


@records.dataclass(frozen=True, slots=True)
class Longer(Kept):
    """A record with the fields of another and one more."""

    c: int = 3


@records.dataclass(frozen=True, slots=True)
class OwnMethods:
    """A record that says itself what is equal."""

    a: int

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OwnMethods)

    def __hash__(self) -> int:
        return 1


def test_copies_and_pickles() -> None:
    for record in (Kept(1, ("x",)), Longer(1, ("x",), 4)):
        assert pickle.loads(pickle.dumps(record)) == record
        assert copy.deepcopy(record) == record


def test_a_derived_record_has_all_fields() -> None:
    assert Longer(1, c=2) == Longer(1, (), 2)
    assert repr(Longer(1)) == "Longer(a=1, b=(), c=3)"
    assert Longer(1) != Kept(1)


def test_own_methods_stay() -> None:
    assert OwnMethods(1) == OwnMethods(2)
    assert hash(OwnMethods(1)) == 1


def test_every_record_of_the_command_is_made_so() -> None:
    root = Path(__file__).parents[2]
    standard = re.compile(r"^from dataclasses import .*\bdataclass\b|dataclasses\.dataclass\b", re.MULTILINE)
    files = [path for name in ("planner", "command", "policies") for path in (root / name).rglob("*.py")]
    assert len(files) > 400
    own = Path(sys.modules[records.__name__].__file__ or "")
    assert [str(path.relative_to(root)) for path in files if standard.search(path.read_text())] == [
        str(own.relative_to(root))
    ]
