"""Fixes for fleets are reworded for stacks in terms of resources. Every rewording belongs to a text
that still exists.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

import pytest
from fix_cases import FLEET, changed
from fix_texts import ROOT, written

from dra_planner.drivers import every_driver
from dra_planner.errors import PlannerError
from dra_planner.fleet import read_fleet
from dra_policies.stack.wording import _WORDS, in_stack_words

FLEETS: list[dict[str, Any]] = [
    {"drivers.nvidia.version": "9.9.9"},
    {"drivers.nvidia.featureGates": {"Zzz": True}},
    {
        "drivers.nvidia.version": "0.5.0",
        "drivers.nvidia.consumableShares": "memory",
        "kubernetes": "1.36",
    },
]


def settings() -> list[str]:
    """Return the forms in which advice names the settings that make a pod fit."""
    return [
        f"set {' and '.join(f'`{change}`' for change in each)} in the fleet"
        for driver in every_driver()
        for each in driver.proposals
    ]


def refusals() -> list[str]:
    found = []
    for values in FLEETS:
        with pytest.raises(PlannerError) as refused:
            read_fleet(changed(FLEET, values))
        found += [str(refused.value), *map(str, refused.value.others)]
    return found


def literals() -> Iterator[str]:
    for path in sorted((ROOT / "planner").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if "fleet" in text:
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.Constant | ast.JoinedStr):
                    yield written(node)


def test_stack_messages_do_not_mention_the_fleet_file() -> None:
    texts = [in_stack_words(text) for text in (*settings(), *refusals())]
    assert [text for text in texts if re.search(r"fleet|drivers\.", text)] == []
    assert (
        "set featureGates.ConsumableShares to true and consumableShares to memory in the driver's "
        "chart values"
    ) in texts


def test_every_stack_wording_matches_an_existing_text() -> None:
    texts = [*settings(), *refusals(), *literals()]
    assert [words for words, _ in _WORDS if not any(re.search(words, text) for text in texts)] == []
