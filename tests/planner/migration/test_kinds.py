"""The migration of each kind of object: its pod templates, and the report about it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from dra_planner.migration import Result, Target, migrate
from dra_planner.sources import Source

CASES = yaml.safe_load((Path(__file__).parent / "kinds.yaml").read_text())
REQUEST = re.compile(r"nvidia\.com/(gpu|mig-[\w.]+)['\"]?: *['\"]?[1-9]")


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["name"]))
def test_object_migrates_as_its_controller_supports(case: dict[str, Any]) -> None:
    found = migrate([Source("a.yaml", case["given"])], Target(minor=36))

    results = [f"{each.result.value} {each.pods} {each.devices}" for each in found.templates]
    assert results == case["results"]
    texts = [text for each in found.templates
            for text in (each.reason, *each.notes, *each.alternatives)]  # fmt: skip
    texts += [each.what for each in found.changes]
    for text in case["texts"]:
        assert any(text in each for each in texts), texts
    if results and all(each.result is Result.REWRITTEN for each in found.templates):
        pods = found.files[0].text.split("kind: Queue")[0]
        assert not REQUEST.search(pods)
        assert migrate([Source("a.yaml", found.files[0].text)], Target(minor=36)).files[0].text == (
            found.files[0].text
        )
    elif found.templates:
        assert not found.files[0].is_changed


def test_fix_for_a_provisioning_request_config_works() -> None:
    (case,) = [each for each in CASES if each["name"] == "provisioning-request-config"]
    lines = case["given"].splitlines(keepends=True)
    fixed = "".join(line for line in lines if "managedResources" not in line)

    (change,) = migrate([Source("a.yaml", case["given"])], Target(minor=36)).changes

    assert change.what.endswith(
        "remove managedResources, or add a resource that these jobs request"
    )
    assert not migrate([Source("a.yaml", fixed)], Target(minor=36)).changes
