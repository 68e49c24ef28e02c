"""The plan document: its digest, its schema and its inputs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dra_planner.errors import PlanFileError
from dra_planner.fleet import Fleet, read_fleet
from dra_planner.planfile import (
    VERSION,
    PlanFile,
    canonical_text,
    check_inputs,
    file_text,
    inputs_of,
    parse_document,
    read_plan_file,
    seal,
)
from dra_planner.planfile.digest import digest
from dra_planner.sources import Source

WORKLOADS = (Source("a.yaml", "kind: A\n---\nkind: B\n"),)


def fleet(region: str = "us-east-1") -> Fleet:
    return read_fleet(
        {
            "cloud": "eks",
            "region": region,
            "kubernetes": "1.34",
            "systemPool": {"machine": "m7i.large"},
            "drivers": {"nvidia": {"version": "25.8.1"}},
            "pools": [{"name": "l4", "machine": "g6.2xlarge", "count": {"max": 4}}],
        }
    )


def content(**changes: Any) -> dict[str, Any]:
    return {
        "inputs": inputs_of(fleet(), WORKLOADS, ["apps"]),
        "kubernetes": "1.34",
        "verdict": "fits",
        "assumptions": [],
        "fleet": fleet().document(),
        "classes": [],
        "demand": {"level": "steady", "shapes": [], "sharedClaims": [], "blocked": []},
        "pools": [
            {
                "name": "l4",
                "machine": "g6.2xlarge",
                "count": {"min": 0, "bound": 1, "packing": 2, "simulated": 2, "max": 4},
                "nodes": {"min": 2, "desired": 2, "max": 4},
                "devices": {"total": 2, "used": 1, "stranded": 0},
            }
        ],
        "workloads": [],
        **changes,
    }


def test_both_text_forms_are_read_as_the_same_plan() -> None:
    plan_file = seal(content())
    assert parse_document(canonical_text(plan_file)) == plan_file
    assert parse_document(file_text(plan_file)) == plan_file


def test_plan_file_without_a_newer_field_keeps_its_digest() -> None:
    old = content()
    del old["fleet"]["headroom"], old["fleet"]["quotas"]
    old = {"version": VERSION, **old}
    old["digest"] = digest(old)
    kept = parse_document(json.dumps(old))
    assert kept.demand.gangs == ()
    assert parse_document(canonical_text(kept)) == kept


def test_integers_changed_to_floats_are_detected() -> None:
    document = json.loads(canonical_text(seal(content())))
    document["pools"][0]["nodes"]["min"] = 2.0
    with pytest.raises(PlanFileError, match="changed it by hand"):
        parse_document(json.dumps(document))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{", "isn't valid JSON"),
        ("[]", "isn't a mapping"),
        ('{"version": 99}', "version 99, but pulumi-dra requires version 1"),
        (
            json.dumps({**json.loads(canonical_text(seal(content()))), "verdict": "cannot-tell"}),
            "changed it by hand",
        ),
        ("[" * 100_000, "isn't valid JSON"),
    ],
    ids=["broken", "a list", "another version", "edited by hand", "nested"],
)
def test_invalid_plan_file_is_explained(text: str, sentence: str) -> None:
    with pytest.raises(PlanFileError, match=sentence):
        parse_document(text)


@pytest.mark.parametrize(
    "changes",
    [
        {"pools": [{"name": "l4"}]},
        {"verdict": "maybe"},
        {"extra": 1},
        {"fleet": {**fleet().document(), "cloud": "moon"}},
        {"demand": {"level": "steady"}},
        {"workloads": [{"kind": "Job"}]},
        {"pools": [{**content()["pools"][0], "nodes": {"min": 3, "desired": 2, "max": 4}}]},
    ],
    ids=[
        "a pool without counts",
        "a fourth verdict",
        "an unknown key",
        "no fleet",
        "no demand",
        "no workload",
        "counts out of order",
    ],
)
def test_invalid_content_cannot_be_sealed(changes: dict[str, Any]) -> None:
    with pytest.raises(PlanFileError):
        seal(content(**changes))


def test_document_order_and_file_names_do_not_make_a_plan_stale() -> None:
    check_inputs(
        seal(content()), fleet(), (Source("x.yaml", "kind: B\n"), Source("y.yaml", "kind: A\n"))
    )


@pytest.mark.parametrize(
    ("region", "workloads", "sentence"),
    [
        ("us-west-2", WORKLOADS, "the fleet has changed"),
        ("us-east-1", (Source("a.yaml", "kind: A\n"),), "the workloads have changed"),
        ("us-west-2", (Source("a.yaml", "kind: A\n"),), "the fleet and the workloads have changed"),
        ("us-west-2", None, "the fleet has changed"),
    ],
)
def test_stale_plan_reports_what_changed(
    region: str, workloads: tuple[Source, ...] | None, sentence: str
) -> None:
    with pytest.raises(PlanFileError, match=sentence):
        check_inputs(seal(content()), fleet(region), workloads)


def test_missing_plan_file_gets_the_command_that_writes_it(tmp_path: Path) -> None:
    with pytest.raises(PlanFileError) as caught:
        read_plan_file(tmp_path / "dev.plan.json", stack="dev")
    assert "pulumi-dra plan --stack dev --write" in caught.value.fix


def test_parts_of_a_plan_file_are_typed() -> None:
    plan_file = seal(content())
    assert plan_file.fleet == fleet()
    assert plan_file.fleet.pool("l4").machine == plan_file.pool("l4").machine
    assert plan_file.demand.level == "steady"


def test_schema_describes_every_field_of_the_fleet() -> None:
    schema = PlanFile.model_json_schema(mode="serialization")
    fields = schema["$defs"]["Network"]["properties"]
    assert fields.keys() == {"zones", "subnetIds", "prefixDelegation"}
