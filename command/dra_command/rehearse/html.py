"""A rehearsal as a self-contained HTML page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from dra_command.pens.html.tables import fix_line, message, shown, table_lines, tables_page
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

_STYLE: Final = "td{white-space:nowrap}h3{margin-top:1.4rem}"
"""Counts stay on one line with their pools. If the line is too wide, the table scrolls."""


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
    yield from table_lines(workloads_table(found))
    yield from table_lines(pools_table(found))
    for table in scenario_tables(found):
        yield from table_lines(table)
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
