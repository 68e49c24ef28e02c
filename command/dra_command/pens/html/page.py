"""Rendering of pages from templates. Text is escaped, invisible characters are shown, and pages
don't load anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from msgspec import Struct

from dra_command.pens.html.grid import grid
from dra_command.pens.html.line_breaks import CODE, wrapped
from dra_command.pens.html.style import page_style, picture_style, security_policy
from dra_command.pens.signs import DRAWN
from dra_command.pens.verdict_words import VERDICT_WORDS
from dra_command.pens.visible_text import visible
from dra_planner.errors import Diagnostic

TEMPLATES: Final = Path(__file__).parents[2]
"""The package with the templates. A template's name starts with its folder, which is the folder of
the module that fills the template.
"""
Parts = tuple[tuple[bool, str], ...]
"""A message as (is code, text)."""


class ReportEntry(Struct, frozen=True, kw_only=True):
    """One finding: a workload that doesn't fit, or a problem with an object. `kind` is a verdict or
    a severity.
    """

    kind: str
    subject: str
    place: str = ""
    lines: tuple[tuple[Parts, Parts], ...]
    changes: tuple[tuple[str, str], ...] = ()
    changed_for: str = ""  # the pool for which the changes are, if others need different changes


def render_page(
    template: str,
    *,
    where: str,
    verdict: str,
    decision: str,
    headline: str = "",
    style: str = "",
    **context: Any,
) -> str:
    """Return the page that a template renders, with a newline at its end. By default, `headline` is
    the verdict in words. `style` contains the page's styles in addition to the common styles, and
    the page can't use any other style.
    """
    style = page_style() + style
    words = headline or VERDICT_WORDS[verdict].capitalize()  # type: ignore[index]  # a verdict
    text = (
        _environment()
        .get_template(template)
        .render(
            style=Markup(style),  # our own text, whose digest is in the content security policy
            policy=security_policy(style),
            title=(f"{words}: {decision}" if decision else words)[:150],
            where=where,
            verdict=verdict,
            headline=words,
            decision=decision,
            words=VERDICT_WORDS,
            signs=DRAWN,
            **context,
        )
    )
    return f"{text.rstrip()}\n"


def render_picture(template: str, **context: Any) -> str:
    """Return the SVG document that a template renders, with a newline at its end."""
    text = _environment().get_template(template).render(style=Markup(picture_style()), **context)
    return f"{text.strip()}\n"


def coded(message: str) -> Parts:
    """Return a message as a list of parts. Text in backticks is code."""
    parts = CODE.split(message)
    return tuple((at % 2 == 1, part) for at, part in enumerate(parts) if part)


def coded_lines(lines: Iterable[tuple[str, str]]) -> tuple[tuple[Parts, Parts], ...]:
    """Return pairs of a problem and a fix, as lists of parts."""
    return tuple((coded(what), coded(fix)) for what, fix in lines)


def diagnostic_entry(found: Diagnostic) -> ReportEntry:
    """Return one finding about an object."""
    lines = coded_lines([(found.message, found.fix)])
    subject = f"{found.severity}: {found.code}"
    return ReportEntry(kind=found.severity, subject=subject, place=str(found.place), lines=lines)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.filters |= {"coded": coded, "grid": grid, "wrapped": wrapped}
    return environment


def _shown(value: object) -> object:
    """Return a value as templates print it: external text with invisible characters shown, and our
    own markup unchanged.
    """
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def fold(items: Sequence[Any], most: int) -> tuple[Sequence[Any], Sequence[Any]]:
    """Return the items to show, and the items to collapse."""
    return (items, ()) if len(items) <= most + 1 else (items[:most], items[most:])
