"""A matrix of plans as an HTML page."""

from __future__ import annotations

from collections.abc import Iterator

from dra_command.pens.html.tables import foot_lines, head_lines, shown, table_lines
from dra_command.plan.matrix.tables import matrix_headline, matrix_table, obstacles_of
from dra_planner.plan.matrix import Matrix


def matrix_html(matrix: Matrix) -> str:
    """Return a whole page."""
    return "\n".join(_lines(matrix)) + "\n"


def _lines(matrix: Matrix) -> Iterator[str]:
    yield from head_lines(matrix_headline(matrix), matrix.verdict, ", ".join(matrix.axes))
    yield from table_lines(matrix_table(matrix))
    for name, what, fix in obstacles_of(matrix):
        yield f"<h3>{shown(name)}</h3>\n<p>{shown(what)}</p>"
        if fix:
            yield f'<p class="fix"><b>→ Fix</b> <span>{shown(fix)}</span></p>'
    yield from foot_lines()
