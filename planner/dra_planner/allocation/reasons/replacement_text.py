"""The change of a condition in a selector, as a short sentence."""

from __future__ import annotations

import re
from typing import Final

_VALUE: Final = re.compile(r"""\w+\((?:"[^"()]*"|'[^'()]*')\)""")


def replacement_text(before: str, after: str) -> str:
    """Return the sentence for a changed condition. If only one call with one string changes, such
    as `quantity("80Gi")`, it quotes only this call, because the condition is printed with the
    reason.
    """
    for new in _VALUE.finditer(after):
        for old in _VALUE.finditer(before, new.start()):
            is_same_around = (
                after[: new.start()] == before[: old.start()]
                and after[new.end() :] == before[old.end() :]
            )
            if is_same_around and before.count(old[0]) == 1:
                return f"use `{new[0]}` instead of `{old[0]}`"
    return f"use `{after}` instead of `{before}`"
