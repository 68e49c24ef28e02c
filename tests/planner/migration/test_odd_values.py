"""Documents in which any value is of an unexpected type: they are read as far as possible, and nothing is raised."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from dra_planner.errors import PlannerError
from dra_planner.migration import Target, migrate
from dra_planner.sources import Source

CASES = sorted((Path(__file__).parent / "cases").glob("*.yaml"))
ODD: tuple[Any, ...] = (None, 0, "x", "", [], {}, [None], {"a": 1}, True, 1.5)


def places(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in items:
        yield (*path, key)
        yield from places(value, (*path, key))


def replaced(data: Any, path: tuple[Any, ...], value: Any) -> Any:
    found = copy.deepcopy(data)
    parent = found
    for key in path[:-1]:
        parent = parent[key]
    parent[path[-1]] = value
    return found


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_an_odd_value_ends_in_no_traceback(path: Path) -> None:
    documents = list(yaml.safe_load_all(yaml.safe_load(path.read_text())["given"]))

    for at, place in enumerate(places(documents)):
        # Three values at each place: neighbors get the others, and all ten at each place take ten times as long.
        for value in (ODD[(3 * at + step) % len(ODD)] for step in range(3)):
            text = yaml.safe_dump_all(replaced(documents, place, value))
            try:
                migrate([Source("odd.yaml", text)], Target(minor=36, shares="4"))
            except PlannerError:
                continue
