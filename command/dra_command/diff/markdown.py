"""A comparison as a Markdown comment on a change."""

from __future__ import annotations

from dra_command.diff.comparison import ComparedSides
from dra_command.diff.summary import headline, reasons, tables
from dra_command.pens.markdown import joined, safe, table_lines

_MARK = "<!-- pulumi-dra:diff -->"


def diff_markdown(found: ComparedSides) -> str:
    """Return the comparison. If it's too long, omit its last tables."""
    head = [_MARK, f"**{safe(headline(found))}**", ""]
    head += [f"before: {safe(found.before)} · after: {safe(found.after)}", ""]
    for workload, reason, fix in reasons(found):
        head += [
            f"**{safe(workload)}**: {safe(reason)}" + (f"<br>→ {safe(fix)}" if fix else ""),
            "",
        ]
    return joined(head, [list(table_lines(table)) for table in tables(found)], [])
