"""A matrix of plans as an HTML page."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from dra_command.pens.html.grid import shown
from dra_command.pens.html.tables import fix_line, message, table_lines, tables_page
from dra_command.plan.matrix.tables import matrix_headline, matrix_table, obstacles_of
from dra_planner.plan.matrix import Matrix


def matrix_html(matrix: Matrix) -> str:
    """Return a whole page."""
    return tables_page(
        _lines(matrix),
        where="pulumi-dra plan --matrix",
        verdict=matrix.verdict,
        decision=matrix_headline(matrix),
        below=f"Values of {', '.join(matrix.axes)}",
    )


def _lines(matrix: Matrix) -> Iterator[str]:
    yield from table_lines(matrix_table(matrix))
    for name, obstacles in groupby(obstacles_of(matrix), key=lambda each: each[0]):
        yield f"<h3>{shown(name)}</h3>"
        for _, what, fix in obstacles:
            yield f"<p>{message(what)}</p>"
            if fix:
                yield fix_line(fix)
