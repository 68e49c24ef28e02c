"""The pack with a plan whose fleet declares that the manifests contain all objects."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from dra_planner.fleet import read_fleet
from dra_planner.plan import PlanRequest, make_plan, plan_file
from dra_planner.planfile import canonical_text
from dra_planner.sources import Source
from dra_policies.rules.claims import claim_fits_no_pool
from dra_policies.rules.objects import reference_not_found
from dra_policies.stack.views import view_of_stack

PRIORITY = {
    "apiVersion": "scheduling.k8s.io/v1",
    "kind": "PriorityClass",
    "metadata": {"name": "gpu-high"},
    "value": 100,
}


def urgent(declare: SimpleNamespace) -> list[dict[str, Any]]:
    """A Job whose pods have a PriorityClass, and its claim template."""
    template, job = declare.job_objects()
    job["spec"]["template"]["spec"]["priorityClassName"] = "gpu-high"
    return [template, job]


def record(declare: SimpleNamespace, manifests: str, *more: dict[str, Any]) -> Any:
    """The record of a plan with the fleet key `manifests`."""
    text = yaml.safe_dump_all([*urgent(declare), *more])
    on = read_fleet({**declare.fleet(), "manifests": manifests})
    plan = make_plan(PlanRequest(sources=(Source("job.yaml", text),), fleet=on))
    return declare.record(canonical_text(plan_file(plan)))


@pytest.mark.parametrize(
    ("manifests", "more", "messages"),
    [
        pytest.param(
            "complete",
            [],
            [
                'Job default/train: nothing in the manifests defines PriorityClass "gpu-high", so '
                "the API server rejects the pods"
            ],
            id="complete, without the class",
        ),
        pytest.param("complete", [PRIORITY], [], id="complete, with the class"),
        pytest.param("partial", [], [], id="partial, the cluster may have the class"),
    ],
)
def test_missing_class_of_a_complete_plan_is_a_violation(
    declare: SimpleNamespace, manifests: str, more: list[dict[str, Any]], messages: list[str]
) -> None:
    view = view_of_stack([record(declare, manifests, *more), declare.node_group()])

    found = list(claim_fits_no_pool.RULE.check(view))
    assert [each.message for each in found] == messages
    assert all(each.certain and not each.remark for each in found)


def test_objects_of_the_stack_are_not_the_whole_cluster(declare: SimpleNamespace) -> None:
    """The plan's manifests can define the class, because a plan file doesn't contain them."""
    template, job = urgent(declare)
    own = [
        declare.resource("kubernetes:batch/v1:Job", "train", job),
        declare.resource("kubernetes:resource.k8s.io/v1:ResourceClaimTemplate", "t", template),
    ]
    view = view_of_stack([record(declare, "complete"), declare.node_group(), *own])

    assert list(claim_fits_no_pool.RULE.check(view)) == []
    (found,) = reference_not_found.RULE.check(view)
    assert "unless the cluster already has it" in found.message
