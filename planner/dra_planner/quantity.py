"""Resource quantities ("80Gi", "1500m", "1e3"), with the arithmetic of Kubernetes.

A quantity keeps more than a number: the unscaled integer and its decimal scale, whether it's in the
64-bit form or in the big-decimal form, and the family of its suffix. All of these matter:
`isInteger` in a CEL selector depends on the form and the scale, and the canonical text depends on
the family. Numbers finer than a nano unit are rounded up, away from zero, and binary quantities are
capped at 2^63-1.

Source of the behavior:
kubernetes/apimachinery:pkg/api/resource/{quantity,amount,math,suffix,scale_int}.go@v0.36.3.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from msgspec import Struct

DECIMAL_SI: Final = "DecimalSI"
BINARY_SI: Final = "BinarySI"
DECIMAL_EXPONENT: Final = "DecimalExponent"

WRONG_FORMAT: Final = (
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
)
WRONG_NUMBER: Final = "unable to parse numeric part of quantity"
WRONG_SUFFIX: Final = "unable to parse quantity's suffix"
TOO_LARGE: Final = "the number is too large"

_INT64_MAX: Final = 2**63 - 1
_INT64_MIN: Final = -(2**63)
# a selector has at most 10 KiB, and larger numbers only exhaust memory
_MAX_DIGITS: Final = 20_000
_MAX_CACHED_LENGTH: Final = 64
_SHAPE: Final = re.compile(r"([+-]?)(0*)([0-9]*)(\.[0-9]*)?([eEinumkKMGTP]*[+-]?[0-9]*)", re.ASCII)
_DECIMAL_SUFFIXES: Final = {
    "n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18,
}  # fmt: skip
_BINARY_SUFFIXES: Final = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_SUFFIXES: Final = {s: (DECIMAL_SI, e) for s, e in _DECIMAL_SUFFIXES.items()} | {
    s: (BINARY_SI, e) for s, e in _BINARY_SUFFIXES.items()
}
_DECIMAL_NAMES: Final = {e: s for s, e in _DECIMAL_SUFFIXES.items()}
_BINARY_NAMES: Final = {e: s for s, e in _BINARY_SUFFIXES.items()}


class QuantityError(ValueError):
    """A text that isn't a quantity, or arithmetic with a result that is too large.

    `text` is the invalid text, and `reason` contains upstream's message.
    """

    def __init__(self, text: str, reason: str) -> None:
        shown = text if len(text) <= 80 else text[:77] + "..."
        super().__init__(f'"{shown}" isn\'t a quantity: {reason}')
        self.text = text
        self.reason = reason


class Quantity(Struct, frozen=True):
    """A quantity: `unscaled` × 10^`scale`.

    `small` distinguishes the 64-bit form from the big-decimal form, `suffixes` is the family of
    suffixes of the canonical text, and `text` is the canonical text if the parsed text was already
    canonical (otherwise, it's empty). Equality, order, and hash depend only on the number: 1Gi
    equals 1024Mi.
    """

    unscaled: int
    scale: int = 0
    small: bool = True
    suffixes: str = DECIMAL_SI
    text: str = ""

    @staticmethod
    def parse(text: str) -> Quantity:
        """Return the quantity in `text`. Raises `QuantityError` if Kubernetes rejects the text."""
        return _parse(text) if len(text) <= _MAX_CACHED_LENGTH else _parse.__wrapped__(text)

    @staticmethod
    def from_int(number: int) -> Quantity:
        """Return the decimal quantity of that number."""
        return Quantity(number, small=_INT64_MIN <= number <= _INT64_MAX)

    @property
    def key(self) -> tuple[int, int, bool]:
        """All that a selector can see of the quantity: number, scale and form. Hashable."""
        return (self.unscaled, self.scale, self.small)

    @property
    def value(self) -> int:
        """The number rounded up to an integer, like upstream's `Value()`.

        As in upstream, numbers that don't fit in 64 bits become 0 or wrap around.
        """
        return self._scaled_value(0)

    @property
    def milli_value(self) -> int:
        """The number of thousandths, rounded up, like upstream's `MilliValue()`, with the same
        limits as `value`.
        """
        return self._scaled_value(-3)

    @property
    def sign(self) -> int:
        """The sign: -1, 0, or 1."""
        return (self.unscaled > 0) - (self.unscaled < 0)

    def as_int64(self) -> int | None:
        """Return the number, if its form contains it as an integer without conversion (`AsInt64`).
        Otherwise, return None.
        """
        if not self.small or self.scale < 0:
            return None
        return _scale_up(self.unscaled, self.scale)

    def as_float(self) -> float:
        """Return the approximation of the number that upstream's `AsApproximateFloat64` returns."""
        try:
            base = float(self.unscaled)
        except OverflowError:
            base = float("inf") if self.unscaled > 0 else float("-inf")
        return base if self.scale == 0 else base * _power_of_ten(self.scale)

    def as_big(self) -> Quantity:
        """Return the same number in the big-decimal form."""
        return (
            self
            if not self.small
            else Quantity(self.unscaled, self.scale, False, self.suffixes, self.text)
        )

    def compare(self, other: Quantity) -> int:
        """Return -1, 0, or 1 if this number is less than, equal to, or greater than the other."""
        a, b = self.unscaled, other.unscaled
        if self.scale != other.scale:
            if self.sign != other.sign or a == 0:
                return (self.sign > other.sign) - (self.sign < other.sign)
            # The magnitudes determine the result unless they are equal, so no power of ten is
            # computed for 1e2000000000.
            big, small = _digits(a) + self.scale, _digits(b) + other.scale
            if big != small:
                return self.sign if big > small else -self.sign
            common = min(self.scale, other.scale)
            a, b = a * 10 ** (self.scale - common), b * 10 ** (other.scale - common)
        return (a > b) - (a < b)

    def __eq__(self, other: object) -> bool:
        return self.compare(other) == 0 if isinstance(other, Quantity) else NotImplemented

    def __hash__(self) -> int:
        number, scale = self.unscaled, self.scale
        if number == 0:
            return 0
        while number % 10 == 0:
            number, scale = number // 10, scale + 1
        return hash((number, scale))

    def __lt__(self, other: Quantity) -> bool:
        return self.compare(other) < 0

    def __le__(self, other: Quantity) -> bool:
        return self.compare(other) <= 0

    def __gt__(self, other: Quantity) -> bool:
        return self.compare(other) > 0

    def __ge__(self, other: Quantity) -> bool:
        return self.compare(other) >= 0

    def __bool__(self) -> bool:
        return self.unscaled != 0

    def __add__(self, other: Quantity) -> Quantity:
        suffixes = other.suffixes if self.unscaled == 0 else self.suffixes
        if self.small and other.small:
            total = _add_small(self, other, suffixes)
            if total is not None:
                return total
        return _add_big(self, other, suffixes)

    def __sub__(self, other: Quantity) -> Quantity:
        suffixes = other.suffixes if self.unscaled == 0 else self.suffixes
        if self.small and other.small:
            difference = _add_small(self, -other, suffixes)
            if difference is not None:
                return difference
        negative = Quantity(-other.unscaled, other.scale, False, other.suffixes)
        return _add_big(self, negative, suffixes)

    def __neg__(self) -> Quantity:
        number = -self.unscaled
        if self.small and number > _INT64_MAX:
            number = _INT64_MIN
        return Quantity(number, self.scale, self.small, self.suffixes)

    def __str__(self) -> str:
        """Return the canonical text: without a fraction, and with the largest suffix of the family
        that doesn't lose precision.
        """
        return self.text or _canonical(self)

    def _scaled_value(self, scale: int) -> int:
        if not self.small:
            return _scaled_value_big(self.unscaled, -self.scale, -scale)
        if self.scale < scale:
            return _scale_down(self.unscaled, scale - self.scale)
        return _scale_up_wrapping(self.unscaled, self.scale - scale)


def amount_text(name: str, amount: int) -> str:
    """Return an amount with its unit: cores for cpu, GiB for memory and storage, and a count for
    other resources.
    """
    if name == "cpu":
        return f"{amount / 1000:g} {'CPU' if amount == 1000 else 'CPUs'}"
    if name in ("memory", "ephemeral-storage") or name.startswith("hugepages-"):
        return f"{amount / 2**30:.4g} GiB"
    return str(Quantity.from_int(amount))


def amount_of(name: str, amount: int) -> str:
    """Return an amount with the resource that it's an amount of: "2.5 CPUs", "5 GiB of memory", or
    "1 nvidia.com/gpu".
    """
    if name == "cpu":
        return amount_text(name, amount)
    if name in ("memory", "ephemeral-storage") or name.startswith("hugepages-"):
        return f"{amount_text(name, amount)} of {name.replace('ephemeral-', 'ephemeral ')}"
    return f"{amount_text(name, amount)} {name}"


def amount_text_at_most(name: str, amount: int) -> str:
    """Return an amount with its unit like `amount_text`, but rounded down, so that it still fits.
    Memory below 1 MiB is in bytes.
    """
    if name not in ("memory", "ephemeral-storage") and not name.startswith("hugepages-"):
        return amount_text(name, amount)
    for unit, size in (("GiB", 2**30), ("MiB", 2**20)):
        if amount >= size:
            return f"{amount * 100 // size / 100:.15g} {unit}"
    return f"{amount} B"


def amount_fault(text: str) -> str:
    """Return why a text isn't a valid quantity of a node's resource, or ""."""
    try:
        return f'"{text}" must not be negative' if Quantity.parse(text).sign < 0 else ""
    except QuantityError:
        return (
            f'"{text}" isn\'t a valid quantity; use, for example, "500m" for half a CPU or '
            '"2Gi" for memory'
        )


@lru_cache(maxsize=4096)
def _parse(text: str) -> Quantity:
    match = _SHAPE.fullmatch(text)
    if not match or not text:
        raise QuantityError(text, WRONG_FORMAT)
    sign, _, whole, point, suffix = match.groups()
    fraction = point[1:] if point else ""
    whole = whole or "0"
    suffixes, exponent = _SUFFIXES.get(suffix) or _decimal_exponent(text, suffix)
    factor, scale, room = 1, 0, -1
    if suffixes != BINARY_SI:
        scale, room = exponent, 18 - len(whole) - len(fraction)
    elif not fraction:
        factor, room = 1 << exponent, 14 - len(whole) - exponent * 3 // 10
    scale = _int32(scale - len(fraction))
    if room < 0 or scale < -9:
        return _parse_big(text, suffixes, exponent)
    digits = whole + fraction
    number = int(digits)
    if suffixes == BINARY_SI:
        canonical = number & 7 != 0
    else:
        canonical = scale % 3 == 0 and digits[0] != "0" and not digits.endswith("000")
    number *= factor
    return Quantity(
        -number if sign == "-" else number,
        scale,
        True,
        suffixes,
        text if canonical or text == "0" else "",
    )


def _decimal_exponent(text: str, suffix: str) -> tuple[str, int]:
    digits = suffix[1:]
    if suffix[0] not in "eE" or not re.fullmatch(r"[+-]?[0-9]{1,400}", digits, re.ASCII):
        raise QuantityError(text, WRONG_SUFFIX)
    exponent = int(digits)
    if not _INT64_MIN <= exponent <= _INT64_MAX:
        raise QuantityError(text, WRONG_SUFFIX)
    return DECIMAL_EXPONENT, _int32(exponent)


def _parse_big(text: str, suffixes: str, exponent: int) -> Quantity:
    match = _SHAPE.fullmatch(text)
    assert match is not None  # parse() has already matched it
    sign, zeros, whole, point, _ = match.groups()
    fraction = point[1:] if point else ""
    if not zeros and not whole and not fraction:
        raise QuantityError(text, WRONG_NUMBER)
    number, scale = _big_int(text, whole + fraction), -len(fraction)
    if suffixes == BINARY_SI:
        number <<= exponent
    else:
        scale = _int32(scale + exponent)
    if number:
        if scale > _MAX_DIGITS:
            raise QuantityError(text, TOO_LARGE)
        number, scale = _round_up(number, scale, -9), -9
        if suffixes == BINARY_SI and number > _INT64_MAX * 10**9:
            number, scale = _INT64_MAX, 0
        elif suffixes == BINARY_SI and number < 10**9:
            suffixes = DECIMAL_SI
    return Quantity(-number if sign == "-" else number, scale, False, suffixes)


def _big_int(text: str, digits: str) -> int:
    """Return `int(digits)` for any length up to the limit, because Python itself rejects more than
    4300 digits.
    """
    if len(digits) > _MAX_DIGITS:
        raise QuantityError(text, TOO_LARGE)
    number = 0
    for start in range(0, len(digits), 4000):
        part = digits[start : start + 4000]
        number = number * 10 ** len(part) + int(part)
    return number


def _ten(power: int) -> int:
    result: int = 10**power
    return result


def _int32(number: int) -> int:
    return (number + 2**31) % 2**32 - 2**31


def _int64(number: int) -> int:
    return (number + 2**63) % 2**64 - 2**63


def _digits(number: int) -> int:
    """Return the number of decimal digits, without converting a very long number to text."""
    number = abs(number)
    estimate = number.bit_length() * 30103 // 100000
    return estimate + 1 if number >= 10**estimate else max(estimate, 1)


def _round_up(number: int, scale: int, to_scale: int) -> int:
    """Return `number` × 10^`scale` in units of 10^`to_scale`, rounded away from zero if the result
    isn't an integer.
    """
    if scale >= to_scale:
        return number * _ten(scale - to_scale)
    shift = to_scale - scale
    if shift > _digits(number):
        return (number > 0) - (number < 0)
    whole, rest = divmod(abs(number), _ten(shift))
    whole += rest != 0
    return whole if number > 0 else -whole


def _scale_up(number: int, places: int) -> int | None:
    if number == 0:
        return 0
    if places > 19:
        return None
    result = number * _ten(places)
    if number == _INT64_MIN:
        return number if places == 0 else None
    return result if _INT64_MIN <= result <= _INT64_MAX else None


def _scale_up_wrapping(number: int, places: int) -> int:
    """Return upstream's result if 64 bits aren't sufficient: the low bits for the common scales,
    and 0 for all other scales.
    """
    result = _scale_up(number, places)
    if result is None:
        return (
            _int64(number * _ten(places))
            if places in (1, 2, 3, 6, 9) and number != _INT64_MIN
            else 0
        )
    return result


def _scale_down(number: int, places: int) -> int:
    return _round_up(number, 0, places) if number else 0


def _scaled_value_big(unscaled: int, scale: int, to_scale: int) -> int:
    """Scale a number like upstream: it wraps around at 64 bits, and a negative fraction is rounded
    toward zero and then up.
    """
    places = scale - to_scale
    if places == 0:
        return _int64(unscaled)
    if places < 0:
        return _int64(_int64(unscaled) * (_ten(-places) if places > -19 else _INT64_MIN))
    if unscaled < _INT64_MAX and places < 19:
        number = _int64(unscaled)
        whole, rest = divmod(abs(number), _ten(places))
        return (whole if number >= 0 else -whole) + (rest != 0)
    if places > _digits(unscaled):
        return (unscaled > 0) + 0
    whole, rest = divmod(unscaled, _ten(places))
    return _int64(_int64(whole) + (rest != 0))


def _add_small(a: Quantity, b: Quantity, suffixes: str) -> Quantity | None:
    if b.unscaled == 0:
        return Quantity(a.unscaled, a.scale, True, suffixes)
    if a.unscaled == 0:
        return Quantity(b.unscaled, b.scale, True, suffixes)
    scale = min(a.scale, b.scale)
    left, right = _scale_up(a.unscaled, a.scale - scale), _scale_up(b.unscaled, b.scale - scale)
    if left is None or right is None:
        return None
    total = left + right
    return Quantity(total, scale, True, suffixes) if _INT64_MIN <= total <= _INT64_MAX else None


def _add_big(a: Quantity, b: Quantity, suffixes: str) -> Quantity:
    scale = min(a.scale, b.scale)
    if (
        max(a.scale, b.scale) - scale > _MAX_DIGITS
        or max(_digits(a.unscaled), _digits(b.unscaled)) > _MAX_DIGITS
    ):
        raise QuantityError(f"{a} + {b}", TOO_LARGE)
    total = a.unscaled * _ten(a.scale - scale) + b.unscaled * _ten(b.scale - scale)
    return Quantity(total, scale, False, suffixes)


def _canonical(quantity: Quantity) -> str:
    if quantity.unscaled == 0:
        return "0"
    suffixes = quantity.suffixes
    if suffixes == BINARY_SI:
        whole = _round_up(quantity.unscaled, quantity.scale, 0)
        exact = quantity.scale >= 0 or quantity.unscaled == whole * 10**-quantity.scale
        if exact and not -1024 < whole < 1024:
            return _with_suffix(whole, 1024, 10, 0, _BINARY_NAMES)
        suffixes = DECIMAL_SI
    if suffixes == DECIMAL_SI:
        return _with_suffix(quantity.unscaled, 10, 1, quantity.scale, _DECIMAL_NAMES)
    return _with_suffix(quantity.unscaled, 10, 1, quantity.scale, None)


def _with_suffix(
    number: int, factor: int, step: int, exponent: int, names: dict[int, str] | None
) -> str:
    while number % factor == 0:
        number, exponent = number // factor, exponent + step
    if factor == 10:
        number, exponent = number * 10 ** (exponent % 3), exponent - exponent % 3
    if names is not None:
        return f"{_decimal(number)}{names.get(exponent, '')}"
    return f"{_decimal(number)}e{exponent}" if exponent else _decimal(number)


def _decimal(number: int) -> str:
    """Return `str(number)` for any length, because Python itself rejects more than 4300 digits."""
    if abs(number) < 10**4000:
        return str(number)
    high, low = divmod(abs(number), 10**4000)
    return f"{'-' if number < 0 else ''}{_decimal(high)}{low:04000d}"


def _power_of_ten(exponent: int) -> float:
    """Return a power of ten like Go's `math.Pow10`: a product of two table entries, which isn't
    always the nearest float.
    """
    if exponent > 308:
        return float("inf")
    if exponent < -323:
        return 0.0
    coarse, fine = divmod(abs(exponent), 32)
    if exponent >= 0:
        return float(f"1e{32 * coarse}") * float(f"1e{fine}")
    return float(f"1e-{32 * coarse}") / float(f"1e{fine}")
