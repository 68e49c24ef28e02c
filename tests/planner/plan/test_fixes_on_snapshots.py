"""One change for all workloads on the nodes of a snapshot: changes of pods, additional nodes, and
higher maximums.
"""

from __future__ import annotations

from typing import Any

import pytest
from plan_builders import deployment, fleet
from test_detail import snapshot
from test_rollouts_in_snapshots import changed, grow, rolling

from dra_planner.fleet import Fleet
from dra_planner.plan import Plan, PlanRequest, make_plan
from dra_planner.sources import Source

TAINT = "\nspec: {taints: [{key: nvidia.com/gpu, value: present, effect: NoSchedule}]}\nstatus:"
TOLERATION = (
    "add to the pod's tolerations: "
    '{key: nvidia.com/gpu, operator: Equal, value: "present", effect: NoSchedule}'
)


def nodes(*names: str, taint: str = TAINT, old: str = "", new: str = "") -> tuple[Source, ...]:
    (source,) = snapshot(*names)
    text = source.text.replace("\nstatus:", taint).replace(old, new, int(bool(old)))
    return (Source(source.name, text),)


def plan(*sources: Source, on: tuple[Source, ...], to: Fleet | None = None) -> Plan:
    request = PlanRequest(sources=sources, observed=on, fleet=to, kubernetes="1.36")
    return make_plan(request)


def steps(made: Plan) -> tuple[str, ...]:
    return () if made.joint_fix is None else made.joint_fix.steps


def web(replicas: int, **pod: Any) -> Source:
    return changed(replicas, strategy=rolling(1, 0), pod=pod)


def test_change_of_pods_includes_the_nodes_for_their_rollouts() -> None:
    made = plan(web(2, tolerations=[]), on=nodes(*"ab"))
    assert steps(made) == (f"Deployment default/web: {TOLERATION}", "add 1 node like a")
    assert plan(web(2), on=nodes(*"abc")).verdict == "fits"
    assert plan(web(2), on=nodes(*"ab")).verdict == "does-not-fit"


def test_change_states_the_number_of_nodes_including_rollouts() -> None:
    assert steps(plan(web(5), on=nodes(*"ab"))) == ("add 4 nodes like a",)
    assert plan(web(5), on=nodes(*"abcdef")).verdict == "fits"
    assert plan(web(5), on=nodes(*"abcde")).verdict == "does-not-fit"


def test_requests_of_too_many_devices_are_lowered_before_nodes_are_added() -> None:
    made = plan(deployment(replicas=2, gpus=2), on=nodes("a"))
    assert steps(made) == (
        'Deployment default/web: request 1 device instead of 2 in request "gpu"',
        "add 2 nodes like a",
    )


@pytest.mark.parametrize(
    ("source", "on"),
    [
        pytest.param(changed(3, strategy=rolling(0, 1)), nodes(*"ab"), id="one more node"),
        pytest.param(deployment(replicas=2), nodes(*"ab"), id="all pods fit"),
        pytest.param(web(2), nodes(*"ab"), id="only a rollout stalls"),
        pytest.param(
            changed(1, pod={"tolerations": []}), nodes(*"ab"), id="only a toleration is missing"
        ),
        pytest.param(
            changed(2, pod={"nodeSelector": {"kubernetes.io/hostname": "a"}}),
            nodes(*"ab"),
            id="pods select a full node",
        ),
        pytest.param(
            deployment(replicas=3),
            nodes("a", taint=TAINT.replace("taints", "unschedulable: true, taints")),
            id="cordoned node",
        ),
        pytest.param(
            deployment(replicas=3),
            nodes("a", old="gpu-0,", new="gpu-0, taints: [{key: x, effect: NoSchedule}],"),
            id="unhealthy device",
        ),
    ],
)
def test_fix_of_the_only_workload_is_not_repeated(source: Source, on: tuple[Source, ...]) -> None:
    assert plan(source, on=on).joint_fix is None


def in_pool(*names: str) -> tuple[Source, ...]:
    (source,) = nodes(*names)
    label = "labels: {pulumi-dra/pool: g6-2xlarge, "
    return (Source(source.name, source.text.replace("labels: {", label)),)


def test_growing_fleet_gets_one_change_for_all_workloads() -> None:
    wanted = (web(4), deployment("large", gpus=2))
    made = plan(*wanted, on=in_pool(*"ab"), to=fleet(("g6.2xlarge", {"min": 0, "max": 3})))

    # pods of the first workload also use the added pool
    (added,) = steps(made)
    assert added.startswith("add a pool with machine type g4dn.12xlarge (4 × Tesla T4")
    assert made.joint_fix is not None
    assert plan(*wanted, on=in_pool(*"ab"), to=made.joint_fix.fleet).verdict == "fits"


def test_growing_fleet_gets_nodes_for_pods_with_a_missing_toleration() -> None:
    made = plan(
        web(4, tolerations=[]), on=in_pool(*"ab"), to=fleet(("g6.2xlarge", {"min": 0, "max": 3}))
    )
    first, raised = steps(made)
    assert first.startswith("Deployment default/web: add to the pod's tolerations: {key: nvidia")
    assert raised == 'set the maximum of pool "g6-2xlarge" to 5'
    assert made.joint_fix is not None
    after = plan(web(4), on=in_pool(*"ab"), to=made.joint_fix.fleet)
    assert after.verdict == "fits"


def test_higher_maximum_for_one_workload_needs_no_joint_fix() -> None:
    assert grow(0, {"min": 0, "max": 3}, replicas=5).joint_fix is None


def test_fixes_are_not_searched_unless_requested() -> None:
    request = PlanRequest(sources=(web(5),), observed=nodes(*"ab"), with_fixes=False)
    assert make_plan(request).joint_fix is None
