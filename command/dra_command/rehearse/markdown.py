"""A rehearsal as GitHub Markdown, for a pull request or a wiki."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dra_command.pens.markdown import safe, table_lines
from dra_command.rehearse.summary import (
    explanations,
    fixes,
    headline,
    pools_table,
    scenario_tables,
    setting,
    workloads_table,
)

if TYPE_CHECKING:  # the sandbox is an optional extra
    from dra_sandbox.rehearsal import Comparison


def rehearse_markdown(found: Comparison) -> str:
    """Return the rehearsal as Markdown, with a newline at its end."""
    return "\n".join(_lines(found)).rstrip() + "\n"


def _lines(found: Comparison) -> Iterator[str]:
    yield f"## {safe(headline(found))}"
    yield ""
    yield safe(setting(found))
    yield ""
    yield from table_lines(workloads_table(found))
    yield from table_lines(pools_table(found))
    for table in scenario_tables(found):
        yield from table_lines(table)
    for name, lines in explanations(found):
        yield f"**{safe(name)}**"
        yield ""
        for line in lines:
            yield f"- {safe(line)}"
        yield ""
    advice = [f"- → {safe(fix)}" for fix in fixes(found)]
    if advice:
        yield from (*advice, "")
    if found.notes:
        yield "<details><summary>Notes</summary>"
        yield ""
        for note in found.notes:
            yield f"- {safe(note)}"
        yield ""
        yield "</details>"
