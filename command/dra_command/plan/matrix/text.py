"""A matrix of plans as text for a terminal."""

from __future__ import annotations

from typing import TextIO

from dra_command.pens.terminal.page import VERDICT_STYLES, Page
from dra_command.pens.verdict_words import VERDICT_WORDS
from dra_command.pens.visible_text import middle
from dra_command.plan.matrix.tables import (
    REFUSED,
    matrix_headline,
    matrix_table,
    obstacles_of,
)
from dra_planner.plan.matrix import Matrix

_SHORT_HEAD = 10  # characters of a heading in a table that is too wide
_WORD_STYLES = {
    REFUSED: "red",
    **{word: VERDICT_STYLES[verdict] for verdict, word in VERDICT_WORDS.items()},
}


def print_matrix(matrix: Matrix, *, quiet: bool = False, file: TextIO | None = None) -> None:
    """Print the table. Unless `quiet` is set, also print why each combination doesn't fit."""
    with Page(file) as page:
        page.line((matrix_headline(matrix), f"bold {VERDICT_STYLES[matrix.verdict]}"))
        page.gap()
        table = matrix_table(matrix)
        is_too_wide = sum(len(head) + 2 for head in table.heads) > page.width
        heads = [middle(head, _SHORT_HEAD) if is_too_wide else head for head in table.heads]
        page.table(heads, table.rows, numbers=table.numbers, styles=_WORD_STYLES)
        page.line((table.note, "dim"))
        before = ""
        for name, what, fix in () if quiet else obstacles_of(matrix):
            if name != before:
                page.gap()
                page.line((name, "bold"))
            before = name
            page.text(what, indent=2)
            if fix:
                page.text(fix, indent=4, mark="→ ")
