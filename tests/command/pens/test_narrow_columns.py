"""Tables that are wider than a page: words stay whole, or rows become paragraphs."""

from __future__ import annotations

import io

import pytest

from dra_command.pens.terminal.page import Page
from dra_command.pens.terminal.row_paragraphs import print_table

WORKLOADS = (
    ("Workloads", "pods", "pending", "verdict", "pools"),
    ("Deployment default/at-least-40-gb", "2 → –", "0 → –", "fits → –", "h100 → –"),
    ("Job default/two-gpus-each", "4", "0 → 2", "fits → does not fit", "h100 → l4"),
)
CLAIMS = (
    ("Claims", "pod", "request", "node", "device"),
    ("default/two-gpus-each-0-gpus", "two-gpus-each-0", "gpus", "h100-0", "gpu.nvidia.com/gpu-0"),
    ("default/first-gpu", "first", "", "h100-1", "gpu.nvidia.com/gpu-4"),
)


NODES = (
    ("Pools", "machine", "nodes of max", "bound", "packing", "simulated", "USD/h"),
    ("a10x4", "g5.12xlarge", "▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓░ 36/40", "0", "15", "36", "204.19"),
    ("h200", "p5en.48xlarge", "░░░░░░░░░░░░░░░░░ 0/20", "0", "0", "0", "0.00"),
)

_NUMBERS = {WORKLOADS: (1, 2), NODES: (3, 4, 5, 6)}


def printed(
    table: tuple[tuple[str, ...], ...], columns: int, monkeypatch: pytest.MonkeyPatch
) -> list[str]:
    monkeypatch.setenv("COLUMNS", str(columns))
    file = io.StringIO()
    with Page(file) as page:
        print_table(page, table[0], table[1:], numbers=_NUMBERS.get(table, ()))
    return file.getvalue().splitlines()


@pytest.mark.parametrize("columns", [60, 66, 80])
def test_words_stay_whole_if_they_fit(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = printed(WORKLOADS, columns, monkeypatch)
    assert max(map(len, lines)) <= columns
    words = {word for line in lines for word in line.split()}
    assert words >= {word for row in WORKLOADS for cell in row for word in cell.split()}
    assert any(line.split()[-2:] == ["→", "l4"] for line in lines)


@pytest.mark.parametrize("columns", range(40, 90, 6))
def test_headings_of_numbers_stay_whole(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "\n".join(printed(NODES, columns, monkeypatch))

    assert all(word in text.split() or f"{word}:" in text for word in ("packing", "simulated"))


def test_rows_are_paragraphs_if_words_do_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    assert printed(CLAIMS, 60, monkeypatch) == [
        "Claims",
        "──────",
        "default/two-gpus-each-0-gpus",
        "  pod: two-gpus-each-0 · request: gpus · node: h100-0 ·",
        "  device: gpu.nvidia.com/gpu-0",
        "default/first-gpu",
        "  pod: first · node: h100-1 · device: gpu.nvidia.com/gpu-4",
    ]
    assert len(printed(CLAIMS, 90, monkeypatch)) == 4
