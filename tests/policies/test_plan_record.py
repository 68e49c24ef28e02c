"""The record of the plan must exist, be sealed, be unique, and come before the pools."""

from __future__ import annotations

import json
from types import SimpleNamespace

from dra_policies.rules.record import plan_record_invalid, plan_record_missing
from dra_policies.stack.engine_session import SeenResources
from dra_policies.stack.views import view_of_resource, view_of_stack
from dra_policies.unknown_values import UNKNOWN
from dra_policies.view.stack_view import StackView


def invalid(*resources: object) -> list[str]:
    return [finding.message for finding in plan_record_invalid.RULE.check(view_of_stack(resources))]  # type: ignore[arg-type]


def test_a_sealed_plan_passes(declare: SimpleNamespace) -> None:
    assert invalid(declare.record(), declare.node_group()) == []


def test_a_manually_edited_plan_is_invalid(declare: SimpleNamespace) -> None:
    document = json.loads(declare.plan_text())
    document["pools"][0]["nodes"]["max"] = 40

    assert invalid(declare.record(json.dumps(document))) == [
        "the plan file doesn't match its digest, so someone changed it by hand"
    ]


def test_a_plan_of_another_version_is_invalid(declare: SimpleNamespace) -> None:
    assert "version 99" in invalid(declare.record('{"version": 99}'))[0]


def test_a_plan_that_is_not_json_is_invalid(declare: SimpleNamespace) -> None:
    assert invalid(declare.record("pools: []"))[0].startswith("the plan file isn't valid JSON")


def test_a_plan_without_its_document_is_invalid(declare: SimpleNamespace) -> None:
    empty = declare.resource("pulumi-dra:index:CapacityPlan", "plan", {})

    assert invalid(empty) == ['the plan file has a "document" input that isn\'t a string']


def test_two_plans_are_invalid(declare: SimpleNamespace) -> None:
    second = declare.resource(
        "pulumi-dra:index:CapacityPlan", "other", {"document": declare.plan_text()}
    )

    assert invalid(declare.record(), second) == [
        "the plan file is registered 2 times (plan, other), but a stack can have only one plan"
    ]


def test_an_unknown_document_cannot_be_checked(declare: SimpleNamespace) -> None:
    unknown = declare.resource("pulumi-dra:index:CapacityPlan", "plan", {"document": UNKNOWN})
    only_outputs = declare.resource(
        "pulumi-dra:index:CapacityPlan", "plan", {"digest": "sha256:1", "verdict": "fits"}
    )

    for record in (unknown, only_outputs):
        (finding,) = plan_record_invalid.RULE.check(view_of_stack([record]))
        assert not finding.certain


def missing(view: StackView | None) -> list[str]:
    assert view is not None
    return [finding.message for finding in plan_record_missing.RULE.check(view)]


def test_gpu_pools_without_a_plan_are_reported(declare: SimpleNamespace) -> None:
    group = declare.node_group()

    resource = "resource pulumi-dra:index:CapacityPlan"
    message = (
        'node group "l4" is a DRA pool, '
        f"but the stack doesn't register a plan ({resource}) before the pool"
    )
    assert missing(view_of_stack([group])) == [message]
    # reported once: the resource and the stack have the same finding
    assert missing(view_of_resource(group, SeenResources([group]))) == [message]


def test_a_plan_registered_first_passes(declare: SimpleNamespace) -> None:
    record, group = declare.record(), declare.node_group()

    assert missing(view_of_stack([group, record])) == []
    assert missing(view_of_resource(group, SeenResources([record, group]))) == []


def test_non_dra_pools_need_no_plan(declare: SimpleNamespace) -> None:
    assert (
        missing(view_of_stack([declare.node_group("system", machine="m7i.large", labels={})])) == []
    )
    assert (
        missing(
            view_of_stack([declare.node_group("legacy", labels={"nvidia.com/gpu.present": "true"})])
        )
        == []
    )
