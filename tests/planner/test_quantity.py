"""Quantities: accepted and rejected texts, and the resulting numbers, formats, and canonical
texts.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dra_planner.quantity import (
    TOO_LARGE,
    WRONG_FORMAT,
    WRONG_NUMBER,
    WRONG_SUFFIX,
    Quantity,
    QuantityError,
)

UNITS = [
    "",
    "n",
    "u",
    "m",
    "k",
    "M",
    "G",
    "T",
    "P",
    "E",
    "Ki",
    "Mi",
    "Gi",
    "Ti",
    "Pi",
    "Ei",
    "e3",
    "E-2",
]
TEXTS = st.builds(
    lambda sign, whole, fraction, unit: f"{sign}{whole}{fraction}{unit}",
    st.sampled_from(["", "-", "+"]),
    st.integers(0, 10**20),
    st.sampled_from(["", ".", ".5", ".001", ".1234567891"]),
    st.sampled_from(UNITS),
)


@pytest.mark.parametrize(
    ("text", "canonical", "value", "milli"),
    [
        ("0", "0", 0, 0),
        ("", None, WRONG_FORMAT, 0),
        ("80Gi", "80Gi", 85899345920, 85899345920000),
        ("81920Mi", "80Gi", 85899345920, 85899345920000),
        ("1.5", "1500m", 2, 1500),
        ("1500m", "1500m", 2, 1500),
        ("0.5Gi", "512Mi", 536870912, 536870912000),
        ("1.5e3", "1500", 1500, 1500000),
        ("12e6", "12e6", 12000000, 12000000000),
        ("0.1n", "1n", 1, 1),
        ("-0.1n", "-1n", 1, 1),
        ("-1500m", "-1500m", -2, -1500),
        ("16Ei", "9223372036854775807", 9223372036854775807, 9223372036854774784),
        ("1.", "1.", 1, 1000),
        ("Mi", "0", 0, 0),
        ("+", "0", 0, 0),
        ("1e4294967297", "10", 10, 10000),
        ("40GB", None, WRONG_FORMAT, 0),
        ("40 Gi", None, WRONG_FORMAT, 0),
        ("forty", None, WRONG_FORMAT, 0),
        ("1ki", None, WRONG_SUFFIX, 0),
        ("1e", None, WRONG_SUFFIX, 0),
        (".e-30", None, WRONG_NUMBER, 0),
        ("1234567890123456789e999999999", None, TOO_LARGE, 0),
    ],
)
def test_quantities_are_parsed_as_in_kubernetes(
    text: str, canonical: str | None, value: int | str, milli: int
) -> None:
    if canonical is None:
        with pytest.raises(QuantityError) as refused:
            Quantity.parse(text)
        assert refused.value.reason == value
        assert refused.value.text == text
        return
    quantity = Quantity.parse(text)
    assert str(quantity) == canonical
    assert quantity.value == value
    if text != "16Ei":
        assert quantity.milli_value == milli


@pytest.mark.parametrize(
    ("text", "integer"),
    [
        ("5", 5),
        ("1k", 1000),
        ("80Gi", 85899345920),
        ("1.0", None),
        ("2000m", None),
        ("1Ei", None),
        ("0.5Gi", None),
    ],
)
def test_integers_are_recognized_by_form_not_by_value(text: str, integer: int | None) -> None:
    assert Quantity.parse(text).as_int64() == integer


def test_equal_numbers_of_different_forms_have_different_keys() -> None:
    assert Quantity.parse("1") == Quantity.parse("1000m")
    assert hash(Quantity.parse("1")) == hash(Quantity.parse("1000m"))
    assert Quantity.parse("1").key != Quantity.parse("1000m").key


def test_arithmetic_keeps_the_suffix_of_the_first_nonzero_operand() -> None:
    assert str(Quantity.parse("1Gi") + Quantity.parse("1024M")) == "2048576Ki"
    assert str(Quantity.parse("0") + Quantity.parse("1Gi")) == "1Gi"
    assert str(Quantity.parse("80Gi") - Quantity.parse("40Gi")) == "40Gi"
    assert sum(
        (Quantity.parse("100m") for _ in range(10)), Quantity.from_int(0)
    ) == Quantity.from_int(1)


def test_huge_exponents_can_be_compared_but_not_added() -> None:
    huge = Quantity.parse("1e2000000000")
    assert huge > Quantity.parse("16Ei")
    assert -huge < Quantity.parse("0")
    with pytest.raises(QuantityError):
        _ = huge + Quantity.parse("1")


def test_long_numbers_are_read_and_written() -> None:
    text = "9" * 15_000
    assert str(Quantity.parse(text)) == text
    with pytest.raises(QuantityError):
        Quantity.parse("9" * 30_000)


@given(TEXTS)
def test_canonical_text_has_the_same_value(text: str) -> None:
    quantity = Quantity.parse(text)
    if quantity < Quantity.parse("1000E") and quantity > Quantity.parse("-1000E"):
        assert Quantity.parse(str(quantity)) == quantity


@given(TEXTS, TEXTS)
def test_order_agrees_with_exact_arithmetic(left: str, right: str) -> None:
    from fractions import Fraction

    a, b = Quantity.parse(left), Quantity.parse(right)
    exact = [Fraction(q.unscaled) * Fraction(10) ** q.scale for q in (a, b)]
    assert (a < b, a == b, a > b) == (
        exact[0] < exact[1],
        exact[0] == exact[1],
        exact[0] > exact[1],
    )
    assert a + b == b + a
    assert a - a == Quantity.from_int(0)
