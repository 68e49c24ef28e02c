"""The figures of HTML reports as simple shapes with positions and sizes, which templates render as
SVG.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import Final

from msgspec import Struct

from dra_command.plan_report.figures import MOST_CELLS
from dra_planner.plan.nodes.devices import NIC, NodeDevice
from dra_planner.plan.nodes.groups import NodeGroup

_GIBIBYTE: Final = 1024
_LEAST, _MOST = 14, 170  # width of one device in pixels
_HEIGHT: Final = 22
_NIC_WIDTH, _NIC_HEIGHT = 8, 8
_MOST_BOARDS: Final = 16
_CELL: Final = 15
_BAR: Final = 216
_COMPUTE: Final = re.compile(r"(\d+)(?:c\.\d+)?g\.|^(\d+)g")

Look = Callable[[NodeDevice], tuple[str, str]]
"""The style class and the letter of a device."""


class Box(Struct, frozen=True):
    """A rectangle with a style, and a letter in its center."""

    x: float
    y: float
    width: float
    height: float
    style: str
    letter: str = ""


class Figure(Struct, frozen=True):
    """Boxes and lines on a background of this size. `times` is the number of identical figures in a
    row.
    """

    width: float
    height: float
    boxes: tuple[Box, ...]
    lines: tuple[str, ...] = ()  # path data
    times: int = 1


class ChartRow(Struct, frozen=True):
    """One demand, compared with the nodes of a pool."""

    label: str
    y: int
    boxes: tuple[Box, ...]
    number: str
    verdict: str
    is_judged: bool


class Chart(Struct, frozen=True):
    """The number of nodes for each demand, the maximum as a line, and a sentence that describes the
    figure. `packed` lists the demands that weren't simulated.
    """

    rows: tuple[ChartRow, ...]
    maximum: int
    line: float
    height: int
    sentence: str
    packed: str = ""
    ticks: tuple[tuple[float, int], ...] = ()


class LevelNodes(Struct, frozen=True, kw_only=True):
    """Nodes of a pool at one demand: the proven number, the number that the scheduler or the
    packing needs, and the verdict.

    `is_packed` is set if the number comes from the packing, although other demands were simulated.
    """

    level: str
    bound: int
    needed: int
    verdict: str
    sign: str
    is_judged: bool
    is_packed: bool = False


def chart_of(pool: str, levels: Sequence[LevelNodes], maximum: int) -> Chart:
    """Return a row of cells for each demand, or bars if there are too many nodes for cells."""
    most = max([maximum, *(max(each.needed, each.bound) for each in levels), 1])
    step = min(_CELL, _BAR / most)
    rows = []
    for number, each in enumerate(levels):
        y = 24 + 20 * number
        rows.append(
            ChartRow(
                label=each.level,
                y=y,
                boxes=tuple(_cells(each, maximum, step, y, solid=most > MOST_CELLS)),
                number=f"{max(each.needed, each.bound if each.bound > maximum else 0)}",
                verdict=each.sign,
                is_judged=each.is_judged,
            )
        )
    demands = ", ".join(
        f"{each.level} {max(each.needed, each.bound)} ({each.verdict})" for each in levels
    )
    bound = ", ".join(f"{each.level} {each.bound}" for each in levels)
    quarters = (round(most * part / 4) for part in range(5)) if most > MOST_CELLS else ()
    return Chart(
        rows=tuple(rows),
        maximum=maximum,
        line=round(64 + maximum * step, 1),
        height=24 + 20 * len(levels),
        sentence=f"Nodes in pool {pool} at each demand level: {demands}; lower bound: {bound}; "
        f"maximum: {maximum}.",
        packed=" and ".join(each.level for each in levels if each.is_packed),
        ticks=tuple((round(64 + tick * step, 1), tick) for tick in quarters),
    )


def _cells(each: LevelNodes, maximum: int, step: float, y: int, *, solid: bool) -> Iterable[Box]:
    built = min(max(each.needed, 0), max(maximum, each.needed))
    bound = min(each.bound, built)
    runs = [
        (0, bound, "f1"),
        (bound, built, "f2"),
        (built, maximum, "allow"),
        (max(built, maximum), each.bound, "over"),
    ]
    for start, end, style in runs:
        if end <= start:
            continue
        if solid:
            yield Box(round(64 + start * step, 1), y, round((end - start) * step, 1), 12, style)
            continue
        for cell in range(start, end):
            yield Box(round(64 + cell * step, 1), y, round(step - 2, 1), 12, style)


def node_figures(group: NodeGroup, look: Look) -> list[Figure]:
    """Return the GPUs of one node, each with its MIG devices, and with the network interfaces on
    the same PCIe root below it.
    """
    roots: dict[str, list[NodeDevice]] = {}
    for at, device in enumerate(group.devices):
        known = device.root and any(
            other.kind != NIC and other.root == device.root for other in group.devices
        )
        roots.setdefault(
            device.root if known else f"{'nics' if device.kind == NIC else at}", []
        ).append(device)
    figures = []
    for devices in roots.values():
        boards: dict[str, list[NodeDevice]] = {}
        nics = [each for each in devices if each.kind == NIC]
        for device in devices:
            if device.kind != NIC:
                boards.setdefault(device.board or device.name, []).append(device)
        figures.append(_below_root(list(boards.values()), nics, group, look))
    if len(figures) <= _MOST_BOARDS:
        return figures
    return [
        Figure(figure.width, figure.height, figure.boxes, figure.lines, len(list(alike)))
        for figure, alike in groupby(figures)
    ]


def _below_root(
    boards: list[list[NodeDevice]], nics: list[NodeDevice], group: NodeGroup, look: Look
) -> Figure:
    boxes: list[Box] = []
    x = 0.5
    for slices in boards:
        drawn = _sliced(slices, group, look, x) if _is_sliced(slices) else _whole(slices, look, x)
        boxes += drawn
        x = max(box.x + box.width for box in drawn) + 4
    width = x - 4 if boards else 0
    height = max((box.y + box.height for box in boxes), default=0) + 0.5
    lines: tuple[str, ...] = ()
    if nics:
        top = height + (6 if boards else 0)
        per_row = max(4, int(max(width, 32) // (_NIC_WIDTH + 2)))
        for number, nic in enumerate(nics):
            row, column = divmod(number, per_row)
            style, _ = look(nic)
            left, above = 0.5 + column * (_NIC_WIDTH + 2), top + row * (_NIC_HEIGHT + 2)
            boxes.append(Box(left, above, _NIC_WIDTH, _NIC_HEIGHT, style))
        span = min(len(nics), per_row) * (_NIC_WIDTH + 2) - 2
        if boards:
            lines = (f"M{min(width, span) / 2:g} {height - 0.5:g}v3M.5 {top:g}v-3h{span - 1:g}v3",)
        width = max(width, span)
        height = max(box.y + box.height for box in boxes) + 0.5
    return Figure(round(width + 1, 1), round(height, 1), tuple(boxes), lines)


def _whole(devices: list[NodeDevice], look: Look, x: float) -> list[Box]:
    (device, *_) = devices
    style, letter = look(device)
    return [Box(x, 0.5, _width(device.memory_mib), _HEIGHT, style, letter)]


def _is_sliced(devices: list[NodeDevice]) -> bool:
    return len(devices) > 1 or bool(devices[0].board)


def _sliced(devices: list[NodeDevice], group: NodeGroup, look: Look, x: float) -> list[Box]:
    """Return memory slices above compute slices. The figure is twice as wide as a whole GPU, and
    unused slices are dotted.
    """
    columns = group.slices_per_gpu or max((each.start or 0) + (each.size or 1) for each in devices)
    step = round(min(2 * _width(group.gpu_memory_mib), 150) / columns, 1)
    computes = max(1, columns - 1)
    boxes: list[Box] = []
    covered: set[int] = set()
    compute = 0
    compute_step = columns * step / computes
    ordered = sorted(
        (each for each in devices if not each.is_rest), key=lambda each: each.start or 0
    )
    free = next((column for column in range(columns)), 0)
    for device in ordered:
        style, letter = look(device)
        start = device.start if device.start is not None else free
        size = device.size or 1
        free = start + size
        covered |= set(range(start, start + size))
        boxes.append(
            Box(round(x + start * step, 1), 0.5, round(size * step - 1.5, 1), 16, style, letter)
        )
        found = _COMPUTE.search(device.profile)
        width = int(found[1] or found[2]) if found else 0
        if width and compute + width <= computes:
            boxes.append(
                Box(
                    round(x + compute * compute_step, 1),
                    19,
                    round(width * compute_step - 1.5, 1),
                    6,
                    style,
                )
            )
            compute += width
    rest = next((each for each in devices if each.is_rest), None)
    style = look(rest)[0] if rest is not None else "off"
    uncovered = (column for column in range(columns) if column not in covered)
    boxes += (
        Box(round(x + column * step, 1), 0.5, round(step - 1.5, 1), 16, style)
        for column in uncovered
    )
    boxes += (
        Box(round(x + column * compute_step, 1), 19, round(compute_step - 1.5, 1), 6, style)
        for column in range(compute, computes)
    )
    return boxes


def _width(memory_mib: int | None) -> float:
    if memory_mib is None:
        return 40
    return round(min(_MOST, max(_LEAST, memory_mib / _GIBIBYTE)), 1)


def held_cells(cells: Iterable[tuple[str, str]]) -> Figure:
    """Return the devices of one node as a row of cells, each with a style and a letter."""
    boxes = tuple(
        Box(0.5 + 17 * at, 0.5, 15, 15, style, letter) for at, (style, letter) in enumerate(cells)
    )
    return Figure(max(17 * len(boxes), 1), 16, boxes)
