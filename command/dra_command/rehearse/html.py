"""A rehearsal as a self-contained HTML page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from dra_command.pens.html.grid import shown
from dra_command.pens.html.line_breaks import with_unbroken_counts
from dra_command.pens.html.tables import fix_line, message, table_lines, tables_page
from dra_command.pens.table import Table
from dra_command.rehearse.summary import (
    explanations,
    fixes,
    headline,
    pools_table,
    scenario_tables,
    setting,
    verdict_of,
    workloads_table,
)

if TYPE_CHECKING:  # the sandbox is an optional extra
    from dra_sandbox.rehearsal import Comparison

_STYLE: Final = "h3{margin-top:1.4rem}"


def rehearse_html(found: Comparison) -> str:
    """Return the rehearsal as an HTML document."""
    return tables_page(
        _lines(found),
        where="pulumi-dra rehearse",
        verdict=verdict_of(found),
        decision=headline(found),
        below=setting(found),
        style=_STYLE,
    )


def _lines(found: Comparison) -> Iterator[str]:
    for table in (workloads_table(found), pools_table(found), *scenario_tables(found)):
        yield from table_lines(_with_unbroken_counts(table))
    for name, lines in explanations(found):
        yield f"<h3>{shown(name)}</h3>\n<ul>"
        for line in lines:
            yield f"<li>{message(line)}</li>"
        yield "</ul>"
    for fix in fixes(found):
        yield fix_line(fix)
    if found.notes:
        yield "<details><summary>Notes</summary>\n<ul>"
        for note in found.notes:
            yield f"<li>{message(note)}</li>"
        yield "</ul>\n</details>"


def _with_unbroken_counts(table: Table) -> Table:
    """Return the table with counts on the same line as the ends of their pools' names."""
    rows = tuple(tuple(map(with_unbroken_counts, row)) for row in table.rows)
    return replace(table, rows=rows)
