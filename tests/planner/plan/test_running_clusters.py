"""Running clusters, what was applied to them, and what a real control plane made of it.

A file of `running_clusters/` holds a cluster as `kubectl get -A -o yaml` printed it, what was then applied, and what
became of it with kube-apiserver, kube-scheduler and kube-controller-manager 1.36.3; bound pods were marked Running.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from dra_planner.plan import Plan, PlanRequest, make_plan
from dra_planner.sources import Source

CASES = Path(__file__).parent / "running_clusters"
Json = dict[str, Any]


def load(name: str) -> Json:
    case: Json = yaml.load((CASES / f"{name}.yaml").read_text(), yaml.CSafeLoader)
    return case


def applied(case: Json) -> Plan:
    sources = (Source("applied", yaml.safe_dump_all(case["applied"])),)
    return make_plan(PlanRequest(sources=sources, observed=(Source("cluster", yaml.safe_dump_all(case["cluster"])),)))


def placed(plan: Plan) -> dict[str, dict[str, Any]]:
    return {
        f"{each.workload.namespace}/{each.workload.name}": {
            "placed": each.placed,
            "pending": each.pending,
            "nodes": dict(each.placements),
        }
        for each in plan.workloads
    }


@pytest.mark.parametrize("name", sorted(path.stem for path in CASES.glob("*.yaml")))
def test_what_is_applied_becomes_what_it_became(name):
    case = load(name)
    assert placed(applied(case)) == case["outcome"]


def test_every_cluster_is_compared():
    assert len(list(CASES.glob("*.yaml"))) == 18


def scale(case: Json, replicas: int) -> Json:
    (deployment,) = [each for each in case["applied"] if each["kind"] == "Deployment"]
    deployment["spec"]["replicas"] = replicas
    return case


def test_a_workload_that_runs_already_is_not_added_to_itself():
    """Four of its pods run on a node of eight GPUs."""
    assert placed(applied(scale(load("same-name-scale"), 4)))["default/w"] == {
        "placed": 4,
        "pending": 0,
        "nodes": {"n1": 4},
    }
    assert placed(applied(scale(load("same-name-scale"), 9)))["default/w"]["pending"] == 1
    assert placed(applied(scale(load("same-name-scale"), 1)))["default/w"]["placed"] == 1


@pytest.mark.parametrize(("pods", "placed_then"), [("3", 2), ("4", 3), ("1", 0)])
def test_a_quota_that_is_applied_again_takes_the_place_of_the_one_that_is_there(pods: str, placed_then: int):
    """One pod runs already, which the cluster counts; it lets three in before."""
    case = load("quota-pods")
    (quota,) = [each for each in case["cluster"] if each["kind"] == "ResourceQuota"]
    given = {key: quota[key] for key in ("apiVersion", "kind")}
    given |= {"metadata": {"name": "q", "namespace": "team"}, "spec": {"hard": {"pods": pods}}}
    case["applied"].append(given)
    assert placed(applied(case))["team/w"]["placed"] == placed_then


def test_a_new_template_is_rolled_out():
    """Pods of the old one hold the devices until those of the new one run; with eight wanted none is free."""
    case = scale(load("same-name-scale"), 4)
    (deployment,) = [each for each in case["applied"] if each["kind"] == "Deployment"]
    deployment["spec"]["template"]["metadata"].setdefault("annotations", {})["restarted"] = "now"
    assert placed(applied(case))["default/w"]["placed"] == 4
    deployment["spec"]["strategy"] = {"rollingUpdate": {"maxSurge": 5, "maxUnavailable": 0}}
    surging = placed(applied(case))["default/w"]
    assert (surging["placed"], surging["pending"]) == (4, 0)


def test_the_cluster_alone_is_as_it_runs():
    case = load("same-name-scale")
    plan = make_plan(PlanRequest(sources=(), observed=(Source("cluster", yaml.safe_dump_all(case["cluster"])),)))
    assert placed(plan)["default/w"]["placed"] == 4
    assert plan.verdict == "fits"


def test_pods_that_a_limit_range_refuses_are_never_created():
    case = load("limitrange-default")
    (limits,) = [each for each in case["cluster"] if each["kind"] == "LimitRange"]
    limits["spec"]["limits"][0]["max"] = {"cpu": "1"}
    plan = applied(case)
    assert placed(plan)["team/w"] == {"placed": 0, "pending": 0, "nodes": {}}
    assert [reason.code for each in plan.workloads for reason in each.reasons] == ["limit-range"]
