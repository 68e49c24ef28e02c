"""Selectors on devices: verdict, message and cost, as Kubernetes' own library gives them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from dialects import new, stored

from dra_planner.cel import Dialect, RejectedSelector, compile

HERE = Path(__file__).parent
DEVICES = yaml.safe_load((HERE / "devices.yaml").read_text())
CASES = [
    pytest.param(case, id=f"{path.stem}-{number}-{case['expression'][:60]}")
    for path in sorted((HERE / "cases").glob("*.yaml"))
    for number, case in enumerate(yaml.safe_load(path.read_text()), 1)
]
MINORS = (34, 35, 36, 37)
VERDICTS = {"match": "match", "no-match": "no-match", "runtime-error": "error"}


def dialects(case: dict[str, Any]) -> list[Dialect]:
    gates = {"list_attributes": True, "consumable_capacity": True, **case.get("gates", {})}
    make = new if case.get("environment") == "new" else stored
    return [
        make(minor, **gates)
        for minor in MINORS
        if case.get("since", 34) <= minor <= case.get("until", 99)
    ]


def test_there_are_enough_cases() -> None:
    assert len(CASES) >= 481


@pytest.mark.parametrize("case", CASES)
def test_selector_has_the_result_of_kubernetes(case: dict[str, Any]) -> None:
    case_dialects = dialects(case)
    assert case_dialects
    for dialect in case_dialects:
        selector = compile(case["expression"], dialect)
        if case["expect"] == "compile-error":
            assert isinstance(selector, RejectedSelector), dialect
            assert case.get("message", "") in selector.message
            continue
        assert not isinstance(selector, RejectedSelector), (dialect, selector)
        outcome = selector.matches(DEVICES[case["device"]])
        assert outcome.verdict == VERDICTS[case["expect"]], (dialect, outcome)
        assert case.get("message", "") in outcome.message
        if dialect.minor <= 36:
            assert outcome.cost == case.get("cost", outcome.cost), dialect
            assert selector.estimated_cost == case.get("estimate", selector.estimated_cost), dialect
