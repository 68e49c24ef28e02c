"""Fixes of `scaling-exceeds-pools` that change the actual obstacle."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import yaml

from dra_planner.fleet import read_fleet
from dra_planner.plan import PlanRequest, make_plan
from dra_planner.releases import features_of
from dra_planner.sources import Source
from dra_policies.rules import check_all, view_of
from dra_policies.rules.pools import rollout_cannot_finish
from dra_policies.rules.pools.scaling_exceeds_pools import RULE
from dra_policies.stack.views import view_of_stack


def deployment(declare: SimpleNamespace) -> list[dict[str, Any]]:
    template, job = declare.job_objects(1)
    pod = {
        **job["spec"]["template"]["spec"],
        "restartPolicy": "Always",
    }
    labels = {"app": "web"}
    spec = {
        "replicas": 1,
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": pod},
    }
    meta = {"name": "web", "namespace": "default"}
    kind = {"apiVersion": "apps/v1", "kind": "Deployment"}
    return [template, {**kind, "metadata": meta, "spec": spec}]


def resources(declare: SimpleNamespace, objects: list[dict[str, Any]]) -> list[Any]:
    return [
        declare.resource(
            f"kubernetes:{each['apiVersion']}:{each['kind']}", each["metadata"]["name"], each
        )
        for each in objects
    ]


def test_raising_a_maximum_that_the_plan_already_has_is_not_suggested(
    declare: SimpleNamespace,
) -> None:
    objects = deployment(declare)
    pools = [{"name": "l4", "machine": "g6.2xlarge", "count": {"max": 2}}]
    record = declare.record(manifests=yaml.safe_dump_all(objects), pools=pools)
    group = declare.node_group(counts=(1, 1, 1))
    view = view_of_stack([record, group, *resources(declare, objects)])

    (found,) = RULE.check(view)

    assert found.fix == (
        "save a plan for peak demand (plan --demand peak), or set autoscaler to "
        "cluster-autoscaler in the fleet, or set maxSurge to 0 and maxUnavailable to 1"
    )
    assert list(rollout_cannot_finish.RULE.check(view)) == []


def test_rollout_that_the_planned_maximum_stops_is_mandatory(declare: SimpleNamespace) -> None:
    objects = deployment(declare)
    pools = [{"name": "l4", "machine": "g6.2xlarge", "count": 1}]
    record = declare.record(manifests=yaml.safe_dump_all(objects), pools=pools)
    group = declare.node_group(counts=(1, 1, 1))
    view = view_of_stack([record, group, *resources(declare, objects)])

    (found,) = rollout_cannot_finish.RULE.check(view)

    assert rollout_cannot_finish.RULE.level == "mandatory"
    assert found.about == "Deployment default/web"
    assert "its rollouts never finish" in found.message
    assert list(RULE.check(view)) == []


def test_a_quota_that_rejects_pods_is_the_reported_reason(declare: SimpleNamespace) -> None:
    scaler = {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
            "minReplicas": 1,
            "maxReplicas": 4,
        },
    }
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "team", "namespace": "default"},
        "spec": {"hard": {"pods": "2"}},
    }
    source = Source("a.yaml", yaml.safe_dump_all([*deployment(declare), scaler, quota]))
    plan = make_plan(PlanRequest(sources=(source,), fleet=read_fleet(declare.fleet())))
    assert plan.manifests is not None

    found = [
        each
        for each in check_all(view_of(plan.manifests, features_of(34), plan))
        if each.code == RULE.id
    ]

    assert [each.fix for each in found] == [
        "raise the pod limit in ResourceQuota default/team to 5 (for peak demand), or create fewer pods"
    ]
    assert "ResourceQuota default/team limits pods to 2" in found[0].message
