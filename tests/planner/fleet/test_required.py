"""If a fleet lacks a required key, the error contains an example that the reader accepts."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from dra_planner.errors import FleetError
from dra_planner.fleet import read_fleet

FILES = sorted(Path(__file__).parents[3].glob("stacks/Pulumi.*.yaml"))
Where = tuple[str | int, ...]


def _fleet(file: Path) -> dict[str, Any]:
    fleet: dict[str, Any] = yaml.safe_load(file.read_text(encoding="utf-8"))["config"][
        "pulumi-dra:fleet"
    ]
    return fleet


def _keys(data: object, at: Where = ()) -> Iterator[Where]:
    if isinstance(data, dict):
        for key, value in data.items():
            yield (*at, key)
            yield from _keys(value, (*at, key))
    elif isinstance(data, list):
        for index, value in enumerate(data):
            yield from _keys(value, (*at, index))


def _parent(data: Any, at: Where) -> Any:
    for part in at[:-1]:
        data = data[part]
    return data


def _missing(data: dict[str, Any]) -> Iterator[FleetError]:
    """The faults of a fleet that are about a missing key."""
    try:
        read_fleet(data)
    except FleetError as error:
        yield from (each for each in (error, *error.others) if each.message == "is missing")


def _without(file: Path, at: Where) -> dict[str, Any]:
    fleet = copy.deepcopy(_fleet(file))
    del _parent(fleet, at)[at[-1]]
    return fleet


CASES = [
    pytest.param(file, at, id=f"{file.stem}-{'.'.join(map(str, at))}")
    for file in FILES
    for at in _keys(_fleet(file))
    if any(_missing(_without(file, at)))
]


def test_cases_cover_every_cloud_and_required_key() -> None:
    assert {_fleet(case.values[0])["cloud"] for case in CASES} == {"eks", "gke", "aks"}  # type: ignore[index,arg-type]  # values of ParameterSet are untyped
    assert {str(case.values[1][-1]) for case in CASES} >= {
        "cloud",
        "region",
        "kubernetes",
        "systemPool",
        "machine",
    }  # type: ignore[index]  # as above


@pytest.mark.parametrize(("file", "at"), CASES)
def test_fix_for_a_missing_key_works(file: Path, at: Where) -> None:
    fleet = _without(file, at)
    (fault,) = _missing(fleet)
    _, _, example = fault.fix.partition("use, for example, ")
    assert example, f"{at} is missing: {fault.fix!r}"
    _parent(fleet, at).update(yaml.safe_load(example.partition(" (known: ")[0]))
    assert not list(_missing(fleet))
    read_fleet(fleet)
