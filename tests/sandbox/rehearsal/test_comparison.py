"""Plan, simulation, and outcome are compared: the reason for each difference."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import yaml
from plans import FLEET, deployment, plan_of, sources

from dra_planner.fleet import read_fleet
from dra_planner.model import WorkloadRef
from dra_planner.plan import PlanRequest, make_plan
from dra_planner.sources import Source
from dra_sandbox.rehearsal import (
    ComparedWorkload,
    RehearsalOutcome,
    RehearsedWorkload,
    SimulatedWorkload,
)
from dra_sandbox.rehearsal.comparison import compare, find_idle
from dra_sandbox.rehearsal.outcome import PodOutcome

WEB = WorkloadRef("Deployment", "default", "web")
ZONE = "us-central1-a"


def row(
    replicas: int,
    pools: dict[str, int],
    runs: Sequence[dict[str, int]],
    *,
    one_by_one: bool = True,
    room: int = 0,
) -> ComparedWorkload:
    """Plan so many pods of one GPU on up to four nodes with one and two with four; give what became
    of them.
    """
    plan = plan_of(sources(deployment("web", replicas)))
    pods = [
        PodOutcome(f"web-{index}", node, "", is_judged=True)
        for index, node in enumerate(_nodes(pools))
    ]
    pods += [
        PodOutcome(f"web-x{index}", "", "none fits", is_judged=True)
        for index in range(replicas - len(pods))
    ]
    outcome = RehearsalOutcome((RehearsedWorkload(WEB, tuple(pods), pools),), (), decided=True)
    simulated = [{WEB: SimulatedWorkload(each)} for each in runs]
    (found,) = compare(plan, outcome, {WEB: room}, simulated, one_by_one=one_by_one)
    return found


def _nodes(pools: dict[str, int]) -> list[str]:
    return [f"{pool}-{index}" for pool, count in pools.items() for index in range(count)]


def reasons(found: ComparedWorkload) -> tuple[str, str]:
    """The reasons for what differs from the plan, and from the simulation."""
    return (
        found.difference.reason if found.difference else "",
        found.deviation.reason if found.deviation else "",
    )


def test_three_equal_results_are_no_difference() -> None:
    planned = plan_of(sources(deployment("web", 3))).workload(*WEB).placements
    assert reasons(row(3, dict(planned), [dict(planned)])) == ("", "")


def test_another_pool_than_planned_is_the_schedulers_choice() -> None:
    assert reasons(row(20, {"l4": 4, "a10g": 8}, [{"l4": 4, "a10g": 8}])) == ("", "")
    planned = dict(plan_of(sources(deployment("web", 1))).workload(*WEB).placements)
    other = {"a10g": 1} if planned == {"l4": 1} else {"l4": 1}
    assert reasons(row(1, other, [other])) == ("choice-of-node", "")


def test_fewer_pods_than_planned_are_explained_by_the_pod_order() -> None:
    found = row(3, {"l4": 2}, [{"l4": 2}])
    assert reasons(found) == ("one-pod-at-a-time", "")
    assert found.pending == 1


def test_a_difference_can_be_explained_by_tie_breaking() -> None:
    assert (
        reasons(row(20, {"l4": 4, "a10g": 8}, [{"l4": 3, "a10g": 8}, {"l4": 4, "a10g": 8}]))[1]
        == "tie-between-nodes"
    )


@pytest.mark.parametrize(
    ("lagging", "reason"),
    [([True], "replaced-during-preemption"), ([False, True], "tie-between-nodes")],
    ids=["only if pods end at other times", "also with another tie-break"],
)
def test_a_difference_can_be_explained_by_timing(lagging: list[bool], reason: str) -> None:
    plan = plan_of(sources(deployment("web", 20)))
    pods = tuple(PodOutcome(str(n), "n", "", is_judged=True) for n in range(12))
    outcome = RehearsalOutcome(
        (RehearsedWorkload(WEB, pods, {"l4": 4, "a10g": 8}),), (), decided=True
    )
    runs = [{WEB: SimulatedWorkload({"l4": 3, "a10g": 8})}]
    runs += [{WEB: SimulatedWorkload({"l4": 4, "a10g": 8}, lags=each)} for each in lagging]
    (found,) = compare(plan, outcome, {}, iter(runs), one_by_one=True)
    assert found.deviation is not None
    assert found.deviation.reason == reason


def test_a_difference_that_no_run_reproduces_is_unexplained() -> None:
    found = row(20, {"l4": 4, "a10g": 8}, [{"l4": 3, "a10g": 8}, {"l4": 3, "a10g": 8}])
    assert reasons(found)[1] == "unexplained"
    assert found.deviation is not None
    assert (
        found.deviation.detail
        == "the simulation places 11 (a10g 8, l4 3), the scheduler 12 (a10g 8, l4 4)"
    )


@pytest.mark.parametrize(
    ("runs", "reason"),
    [([3, 4], "arrived-together"), ([3], "unexplained"), ([3, 2, 3], "unexplained")],
    ids=[
        "another order has the same outcome",
        "no other order was tried",
        "no order has the same outcome",
    ],
)
def test_a_difference_can_be_explained_by_simultaneous_arrival(
    runs: list[int], reason: str
) -> None:
    simulated = [{"l4": placed, "a10g": 8} for placed in runs]
    assert reasons(row(20, {"l4": 4, "a10g": 8}, simulated, one_by_one=False))[1] == reason


def test_a_different_distribution_over_pools_is_unexplained() -> None:
    simulated = [{"l4": 3, "a10g": 8}, {"l4": 4, "a10g": 7}]
    assert reasons(row(20, {"l4": 2, "a10g": 9}, simulated))[1] == "unexplained"


def test_a_pending_pod_despite_free_capacity_is_unexplained() -> None:
    assert reasons(row(3, {"l4": 2}, [{"l4": 2}], room=1))[0] == "unexplained"


@pytest.mark.parametrize("taken", [0, 1])
def test_additional_runs_are_simulated_only_if_the_first_differs(taken: int) -> None:
    asked = []

    def runs():  # type: ignore[no-untyped-def]
        yield {WEB: SimulatedWorkload({"l4": 4, "a10g": 8 - taken})}
        asked.append("second")
        yield {WEB: SimulatedWorkload({"l4": 4, "a10g": 8})}

    plan = plan_of(sources(deployment("web", 20)))
    pods = tuple(PodOutcome(str(n), "n", "", is_judged=True) for n in range(12))
    outcome = RehearsalOutcome(
        (RehearsedWorkload(WEB, pods, {"l4": 4, "a10g": 8}),), (), decided=True
    )
    compare(plan, outcome, {}, runs(), one_by_one=True)
    assert len(asked) == taken


def test_ties_are_broken_in_more_ways_until_the_outcome_matches() -> None:
    others = [{"l4": 3, "a10g": 8}] * 20
    found = row(20, {"l4": 4, "a10g": 8}, [*others, {"l4": 4, "a10g": 8}, *others])
    assert reasons(found)[1] == "tie-between-nodes"


CLAIM = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: together}
spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}]}}
"""


@pytest.mark.parametrize(
    ("placed", "room", "reason"),
    [(3, 0, "shared-claim"), (8, 0, "unexplained"), (3, 5, "unexplained")],
    ids=[
        "capacity for three pods",
        "capacity for all pods that the plan doesn't see",
        "with capacity in the plan",
    ],
)
def test_pods_of_one_claim_run_on_the_first_pods_node(placed: int, room: int, reason: str) -> None:
    """Eight pods with two CPUs each share a GPU: a node with eight CPUs is too small for all of
    them.
    """
    web = deployment("web", 8).replace(
        "resourceClaimTemplateName: one-gpu", "resourceClaimName: together"
    )
    plan = plan_of(sources(CLAIM, web.replace('cpu: "1"', 'cpu: "2"').replace("cpu: 1", "cpu: 2")))
    assert dict(plan.workload(*WEB).fits) == {"l4": "does-not-fit", "a10g": "fits"}
    pods = [
        PodOutcome(f"web-{index}", "l4-0" * (index < placed), "", is_judged=True)
        for index in range(8)
    ]
    outcome = RehearsalOutcome(
        (RehearsedWorkload(WEB, tuple(pods), {"l4": placed}),), (), decided=True
    )
    (found,) = compare(
        plan, outcome, {WEB: room}, [{WEB: SimulatedWorkload({"l4": placed})}], one_by_one=True
    )
    assert reasons(found) == (reason, "")


TPU_CLAIM = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {{name: {name}}}
spec: {{spec: {{devices: {{requests: [{{name: tpu, exactly: {{deviceClassName: tpu.google.com, count: {count}}}}}]}}}}}}
---
apiVersion: batch/v1
kind: Job
metadata: {{name: {name}}}
spec:
  template:
    spec:
      restartPolicy: Never
      tolerations: [{{operator: Exists}}]
      resourceClaims: [{{name: tpu, resourceClaimTemplateName: {name}}}]
      containers: [{{name: main, image: registry.example/a:1, resources: {{claims: [{{name: tpu}}]}}}}]
"""


def test_pods_with_unprepared_claims_occupy_devices() -> None:
    """The scheduler allocates half of a TPU node to them; then no node is free for the pod with all
    chips.
    """
    fleet = {
        "cloud": "gke",
        "region": "us-central1",
        "kubernetes": "1.36",
        "systemPool": {"machine": "e2-standard-4"},
        "drivers": {"tpu": True},
        "pools": [{"name": "tpu", "machine": "ct5lp-hightpu-4t", "count": 1, "zones": [ZONE]}],
    }
    manifests = "---\n".join(TPU_CLAIM.format(name=f"c{count}", count=count) for count in (2, 4))
    plan = make_plan(PlanRequest(fleet=read_fleet(fleet), sources=(Source("m.yaml", manifests),)))
    half, whole = (WorkloadRef("Job", "default", name) for name in ("c2", "c4"))
    outcomes = (
        RehearsedWorkload(half, (PodOutcome("c2-0", "tpu-0", "", is_judged=True),), {"tpu": 1}),
        RehearsedWorkload(whole, (PodOutcome("c4-0", "", "none fits", is_judged=True),), {}),
    )
    simulated = {half: SimulatedWorkload({}), whole: SimulatedWorkload({"tpu": 1})}
    found = compare(
        plan, RehearsalOutcome(outcomes, (), decided=True), {}, [simulated], one_by_one=True
    )
    assert [reasons(each) for each in found] == [("claim-not-prepared", "claim-not-prepared")] * 2

    # in a pool without such pods, a difference is still a bug of the planner
    elsewhere = {half: SimulatedWorkload({}), whole: SimulatedWorkload({"other": 1})}
    found = compare(
        plan, RehearsalOutcome(outcomes, (), decided=True), {}, [elsewhere], one_by_one=True
    )
    assert reasons(found[1])[1] == "unexplained"


def test_pods_with_an_undefined_object_occupy_nodes() -> None:
    """The scheduler places them, because only kubelets read ConfigMaps."""
    fleet = {
        "cloud": "eks",
        "region": "us-east-1",
        "kubernetes": "1.36",
        "manifests": "complete",
        "systemPool": {"machine": "m7i.large"},
        "drivers": {"nvidia": {"version": "25.8.1"}},
        "pools": [{"name": "l4", "machine": "g6.2xlarge", "count": {"min": 1, "max": 1}}],
    }
    pod = (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers: [{name: c, image: a}]\n"
        "  volumes: [{name: v, configMap: {name: notes}}]\n"
    )
    plan = make_plan(PlanRequest(fleet=read_fleet(fleet), sources=(Source("m.yaml", pod),)))
    ref = WorkloadRef("Pod", "default", "p")
    outcome = RehearsedWorkload(ref, (PodOutcome("p", "l4-0", "", is_judged=True),), {"l4": 1})
    found = compare(
        plan,
        RehearsalOutcome((outcome,), (), decided=True),
        {},
        [{ref: SimulatedWorkload({})}],
        one_by_one=True,
    )
    assert plan.verdict == "does-not-fit"
    assert [reasons(each) for each in found] == [("claim-not-prepared", "claim-not-prepared")]


QUOTA = "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q}\nspec: {hard: {pods: 2}}\n"


@pytest.mark.parametrize(
    ("api", "web", "found"),
    [
        (0, 2, {"api": ("pods-refused", ""), "web": ("who-goes-without", "")}),
        (
            1,
            1,
            {"api": ("pods-refused", "unexplained"), "web": ("who-goes-without", "unexplained")},
        ),
        (2, 2, {"api": ("", "unexplained"), "web": ("unexplained", "")}),
    ],
    ids=[
        "the first workload uses the quota",
        "both use a part of the quota",
        "more than the quota admits",
    ],
)
def test_the_first_workload_uses_the_remaining_quota(
    api: int, web: int, found: dict[str, tuple[str, str]]
) -> None:
    """The plan gives the room of two pods to the API, in the simulation the site comes first."""
    plan = plan_of(sources(QUOTA, deployment("web", 2), deployment("api", 2)))
    placed = {
        WorkloadRef("Deployment", "default", name): count
        for name, count in (("web", web), ("api", api))
    }
    outcomes = [
        RehearsedWorkload(
            ref,
            tuple(
                PodOutcome(f"{ref.name}-{index}", "l4-0", "", is_judged=True)
                for index in range(count)
            ),
            {"l4": count} if count else {},
            "exceeded quota: q" if count < 2 else "",
        )
        for ref, count in placed.items()
    ]
    simulated = {ref: SimulatedWorkload({"l4": 2} if ref.name == "web" else {}) for ref in placed}
    rows = compare(
        plan, RehearsalOutcome(tuple(outcomes), (), decided=True), {}, [simulated], one_by_one=True
    )
    assert {each.outcome.workload.name: reasons(each) for each in rows} == found


def with_key(key: str) -> str:
    """A Deployment whose pods have this key, in YAML."""
    document = yaml.safe_load(deployment("web", 1))
    document["spec"]["template"]["spec"] |= yaml.safe_load(key)
    return yaml.safe_dump(document)


@pytest.mark.parametrize("manifests", ["partial", "complete"])
@pytest.mark.parametrize(
    ("key", "refused", "reason"),
    [
        ("schedulerName: mine", "", "waits-for-others"),
        ("schedulingGates: [{name: example.com/approved}]", "", "waits-for-others"),
        ("priorityClassName: high", "no PriorityClass with name high", "refused-as-planned"),
        ("runtimeClassName: kata", 'RuntimeClass "kata" not found', "refused-as-planned"),
    ],
    ids=["another scheduler", "a scheduling gate", "a missing priority", "a missing runtime"],
)
def test_pods_that_cannot_run_in_the_sandbox_count_as_planned(
    key: str, refused: str, reason: str, manifests: str
) -> None:
    """If the manifests are partial, the verdict of the plan is *cannot tell*, and its numbers
    include these pods.
    """
    plan = plan_of(sources(with_key(key)), f"{FLEET}\nmanifests: {manifests}\n")
    is_decided = manifests == "complete" and "Gates" not in key
    assert plan.verdict == ("does-not-fit" if is_decided else "cannot-tell")
    idle = find_idle(plan, {WEB} if refused else ())
    assert idle == {WEB}
    pods = () if refused else (PodOutcome("web-0", "", "", is_judged=False),)
    outcome = RehearsalOutcome((RehearsedWorkload(WEB, pods, {}, refused),), (), decided=True)
    (found,) = compare(plan, outcome, {}, [{}], one_by_one=True, idle=idle)
    assert reasons(found) == (reason, "")


def test_running_pods_with_a_missing_class_are_not_idle() -> None:
    """The class exists in the cluster."""
    assert find_idle(plan_of(sources(with_key("priorityClassName: high"))), ()) == frozenset()
