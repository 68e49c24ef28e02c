"""Repair amounts with units that Kubernetes doesn't support: `4GB`, `80 GiB`, `512gi`."""

from __future__ import annotations

import re
from typing import Final

from dra_planner.quantity import Quantity, QuantityError

_AMOUNT: Final = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([kmgtpeKMGTPE])([iI]?)([bB]?)")


def corrected_amount(text: str) -> str:
    """Return an amount with Kubernetes units, or "" if it's already valid or ambiguous.

    `GB` becomes `G`, and `GiB` becomes `Gi`. `Gb` could be bits, and a single `m` means
    thousandths.
    """
    found = _AMOUNT.fullmatch(text.strip())
    if found is None or is_amount(text):
        return ""
    number, letter, binary, byte = found.groups()
    if (byte == "b" and letter.isupper() and not binary) or (
        letter == "m" and not binary and not byte
    ):
        return ""
    unit = f"{letter.upper()}i" if binary else letter.upper().replace("K", "k")
    return number + unit


def possible_amounts(text: str) -> tuple[str, ...]:
    """Return the amounts that a text with an ambiguous unit can mean; () if it isn't ambiguous.

    For example, `4Gb` can mean `4G` or `4Gi`.
    """
    found = _AMOUNT.fullmatch(text.strip())
    if found is None or is_amount(text) or corrected_amount(text):
        return ()
    unit = found[2].upper().replace("K", "k")
    return f"{found[1]}{unit}", f"{found[1]}{found[2].upper()}i"


def is_amount(text: str) -> bool:
    """Return True if Kubernetes accepts a text as a quantity."""
    try:
        Quantity.parse(text)
    except QuantityError:
        return False
    return True
