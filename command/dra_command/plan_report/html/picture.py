"""The pools of a plan as a single SVG picture for documents: demand and capacity, and the devices
of identical nodes.
"""

from __future__ import annotations

from textwrap import wrap
from typing import Final

from msgspec import Struct

from dra_command.pens.html.page import render_picture
from dra_command.pens.visible_text import short
from dra_command.plan_report.figures import in_letter_order, letters_of
from dra_command.plan_report.headline import headline
from dra_command.plan_report.html.parts import Drawer, PoolView
from dra_command.plan_report.html.shapes import Chart, Figure
from dra_planner.plan import Plan
from dra_planner.plan.nodes.groups import fill_nodes

_WIDTH: Final = 1_100
_MOST_POOLS: Final = 12
_LEFT: Final = 360  # where devices begin
_MOST_LINES: Final = 6
_LETTERS: Final = 90  # height of a text line next to the chart


class PlacedText(Struct, frozen=True):
    """A text with its position in a pool."""

    x: float
    y: float
    text: str


class PlacedPool(Struct, frozen=True):
    """A pool with its vertical position in the picture, and the positions of its figures."""

    y: float
    name: str
    machine: str
    chart: Chart | None
    lines: tuple[PlacedText, ...]
    figures: tuple[tuple[float, float, Figure], ...]


def plan_picture(plan: Plan) -> str:
    """Return the picture as an SVG document. If there are more than 12 pools, the picture contains
    only the first ones that have nodes.
    """
    filled = fill_nodes(plan)
    letters = letters_of(plan, filled)
    filled = in_letter_order(filled, letters)
    drawer = Drawer(plan, filled, letters)
    views = [drawer.pool(pool) for pool in plan.pools if filled.of_pool(pool.name)]
    placed: list[PlacedPool] = []
    y = 44.0
    for view in views[:_MOST_POOLS]:
        pool, height = _place(view, y)
        placed.append(pool)
        y += height + 18
    names = ", ".join(
        f"{letter} {short(f'{ref.namespace}/{ref.name}', 30)}" for ref, letter in letters.items()
    )
    hidden = (
        f"{len(views) - _MOST_POOLS} more pools aren't drawn. " if len(views) > _MOST_POOLS else ""
    )
    legend = wrap(f"Outline: free; hatched: stranded; {hidden}{names}", 150)[:_MOST_LINES]
    return render_picture(
        "plan_report/html/picture.svg.j2",
        title=headline(plan),
        description=" ".join(_description(view) for view in views),
        pools=placed,
        width=_WIDTH,
        height=round(y + 14 + 16 * len(legend)),
        legend=[(round(y + 6 + 16 * at), line) for at, line in enumerate(legend)],
    )


def _place(view: PoolView, top: float) -> tuple[PlacedPool, float]:
    lines: list[PlacedText] = []
    figures: list[tuple[float, float, Figure]] = []
    y = 12.0
    for group in view.groups:
        text = f"{group.title}: {group.description}" if group.description else group.title
        lines.append(PlacedText(_LEFT, y, short(text, _LETTERS)))
        x, y, row = float(_LEFT), y + 8, 0.0
        for figure in group.figures:
            if x + figure.width > _WIDTH - 32:
                x, y, row = float(_LEFT), y + row + 6, 0.0
            figures.append((round(x, 1), round(y, 1), figure))
            if figure.times > 1:
                lines.append(PlacedText(x + figure.width + 4, y + 14, f"×{figure.times}"))
            x += figure.width + (34 if figure.times > 1 else 6)
            row = max(row, figure.height)
        y += row + 22
    chart = 0 if view.chart is None else 40 + view.chart.height
    pool = PlacedPool(
        top, short(view.name, 50), short(view.machine, 52), view.chart, tuple(lines), tuple(figures)
    )
    return pool, max(y, chart, 34)


def _description(view: PoolView) -> str:
    groups = "; ".join(f"{group.title}: {group.description}" for group in view.groups)
    return f"Pool {view.name}, {view.machine}: {groups}."
