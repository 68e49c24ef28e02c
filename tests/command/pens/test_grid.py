"""Tables of reports on phones and tablets: the class decides where labels and numbers stand."""

from __future__ import annotations

import re

import pytest

from dra_command.pens.html.grid import grid
from dra_command.pens.table import Table


def table(*heads: str, numbers: set[int]) -> Table:
    return Table("T", heads, (tuple(f"cell {at}" for at in range(len(heads))),), frozenset(numbers))


@pytest.mark.parametrize(
    ("given", "classes"),
    [
        pytest.param(
            table("workload", "free", "one more, USD/h", "nodes", numbers={1, 2}),
            "stack lines",
            id="two numbers are lines with their labels",
        ),
        pytest.param(
            table("pool", "nodes", "USD/h each", "USD/h", numbers={1, 2, 3}),
            "stack thirds",
            id="three numbers fill a row",
        ),
        pytest.param(
            table("pool", "bound", "packing", "simulated", "max", numbers={1, 2, 3, 4}),
            "stack",
            id="four numbers are next to each other",
        ),
        pytest.param(
            table("cluster", "nodes", "lost", "pods", "most", numbers={1, 2, 4}),
            "stack lines",
            id="numbers around a text are lines",
        ),
        pytest.param(
            table("pool", "a", "b", "unbreakablelabels", numbers={1, 2, 3}),
            "stack lines",
            id="a long label needs its own line",
        ),
        pytest.param(
            table("a", "b", "c", "d", "e", "f", "g", numbers=set()),
            "stack lines early",
            id="seven texts don't fit on a tablet",
        ),
    ],
)
def test_rows_are_blocks_on_a_phone(given: Table, classes: str) -> None:
    page = grid(given)
    assert re.findall('<table role="table" class="([^"]*)"', page) == [classes]
    for head in given.heads:
        assert f'data-l="{head}"' in page


def test_table_stays_a_table_on_a_phone() -> None:
    assert (
        "class="
        not in grid(table("order", "packing", numbers={1}), stacks=False)
        .partition(">")[2]
        .partition("<th")[0]
    )
