"""Changes of selectors in few words: where one value differs, it alone is told, since the selector
stands above.
"""

from __future__ import annotations

import re
from typing import Final

_CHANGE: Final = re.compile(r"write `([^`]+)` instead of `([^`]+)`")
_VALUE: Final = re.compile(r'\w+\("[^"()]*"\)')


def short_change(fix: str) -> str:
    """Return a fix in which a selector that changes in one call with one string is that call
    alone.
    """
    return _CHANGE.sub(_shortened, fix)


def _shortened(found: re.Match[str]) -> str:
    after, before = found[1], found[2]
    for new in _VALUE.finditer(after):
        for old in _VALUE.finditer(before, new.start()):
            is_same_around = (
                after[: new.start()] == before[: old.start()]
                and after[new.end() :] == before[old.end() :]
            )
            if is_same_around and before.count(old[0]) == 1:
                return f"write `{new[0]}` instead of `{old[0]}`"
    return found[0]
