"""GitHub's Markdown, with tables, code, and collapsed details. Names and messages are escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import Final

from dra_command.pens.table import Table
from dra_command.pens.visible_text import visible
from dra_planner.errors import Diagnostic
from dra_planner.wording import counted, verb

MOST_CHARACTERS: Final = 60_000
"""A comment holds 65,536 characters."""
_CODE: Final = re.compile(r"`([^`]+)`")


def safe(text: str) -> str:
    """Escape Markdown and HTML syntax. `code` in messages stays code, and the result never mentions
    a GitHub user.
    """
    parts = _CODE.split(visible(text))
    return "".join(_escaped(part) if at % 2 == 0 else code(part) for at, part in enumerate(parts))


def _escaped(text: str) -> str:
    text = escape(text, quote=False)
    for sign in "\\`*_[]|~#":
        text = text.replace(sign, f"\\{sign}")
    return (
        text.replace("@", "@<!-- -->").replace("://", ":<!-- -->//").replace("www.", "www<!-- -->.")
    )


def code(text: str) -> str:
    """Return text as a code span, even if the text contains backticks. In a table, vertical bars
    are escaped.
    """
    shown = visible(text)
    fence = "`" * (max((len(run) for run in re.findall("`+", shown)), default=0) + 1)
    gap = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{fence}{gap}{shown}{gap}{fence}".replace("|", "\\|")


def block(lines: Iterable[str], language: str = "") -> Iterator[str]:
    """Yield lines as a block of code."""
    shown = [visible(line) for line in lines]
    longest = max((len(run) for line in shown for run in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    yield from (f"{fence}{language}", *shown, fence)


def table_lines(table: Table, *, title: bool = True) -> Iterator[str]:
    """Yield the lines of a table, starting with its title."""
    if title:
        yield from (f"### {safe(table.title)}", "")
    yield "| " + " | ".join(safe(head) for head in table.heads) + " |"
    yield (
        "|"
        + "|".join("--:" if index in table.numbers else ":--" for index in range(len(table.heads)))
        + "|"
    )
    for row in table.rows:
        yield "| " + " | ".join(safe(cell) for cell in row) + " |"
    yield ""
    if table.note:
        yield from (f"<sub>{safe(table.note)}</sub>", "")


def details(summary: str, lines: Iterable[str]) -> list[str]:
    """Return lines that are collapsed under a summary, which is HTML."""
    return [f"<details><summary>{summary}</summary>", "", *lines, "</details>", ""]


def diagnostic_lines(each: Diagnostic, where: str = "") -> Iterator[str]:
    """Yield one finding about an object, and its fix."""
    place = f" {code(str(each.place))}" if str(each.place) else ""
    yield f"**{where}{each.severity}**{place} {safe(each.code)}: {safe(each.message)}" + (
        f"<br>→ {safe(each.fix)}" if each.fix else ""
    )
    yield ""


def html_code(text: str) -> str:
    """Return text as code in HTML."""
    return f"<code>{escape(visible(text))}</code>"


def joined(head: Sequence[str], folded: Sequence[list[str]], foot: Sequence[str]) -> str:
    """Return a comment that is short enough to be posted. The last folded parts are omitted first,
    with a note.
    """
    kept = list(folded)
    while True:
        left_out = len(folded) - len(kept)
        note = (
            [
                f"*{counted(left_out, 'collapsed section')} {verb(left_out, 'are')} omitted, "
                "because the comment would be too long.*",
                "",
            ]
            if left_out
            else []
        )
        text = (
            "\n".join([*head, *(line for part in kept for line in part), *note, *foot]).rstrip()
            + "\n"
        )
        if len(text) <= MOST_CHARACTERS:
            return text
        if not kept:
            return text[:MOST_CHARACTERS].rpartition("\n")[0] + "\n\n…\n"
        kept.pop()
