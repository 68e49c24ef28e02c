"""Fields that a plan file doesn't contain, so custom rules can't read them in the policy pack."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from dra_planner.cel.values import UnknownValue
from dra_planner.fleet import read_fleet_file
from dra_planner.plan import PlanRequest, make_plan
from dra_planner.sources import read_sources
from dra_policies.configuration.custom.object_types import OBJECT_TYPES, Subject
from dra_policies.configuration.custom.published_objects import PublishedObjects
from dra_policies.rules import view_of

EXAMPLES = Path(__file__).parents[3] / "examples"


@pytest.mark.parametrize(("subject", "kind"), [("workload", "Workload"), ("claim", "Claim")])
def test_table_marks_required_and_optional_fields(subject: Subject, kind: str) -> None:
    fleet = read_fleet_file(EXAMPLES / "eighty-gi" / "fleet.yaml")
    sources = read_sources([EXAMPLES / "workloads"])
    plan = make_plan(PlanRequest(sources=sources, fleet=fleet))
    assert plan.manifests is not None
    view = view_of(plan.manifests, plan.judgement.features, plan)
    marked = {name for name, field in OBJECT_TYPES[kind].items() if field.needs_manifests}

    full = unknown_fields(PublishedObjects(view), subject, kind)
    without = unknown_fields(PublishedObjects(replace(view, manifests=None)), subject, kind)

    assert {name for _, name in without - full} == marked
    assert {path for path, name in without if name == "labels"} == {
        f'the field "labels" of {each.name}'
        for each in PublishedObjects(replace(view, manifests=None)).of(subject)
    }


def unknown_fields(objects: PublishedObjects, subject: Subject, kind: str) -> set[tuple[str, str]]:
    """Return the unknown fields of all objects: the text that names them, and their name."""
    return {
        (value.path, name)
        for each in objects.of(subject)
        for name, value in filter(None, map(each.value.find, OBJECT_TYPES[kind]))
        if isinstance(value, UnknownValue)
    }
