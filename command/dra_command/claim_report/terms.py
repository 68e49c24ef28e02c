"""The conditions of a claim that no pool satisfies, pool by pool: which pass, which fail, and what
the devices have.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from dra_command.pens.signs import Signs
from dra_command.pens.table import Table
from dra_command.pens.visible_text import short
from dra_planner.cel import SelectorTerm
from dra_planner.plan.explanation.claims import ClaimExplanation, PoolExplanation
from dra_planner.wording import counted

_DOMAIN = re.compile(r"""device\.(?:attributes|capacity)\[["'][^"']*["']\]\.""")
_KNOWN_LATER = "run time only"


def terms_table(explanation: ClaimExplanation, signs: Signs, most_pools: int) -> Table | None:
    """Return conditions by pool, or None if there is only one condition, because messages already
    contain it.
    """
    pools = [pool for pool in explanation.pools if pool.selectors][:most_pools]
    texts = list(
        dict.fromkeys(term.text for pool in pools for each in pool.selectors for term in each.terms)
    )
    if len(texts) < 2 or explanation.is_observed:
        return None
    rows = tuple(
        (short_term(text), *(term_cell(term_of(pool, text), signs) for pool in pools))
        for text in texts
    )
    heads = (f"claim {short(explanation.claim, 80)}", *(short(pool.pool, 40) for pool in pools))
    return Table("Claim", heads, rows)


def term_of(pool: PoolExplanation, text: str) -> SelectorTerm | None:
    """Return a condition's result for the pool's devices, or None if it excluded none of them."""
    return next((term for each in pool.selectors for term in each.terms if term.text == text), None)


def term_state(term: SelectorTerm) -> str:
    """Return whether the devices pass: "true", "false", "unknown", or "error"."""
    if term.failing:
        return "false"
    if term.erring:
        return "error"
    return "unknown" if term.unknown else "true"


def term_values(term: SelectorTerm) -> str:
    """Return the devices' values that the condition reads."""
    return ", ".join(_values(term))


def term_cell(term: SelectorTerm | None, signs: Signs) -> str:
    """Return the mark and the device values of a condition on one pool."""
    if term is None:
        return ""
    sign = {"true": signs.fits, "unknown": signs.cannot_tell}.get(
        term_state(term), signs.does_not_fit
    )
    return f"{sign} {short(term_values(term), 60)}".rstrip()


def short_term(text: str) -> str:
    """Return a condition without the domains of its attributes."""
    return _DOMAIN.sub("", text)


def _values(term: SelectorTerm) -> Iterator[str]:
    for read in term.reads:
        values = read.values[:3]
        yield from (
            value if len(read.values) == 1 else f"{value} ×{count}" for value, count in values
        )
        if len(read.values) > len(values):
            yield f"{len(read.values) - len(values)} more values"
        if read.absent:
            yield f"{counted(read.absent, 'device')} without it"
        if read.unknown:
            yield _KNOWN_LATER
    if term.error:
        yield "error"


def failing_tables(
    explanations: Iterable[ClaimExplanation], signs: Signs, most_pools: int
) -> Iterator[tuple[str, Table]]:
    """Yield each workload whose claim fails, with the table of the claim's conditions."""
    for explanation in explanations:
        table = terms_table(explanation, signs, most_pools)
        if table is not None:
            yield explanation.workload, table
