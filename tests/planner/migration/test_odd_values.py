"""Documents in which any value is of an unexpected type: they are read as far as possible, and
nothing is raised.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from dra_planner.errors import PlannerError
from dra_planner.migration import ClaimSupport, Migration, Target, migrate
from dra_planner.sources import Source
from odd_values import places, with_odd_values

CASES = sorted((Path(__file__).parent / "cases").glob("*.yaml"))


def documents_of(case: Path) -> list[Any]:
    return list(yaml.safe_load_all(yaml.safe_load(case.read_text(encoding="utf-8"))["given"]))


def new_places() -> Iterator[tuple[Path, list[tuple[Any, ...]]]]:
    """Yield each case with the places that no earlier case has: the same field of the same kind is
    tried once.
    """
    seen = set[tuple[Any, ...]]()
    for case in CASES:
        documents, new = documents_of(case), list[tuple[Any, ...]]()
        for place in places(documents):
            document = documents[place[0]]
            kind = document.get("kind") if isinstance(document, dict) else None
            field = (kind, *("[]" if isinstance(key, int) else key for key in place[1:]))
            if field not in seen:
                seen.add(field)
                new.append(place)
        yield case, new


@pytest.mark.long
@pytest.mark.parametrize(
    ("case", "new"), [pytest.param(*each, id=each[0].stem) for each in new_places()]
)
def test_odd_value_causes_no_exception(case: Path, new: list[tuple[Any, ...]]) -> None:
    documents = documents_of(case)
    for place in new:
        for odd in with_odd_values(documents, place):
            try:
                done = migrate(
                    [Source("odd.yaml", yaml.safe_dump_all(odd))],
                    Target(minor=36, support=ClaimSupport(shares="4")),
                )
            except PlannerError:
                continue
            assert isinstance(done, Migration)
