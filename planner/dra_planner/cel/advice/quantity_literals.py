"""Find invalid literals of `quantity(…)`, with which the selector fails on every device, and the
quantities that they probably mean.

Source: kubernetes/apiserver:pkg/cel/library/quantity.go@v0.36.2 (a string that doesn't parse is an
error at run time, not at compile time).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from dra_planner.cel.tree import Call, Constant, SyntaxNode, walk
from dra_planner.quantity import Quantity, QuantityError

_AMOUNT: Final = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([kmgtpe])?(i)?(?:b|bytes?)?\s*", re.IGNORECASE)


def invalid_literals(root: SyntaxNode) -> Iterator[tuple[str, str]]:
    """Yield the text of each literal that isn't a quantity, and the quantity that it probably means
    ("" if that's unclear).
    """
    for node in walk(root):
        if isinstance(node, Call) and node.function == "quantity" and node.target is None:
            literal = node.args[0] if node.args else None
            if isinstance(literal, Constant) and isinstance(literal.value, str):
                text = literal.value
                if not _is_quantity(text):
                    yield text, _intended_quantity(text)


def with_quantities(expression: str, root: SyntaxNode) -> str:
    """Return an expression with the quantities that its invalid literals probably mean, or "" if
    nothing can be corrected.
    """
    corrected = expression
    for text, intended in invalid_literals(root):
        for quote in "\"'" if intended else "":
            corrected = corrected.replace(f"{quote}{text}{quote}", f"{quote}{intended}{quote}")
    return "" if corrected == expression else corrected


def _is_quantity(text: str) -> bool:
    try:
        Quantity.parse(text)
    except QuantityError:
        return False
    return True


def _intended_quantity(text: str) -> str:
    """Return a quantity without a unit for bytes and blanks, and with corrected case: "20 GB" means
    20G (a decimal unit), and "20GiB" means 20Gi.
    """
    found = _AMOUNT.fullmatch(text)
    if found is None:
        return ""
    amount, unit, binary = found.groups()
    prefix = (unit or "").upper()
    if binary:
        return f"{amount}{prefix}i" if prefix else ""
    return f"{amount}{'k' if prefix == 'K' else prefix}"
