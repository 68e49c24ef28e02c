"""Records that exclude some fields from comparisons, and quantities."""

from __future__ import annotations

from collections.abc import Mapping
from operator import ne

from msgspec import Struct

from dra_planner.quantity import Quantity
from dra_planner.records import equality


@equality(ignored=("place",), unhashed=("labels",))
class Labelled(Struct, frozen=True):
    name: str
    labels: Mapping[str, str] = {}
    place: int = 0


def test_ignored_field_is_not_compared() -> None:
    assert Labelled("a", place=1) == Labelled("a", place=2)
    assert not ne(Labelled("a", place=1), Labelled("a", place=2))
    assert {Labelled("a", place=1), Labelled("a", place=2)} == {Labelled("a")}


def test_unhashed_field_is_compared() -> None:
    one, other = Labelled("a", {"b": "c"}), Labelled("a", {"b": "d"})
    assert one != other
    assert len({one, other}) == 2
    assert hash(one) == hash(other)


def test_records_of_different_classes_differ() -> None:
    class Other(Struct, frozen=True):
        name: str

    assert Labelled("a") != Other("a")
    assert Labelled("a") != "a"


def test_quantities_of_the_same_number_are_equal() -> None:
    assert Quantity.parse("1Gi") == Quantity.parse("1024Mi")
    assert not ne(Quantity.parse("1Gi"), Quantity.parse("1024Mi"))
