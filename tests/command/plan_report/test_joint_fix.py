"""The change with which all workloads fit is in every report."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dra_command.plan_report.html.page import plan_html
from dra_command.plan_report.json.plan import plan_json
from dra_command.plan_report.obstacles import obstacles
from dra_planner.fleet import Fleet, read_fleet
from dra_planner.plan import Plan, PlanRequest, make_plan
from dra_planner.sources import Source


def pods(name: str, count: int) -> list[dict[str, Any]]:
    meta = {"name": name, "namespace": "ml"}
    request = {"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com"}}
    container = {"name": "main", "image": "app:1", "resources": {"claims": [{"name": "gpu"}]}}
    pod = {
        "restartPolicy": "Never",
        "containers": [container],
        "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": name}],
        "tolerations": [{"operator": "Exists"}],
    }
    return [
        {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceClaimTemplate",
            "metadata": meta,
            "spec": {"spec": {"devices": {"requests": [request]}}},
        },
        {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": meta,
            "spec": {"parallelism": count, "completions": count, "template": {"spec": pod}},
        },
    ]


def deployment(name: str, count: int) -> list[dict[str, Any]]:
    template, job = pods(name, count)
    labels = {"app": name}
    pod = {**job["spec"]["template"]["spec"], "restartPolicy": "Always"}
    spec = {
        "replicas": count,
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": pod},
    }
    return [template, {**job, "apiVersion": "apps/v1", "kind": "Deployment", "spec": spec}]


def fleet(most: int) -> Fleet:
    return read_fleet(
        {
            "cloud": "eks",
            "region": "us-east-1",
            "kubernetes": "1.36",
            "systemPool": {"machine": "m7i.large"},
            "drivers": {"nvidia": {"version": "0.4.1"}},
            "pools": [{"name": "l4", "machine": "g6.2xlarge", "count": {"min": 0, "max": most}}],
        }
    )


@pytest.fixture(scope="module")
def plan() -> Plan:
    text = "\n---\n".join(json.dumps(each) for each in (*pods("a", 3), *pods("b", 2)))
    return make_plan(PlanRequest(sources=(Source("m.yaml", text),), fleet=fleet(most=2)))


def test_html_contains_the_joint_fix(plan: Plan) -> None:
    page = plan_html(plan)

    assert '<h2 id="joint-fix">Fix for all workloads</h2>' in page
    assert "<li>set the maximum of pool &#34;l4&#34; to 5</li>" in page
    assert '<a href="#joint-fix">' in page


def test_json_contains_the_joint_fix(plan: Plan) -> None:
    found = json.loads(plan_json(plan))["joint_fix"]
    assert found["steps"] == ['set the maximum of pool "l4" to 5']
    assert found["peak_more_per_hour"] == found["more_per_hour"]  # Jobs have no rollouts


def test_json_contains_the_price_of_rollouts() -> None:
    """Given two Deployments, each rollout adds one node, so expect the price of two more."""
    text = "\n---\n".join(json.dumps(each) for name in "ab" for each in deployment(name, 3))
    plan = make_plan(PlanRequest(sources=(Source("m.yaml", text),), fleet=fleet(most=2)))

    found = json.loads(plan_json(plan))["joint_fix"]
    price = plan.pools[0].hourly_usd

    assert price is not None
    assert found["steps"] == ['set the maximum of pool "l4" to 8']
    assert (found["more_per_hour"], found["peak_more_per_hour"]) == (
        pytest.approx(float(4 * price)),
        pytest.approx(float(6 * price)),
    )


def test_workloads_with_equal_reasons_are_listed_together() -> None:
    """Given three workloads that select a label of no pool, expect one reason for them."""
    objects = [*pods("a", 3), *pods("b", 2), *pods("c", 1)]
    selecting = '"restartPolicy": "Never", "nodeSelector": {"tier": "gold"}'
    text = "\n---\n".join(map(json.dumps, objects)).replace('"restartPolicy": "Never"', selecting)
    plan = make_plan(PlanRequest(sources=(Source("m.yaml", text),), fleet=fleet(most=9)))

    (together,) = obstacles(plan)

    assert (together.subject, together.state) == (
        "Job ml/a, Job ml/b and Job ml/c",
        "6 of 6 pods pending",
    )
    assert len(list(obstacles(plan, every=True))) == 3
