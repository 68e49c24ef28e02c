"""Each component has an example, and all examples run."""

from __future__ import annotations

import json
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples/components").glob("*.py"))
COMPONENTS = json.loads((ROOT / "docs/schema/components.json").read_text(encoding="utf-8"))[
    "resources"
]


@pytest.fixture(scope="module")
def declared(declare: Callable[..., Any]) -> dict[str, Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        return {
            path.stem: declare(lambda path=path: (runpy.run_path(str(path)), None)[1])
            for path in EXAMPLES
        }


def test_every_component_has_an_example(declared: dict[str, Any]) -> None:
    shown = {each.type for of_one in declared.values() for each in of_one.resources}
    assert COMPONENTS.keys() - shown == set()


def test_resources_wait_for_the_recorded_plan(declared: dict[str, Any]) -> None:
    """A record doesn't have children, so a resource that depends on the component itself doesn't
    wait.
    """
    own = [
        each
        for each in declared["platform"].resources
        if each.parent == "own" and not each.type.startswith("pulumi:")
    ]
    assert len(own) > 10
    assert [each.name for each in own if "plan" not in each.depends_on] == []


def test_reference_shows_every_example() -> None:
    page = (ROOT / "docs/reference/components.md").read_text(encoding="utf-8")
    sections = dict(part.split("\n", 1) for part in page.split("\n## ")[1:])
    names = [token.rpartition(":")[2] for token in COMPONENTS]
    assert [
        name for name in names if f"{name}(" not in sections[name].partition("```python")[2]
    ] == []
