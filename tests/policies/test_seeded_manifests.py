"""Each fault in manifests is found with its code and severity; there are no findings after its fix,
or for correct manifests.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
import yaml
from msgspec import Struct
from seeded_stacks import HERE, Edit, put
from stack_fixes import is_filled_from

from dra_planner.errors import Diagnostic
from dra_planner.fleet import Fleet, read_fleet
from dra_planner.plan import PlanRequest, make_plan
from dra_planner.releases import features_of
from dra_planner.sources import Source
from dra_policies.rules import check_all, view_of

FOLDER = HERE / "manifests"


class InManifest(Struct, frozen=True, kw_only=True):
    """A fault: the edit (object/path → value), the expected finding, and the edit that follows its
    fix.

    `follows` is the text of the advice as written in the code, if the row is the test of that text.
    """

    fault: str
    edit: Edit
    code: str
    severity: str
    words: str
    fix: Edit | str
    kubernetes: str = "1.36"
    follows: str = ""


ROWS = [InManifest(**row) for row in yaml.safe_load((FOLDER / "faults.yaml").read_text())]
GOOD: dict[str, Any] = yaml.safe_load((FOLDER / "good.yaml").read_text())


def edited(objects: dict[str, Any], edit: Edit) -> dict[str, Any]:
    changed = dict(objects)
    for where, value in edit.items():
        short, _, path = where.partition("/")
        if path:
            changed[short] = put(changed[short], path.split("/"), value)
        elif value is None:
            del changed[short]
        else:
            changed[short] = value
    return changed


@cache
def fleet(kubernetes: str) -> Fleet:
    return read_fleet(
        {
            "cloud": "eks",
            "region": "us-east-1",
            "kubernetes": kubernetes,
            "systemPool": {"machine": "m7i.large"},
            "drivers": {"nvidia": {"version": "25.12.0"}},
            "pools": [{"name": "l4", "machine": "g6.12xlarge", "count": {"min": 0, "max": 8}}],
        }
    )


def findings_of(objects: dict[str, Any], kubernetes: str = "1.36") -> list[Diagnostic]:
    text = "---\n".join(yaml.safe_dump(each, sort_keys=False) for each in objects.values())
    request = PlanRequest(fleet=fleet(kubernetes), sources=(Source("team.yaml", text),))
    plan = make_plan(request)
    assert plan.manifests is not None
    return list(check_all(view_of(plan.manifests, features_of(fleet(kubernetes).minor), plan)))


@pytest.mark.parametrize("kubernetes", ["1.34", "1.35", "1.36"])
def test_valid_manifests_have_no_findings(kubernetes: str) -> None:
    assert _wrong(findings_of(GOOD, kubernetes)) == []


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.code}: {row.fault}")
def test_a_fault_is_found_and_its_fix_works(row: InManifest) -> None:
    bad = edited(GOOD, row.edit)
    better = GOOD if row.fix == "undo" else edited(bad, row.fix)  # type: ignore[arg-type]  # else a mapping

    found = [each for each in findings_of(bad, row.kubernetes) if each.code == row.code]
    after = findings_of(better, row.kubernetes)

    assert [each.severity for each in found] == [row.severity], findings_of(bad, row.kubernetes)
    assert row.words in f"{found[0].message}; {found[0].fix}"
    assert is_filled_from(found[0].fix, row.follows) or not row.follows
    assert _wrong(after) == []


def _wrong(found: list[Diagnostic]) -> list[Diagnostic]:
    """Return the findings without notes about queues, or about schedulers that belong to a
    fault.
    """
    return [each for each in found if each.code not in ("queue-decides", "pod-waits-for-others")]


def test_fault_names_are_unique() -> None:
    names = [row.fault for row in ROWS]
    assert sorted(names) == sorted(set(names))
