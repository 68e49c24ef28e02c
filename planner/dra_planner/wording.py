"""Numbers and the words that agree with them."""

from __future__ import annotations

_SINGULAR = {"are": "is", "have": "has"}


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: `1 node`, `2 nodes`, `2 addresses`."""
    return f"{number} {noun}{'' if number == 1 else 'es' if noun.endswith('ss') else 's'}"


def verb(number: int, plural: str) -> str:
    """Return the verb that goes with so many things: one *is*, *has*, *passes*; two *are*, *have*, *pass*."""
    if number != 1:
        return plural
    return _SINGULAR.get(plural) or plural + ("es" if plural.endswith(("s", "ch")) else "s")
