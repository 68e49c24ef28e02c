"""Fixes of `scaling-exceeds-pools` that change the actual obstacle."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from dra_planner.fleet import read_fleet
from dra_planner.plan import Judgement, PlanRequest, make_plan
from dra_planner.plan.judgement import demand_levels
from dra_planner.plan.judgement.rollouts.stalled import ROLLOUT_STEPS, check_rollouts
from dra_planner.releases import features_of
from dra_planner.sources import Source
from dra_policies.rules import check_all, view_of
from dra_policies.rules.pools import rollout_cannot_finish
from dra_policies.rules.pools.scaling_exceeds_pools import RULE
from dra_policies.stack.views import view_of_stack
from dra_policies.view import stalled_rollouts as rollouts
from dra_policies.view.stack_view import StackView


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


def checked(declare: SimpleNamespace, objects: list[dict[str, Any]]) -> StackView:
    """Return the view of objects on a pool with one node."""
    source = Source("a.yaml", yaml.safe_dump_all(objects))
    pools = [{"name": "l4", "machine": "g6.2xlarge", "count": 1}]
    plan = make_plan(PlanRequest(sources=(source,), fleet=read_fleet(declare.fleet(pools=pools))))
    assert plan.manifests is not None
    return view_of(plan.manifests, features_of(34), plan)


def test_rollouts_are_checked_once_for_all_rules(
    declare: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[Judgement] = []
    monkeypatch.setattr(
        rollouts, "check_rollouts", lambda each: calls.append(each) or check_rollouts(each)
    )
    view = checked(declare, deployment(declare))

    found = [*rollout_cannot_finish.RULE.check(view), *RULE.check(view)]

    assert calls == [view.judgement]
    assert [each.about for each in found] == ["Deployment default/web"]


@pytest.mark.parametrize("plan_steps", [ROLLOUT_STEPS, 0])
def test_unchecked_rollouts_are_those_of_the_plan(
    declare: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, plan_steps: int
) -> None:
    """The rule doesn't report a rollout that the plan could check, for example without guards."""
    monkeypatch.setattr(demand_levels, "check_rollouts", partial(check_rollouts, steps=plan_steps))
    monkeypatch.setattr(rollouts, "check_rollouts", partial(check_rollouts, steps=0))

    found = rollout_cannot_finish.RULE.check(checked(declare, deployment(declare)))

    assert ["isn't checked" in each.message for each in found] == [True] * (plan_steps == 0)


def test_group_that_only_new_controllers_add_is_a_remark(declare: SimpleNamespace) -> None:
    """An older controller creates no second group, although the pool has capacity for it."""
    template, web = deployment(declare)
    pod = web["spec"]["template"]
    pod["spec"] = {
        "containers": [{"name": "c", "image": "x"}],
        "tolerations": [{"operator": "Exists"}],
    }
    limits = {"maxSurge": 1, "maxUnavailable": 0}
    groups = {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {
            "replicas": 1,
            "leaderWorkerTemplate": {"size": 1, "workerTemplate": pod},
            "rolloutStrategy": {"type": "RollingUpdate", "rollingUpdateConfiguration": limits},
        },
    }

    (found,) = rollout_cannot_finish.RULE.check(checked(declare, [template, groups]))

    assert found.remark
    assert "controllers before version 0.9.0 don't create a second group" in found.message
