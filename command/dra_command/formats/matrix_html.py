"""A matrix of plans as one page."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from dra_command.formats.matrix_report import matrix_headline, matrix_table, obstacles_of
from dra_command.formats.plan_html import head_lines, table_lines
from dra_planner.plan.matrix import Matrix


def matrix_html(matrix: Matrix) -> str:
    """Return a whole page."""
    return "\n".join(_lines(matrix)) + "\n"


def _lines(matrix: Matrix) -> Iterator[str]:
    yield from head_lines(matrix_headline(matrix), matrix.verdict, ", ".join(matrix.axes))
    yield from table_lines(matrix_table(matrix))
    for name, what, fix in obstacles_of(matrix):
        below = f'<br><span class="fix">{escape(fix)}</span>' if fix else ""
        yield f"<h3>{escape(name)}</h3>\n<p>{escape(what)}{below}</p>"
    yield "</body>\n</html>"
