"""Literals of `quantity(…)` that aren't quantities."""

from __future__ import annotations

import pytest

from dra_planner.cel import Dialect, Selector, compile
from dra_planner.cel.advice.quantity_literals import invalid_literals, with_quantities
from dra_planner.releases import features_of

DIALECT = Dialect.of(features_of(36), "stored")
MEMORY = 'device.capacity["gpu.nvidia.com"].memory'


@pytest.mark.parametrize(
    ("written", "intended"),
    [
        ("20GB", "20G"),
        ("20 GB", "20G"),
        ("20GiB", "20Gi"),
        ("20GIB", "20Gi"),
        ("20gi", "20Gi"),
        ("20g", "20G"),
        ("1.5TB", "1.5T"),
        ("512MiB", "512Mi"),
        ("64K", "64k"),
        ("64kib", "64Ki"),
        ("80000000000 bytes", "80000000000"),
        ("twenty", ""),
        ("20GX", ""),
        ("", ""),
    ],
)
def test_invalid_quantity_literal_is_found(written: str, intended: str) -> None:
    selector = compile(f"{MEMORY}.compareTo(quantity('{written}')) >= 0", DIALECT)
    assert isinstance(selector, Selector)

    assert list(invalid_literals(selector.tree)) == [(written, intended)]


@pytest.mark.parametrize("written", ["20Gi", "20G", "1e3", "500m", "1.5Ti", "64k", "-1"])
def test_valid_quantity_literal_is_accepted(written: str) -> None:
    selector = compile(f'{MEMORY}.compareTo(quantity("{written}")) >= 0', DIALECT)
    assert isinstance(selector, Selector)

    assert not list(invalid_literals(selector.tree))


def test_only_the_invalid_literal_is_replaced() -> None:
    text = f'{MEMORY}.compareTo(quantity("20GB")) >= 0 && {MEMORY} != quantity("20Gi")'
    selector = compile(text.replace("!= ", "== "), DIALECT)
    assert isinstance(selector, Selector)

    assert with_quantities(text, selector.tree) == text.replace("20GB", "20G")
