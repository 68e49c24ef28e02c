"""Migrations with the result that an expert wrote by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from claim_meaning import meaning
from dra_planner.migration import ClaimSupport, Result, Target, migrate
from dra_planner.sources import Source

CASES = sorted((Path(__file__).parent / "cases").glob("*.yaml"))


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_migrated_manifest_has_the_meaning_of_the_experts_version(path: Path) -> None:
    case = yaml.safe_load(path.read_text())
    target = Target(minor=36, support=ClaimSupport(shares=case["shares"]))

    found = migrate([Source("given.yaml", case["given"])], target)

    assert meaning(found.files[0].text) == meaning(case["expect"])
    assert all(each.result is Result.REWRITTEN for each in found.templates)


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_a_second_migration_changes_nothing(path: Path) -> None:
    case = yaml.safe_load(path.read_text())
    target = Target(minor=36, support=ClaimSupport(shares=case["shares"]))
    once = migrate([Source("given.yaml", case["given"])], target).files[0].text

    again = migrate([Source("given.yaml", once)], target)

    assert again.files[0].text == once
    assert not again.templates
