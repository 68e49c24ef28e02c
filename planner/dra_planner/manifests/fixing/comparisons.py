"""Repair selectors that compare a capacity or version with an operator.

CEL requires `compareTo` instead.
"""

from __future__ import annotations

import re
from typing import Final

from dra_planner.manifests.amount_units import corrected_amount

_QUOTED: Final = r"(?:\\?\"[^\"\\\n]*\\?\"|'[^'\n]*')"
_READ: Final = (
    rf"device\.(?:capacity|attributes)\s*\[\s*{_QUOTED}\s*\]\s*(?:\.\s*\w+|\[\s*{_QUOTED}\s*\])"
)
_AMOUNT: Final = rf"(?:quantity|semver)\(\s*{_QUOTED}\s*(?:,\s*(?:true|false)\s*)?\)"
_SIGN: Final = r"(?P<sign><=|>=|<|>)"
_WAYS: Final = tuple(
    re.compile(rf"(?P<left>{left})\s*{_SIGN}\s*(?P<right>{right})(?!\s*\.)")
    for left, right in ((_READ, _AMOUNT), (_AMOUNT, _READ))
)
_UNIT: Final = re.compile(
    r"(?P<head>quantity\(\s*\\?[\"'])(?P<amount>[^\"'\\\n]*)(?P<tail>\\?[\"']\s*\))"
)


def with_compare_to(expression: str) -> str:
    """Return a selector with every operator comparison rewritten with `compareTo`, or the same
    selector.
    """
    for way in _WAYS:
        expression = way.sub(r"\g<left>.compareTo(\g<right>) \g<sign> 0", expression)
    return expression


def with_units(expression: str) -> str:
    """Return a selector with the amounts of `quantity(…)` in Kubernetes units."""
    return _UNIT.sub(
        lambda found: f"{found['head']}{_unit(found['amount'])}{found['tail']}", expression
    )


def _unit(amount: str) -> str:
    return corrected_amount(amount) or amount
