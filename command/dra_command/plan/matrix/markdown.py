"""A matrix of plans as GitHub Markdown, for a pull request."""

from __future__ import annotations

from collections.abc import Iterator

from dra_command.pens.markdown import safe, table_lines
from dra_command.plan.matrix.tables import matrix_headline, matrix_table, obstacles_of
from dra_planner.plan.matrix import Matrix


def matrix_markdown(matrix: Matrix) -> str:
    """Return the table, and the reasons why combinations don't fit, with a newline at the end."""
    return "\n".join(_lines(matrix)).rstrip() + "\n"


def _lines(matrix: Matrix) -> Iterator[str]:
    yield f"## {safe(matrix_headline(matrix))}"
    yield ""
    yield from table_lines(matrix_table(matrix))
    for name, what, fix in obstacles_of(matrix):
        yield f"- **{safe(name)}**: {safe(what)}" + (f"  \n  *{safe(fix)}*" if fix else "")
