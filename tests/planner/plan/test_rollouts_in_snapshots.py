"""Rollouts on the nodes of a snapshot, whose pods hold their devices already."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import yaml
from plan_builders import deployment, fleet
from test_detail import snapshot
from test_running_clusters import load, scale

from dra_planner.plan import Plan, PlanRequest, make_plan
from dra_planner.plan.judgement.rollouts.observed import NO_ROOM
from dra_planner.sources import Source

Json = dict[str, Any]
HIGH = """\
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 100
"""
TAKES = "the plan can't tell whether its rollouts finish, because "


def plan(source: Source, *nodes: str) -> Plan:
    return make_plan(PlanRequest(sources=(source,), observed=snapshot(*nodes)))


def changed(replicas: int, **more: Any) -> Source:
    """Return two Deployment pods that need one GPU each, with other fields of its spec."""
    source = deployment(replicas=replicas)
    documents = [each for each in yaml.safe_load_all(source.text) if each]
    for each in documents:
        if each["kind"] == "Deployment":
            pod = more.pop("pod", {})
            each["spec"] |= more
            each["spec"]["template"]["spec"] |= pod
    return Source(source.name, yaml.safe_dump_all(documents))


def rolling(surge: int, unavailable: int) -> Json:
    return {"rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}}


@pytest.mark.parametrize(
    ("strategy", "nodes", "stalled"),
    [
        pytest.param(rolling(1, 0), "ab", ("Deployment default/web",), id="no room"),
        pytest.param(rolling(2, 0), "ab", ("Deployment default/web",), id="two additional pods"),
        pytest.param(rolling(1, 0), "abc", (), id="one more node"),
        pytest.param(rolling(1, 1), "ab", (), id="deletes a pod first"),
        pytest.param({"type": "Recreate"}, "ab", (), id="deletes all pods first"),
    ],
)
def test_rollout_needs_room_for_one_more_pod(
    strategy: Json, nodes: str, stalled: tuple[str, ...]
) -> None:
    made = plan(changed(2, strategy=strategy), *nodes)

    assert (made.running, made.stalled) == ("fits", stalled)
    assert [each.code for each in made.beside] == ["rollout-cannot-finish"] * len(stalled)
    if stalled:
        assert "none of the 2 nodes has room for one more pod" in made.beside[0].message
        assert made.beside[0].fix.startswith("add a node, or set the rollout's maxSurge to 0")


@pytest.mark.parametrize(("replicas", "is_stalled"), [(4, False), (7, False), (8, True)])
def test_running_pods_are_counted_once(replicas: int, is_stalled: bool) -> None:
    """Four pods run on a node with eight GPUs."""
    case = scale(copy.deepcopy(load("same-name-scale")), replicas)
    for each in case["applied"]:
        if each["kind"] == "Deployment":
            each["spec"]["strategy"] = rolling(1, 0)
    applied = Source("applied", yaml.safe_dump_all(case["applied"]))
    made = make_plan(
        PlanRequest(
            sources=(applied,), observed=(Source("c", yaml.safe_dump_all(case["cluster"])),)
        )
    )

    assert (made.running, bool(made.stalled)) == ("fits", is_stalled)


def test_pending_pods_have_no_finding_about_rollouts() -> None:
    made = plan(changed(3, strategy=rolling(1, 0)), *"ab")
    assert (made.verdict, made.beside) == ("does-not-fit", ())


def test_new_pods_that_preempt_others_are_not_judged() -> None:
    """The new pod can preempt a pod of the other workload, which has a lower priority."""
    source = changed(1, strategy=rolling(1, 0), pod={"priorityClassName": "high"})
    low = deployment(name="low").text
    made = plan(Source("app.yaml", "\n---\n".join((HIGH, source.text, low))), *"ab")

    text = f"Deployment default/web: {TAKES}its new pods can preempt pods with a lower priority"
    assert made.running == "fits"
    assert text in made.assumptions
    assert made.stalled == ("Deployment default/low",)


def test_reason_names_the_nearest_node() -> None:
    (found,) = plan(changed(2, strategy=rolling(1, 0)), *"ab").beside
    assert "(node a: the pod requests 1 device, but" in found.message
    assert NO_ROOM not in found.message


def test_reason_names_the_only_node_once() -> None:
    (found,) = plan(changed(1, strategy=rolling(1, 0)), "a").beside
    assert "but node a doesn't have room for one more pod (the pod requests 1" in found.message


def grow(unavailable: int, count: Any, nodes: str = "ab", replicas: int = 2) -> Plan:
    """Return a plan for pods on these nodes of the only pool of a fleet."""
    (source,) = snapshot(*nodes)
    label = "labels: {pulumi-dra/pool: g6-2xlarge, "
    request = PlanRequest(
        sources=(changed(replicas, strategy=rolling(1, unavailable)),),
        observed=(Source(source.name, source.text.replace("labels: {", label)),),
        fleet=fleet(("g6.2xlarge", count)),
        kubernetes="1.34",
    )
    return make_plan(request)


@pytest.mark.parametrize("unavailable", [0, 1], ids=["new pod first", "old pod first"])
def test_rollouts_can_use_nodes_that_pools_add(unavailable: int) -> None:
    made = grow(unavailable, {"min": 0, "max": 3})
    assert [each for each in made.assumptions if "rollouts" in each] == []
    assert (made.verdict, made.stalled) == ("fits", ())


@pytest.mark.parametrize(("count", "is_stalled"), [(2, True), (3, False)])
def test_rollouts_are_checked_if_no_pool_can_grow(count: int, is_stalled: bool) -> None:
    made = grow(0, count, "abc"[:count])
    assert (made.running, bool(made.stalled)) == ("fits", is_stalled)
    assert [each for each in made.assumptions if "rollouts" in each] == []


def test_stalled_rollout_on_a_full_pool_names_the_maximum_with_which_it_finishes() -> None:
    (found,) = grow(0, {"min": 0, "max": 2}).beside
    assert found.fix.startswith('raise the maximum of pool "g6-2xlarge" to 3, or set the rollout')
    assert grow(0, {"min": 0, "max": 3}).verdict == "fits"


def test_higher_maximum_for_pending_pods_is_enough_for_rollouts() -> None:
    made = grow(0, {"min": 0, "max": 3}, replicas=5)
    assert (
        made.workloads[0]
        .reasons[0]
        .fix.startswith(
            'raise the maximum of pool "g6-2xlarge" to 6. In the simulation, all pods then fit on 5'
        )
    )
    assert grow(0, {"min": 0, "max": 6}, replicas=5).verdict == "fits"
    assert grow(0, {"min": 0, "max": 5}, replicas=5).verdict == "does-not-fit"


def test_full_nodes_have_no_other_fix_than_the_higher_maximum() -> None:
    first, *others = grow(0, {"min": 0, "max": 3}, replicas=5).workloads[0].reasons
    assert first.fix
    assert [each.fix for each in others] == [""] * len(others)
