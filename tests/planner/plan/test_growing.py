"""A fleet and a snapshot of its cluster: the number of additional nodes per pool for new
workloads.
"""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
import yaml
from test_simulated import load

from dra_planner.errors import PlanFileError, PlannerError
from dra_planner.fleet import read_fleet
from dra_planner.model import ObjectKey
from dra_planner.plan import Plan, PlanRequest, make_plan, plan_file
from dra_planner.plan.judgement.simulated_fleet import RANDOM_ORDERS
from dra_planner.simulation import standard_orders
from dra_planner.sources import Source

Json = dict[str, Any]


def snapshot(case: Json) -> list[Json]:
    """The nodes of a recorded cluster, with their pods."""
    objects = list(case["given"])
    for kind in case["nodes"]:
        text = json.dumps(kind["objects"])
        for name in kind["names"]:
            objects += json.loads(text.replace("{node}", name))
    return objects


def grow(
    case: Json,
    workloads: list[Json] | None = None,
    *,
    more: list[Json] | None = None,
    **options: Any,
) -> Plan:
    applied = case["workloads"] if workloads is None else workloads
    request = PlanRequest(
        sources=(Source("applied", yaml.safe_dump_all(applied)),),
        observed=(Source("snapshot", yaml.safe_dump_all([*snapshot(case), *(more or [])])),),
        fleet=read_fleet(case["fleet"]),
        **options,
    )
    return make_plan(request)


def nodes(made: Plan) -> dict[str, tuple[int | None, int]]:
    """Nodes that are there, and how many more."""
    return {
        pool.name: (pool.existing, pool.nodes.desired - (pool.existing or 0)) for pool in made.pools
    }


def with_replicas(case: Json, replicas: int) -> list[Json]:
    workloads = copy.deepcopy(case["workloads"])
    for each in workloads:
        if each["kind"] == "Deployment":
            each["spec"]["replicas"] = replicas
    return [each for each in workloads if each["kind"] != "Pod"]


def test_sufficient_existing_nodes_need_no_additional_node():
    case = load("m1-small-then-whole-node")
    made = grow(case, with_replicas(case, 8))
    assert (made.verdict, nodes(made)) == ("fits", {"l4": (2, 0)})
    assert made.workload("Deployment", "default", "small").placements == (("l4", 8),)
    assert made.pool("l4").devices.used == 8


def test_nodes_are_added_until_everything_is_placed():
    case = load("m1-small-then-whole-node")
    made = grow(case, with_replicas(case, 13))
    assert (made.verdict, nodes(made)) == ("fits", {"l4": (2, 2)})
    assert made.cost is not None
    assert made.cost.hourly_usd == 2 * (made.pool("l4").hourly_usd or 0)


def test_counts_that_work_only_by_chance_are_rejected():
    """If nodes have the same score, the scheduler chooses any of them. If it chooses the other
    node, one more node is needed, and one node of the other pool costs less than two nodes.
    """
    case = load("009")
    made = grow(case, with_replicas(case, 3))
    assert (made.verdict, nodes(made)) == ("fits", {"g5-12xlarge": (1, 0), "pool-1": (1, 1)})
    found = made.judgement.simulated
    assert found is not None
    missed = set(found.orders) - set(standard_orders(RANDOM_ORDERS))
    assert missed  # checks that one node fewer did not pass


def test_running_pods_are_scaled_instead_of_added():
    """The node is already full, so four replicas of a workload that runs two need two more
    devices.
    """
    case = load("m1-small-then-whole-node")
    applied = with_replicas(case, 8)
    template = applied[-1]["spec"]["template"]
    running: list[Json] = [{**applied[-1], "metadata": {**applied[-1]["metadata"], "uid": "d"}}]
    for index in range(7):
        name = f"small-{index}"
        owner = {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "name": "small",
            "uid": "d",
            "controller": True,
        }
        claim = {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceClaim",
            "metadata": {
                "name": f"{name}-gpu",
                "namespace": "default",
                "ownerReferences": [
                    {
                        "apiVersion": "v1",
                        "kind": "Pod",
                        "name": name,
                        "uid": name,
                        "controller": True,
                    }
                ],
            },
            "spec": {
                "devices": {
                    "requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com"}}]
                }
            },
            "status": {
                "allocation": {
                    "devices": {
                        "results": [
                            {
                                "request": "gpu",
                                "driver": "gpu.nvidia.com",
                                "pool": f"l4-{index // 4}",
                                "device": f"gpu-{index % 4}",
                            }
                        ]
                    }
                }
            },
        }
        spec = {**template["spec"], "nodeName": f"l4-{index // 4}"}
        status = {
            "phase": "Running",
            "resourceClaimStatuses": [
                {"name": spec["resourceClaims"][0]["name"], "resourceClaimName": f"{name}-gpu"}
            ],
        }
        meta = {
            "name": name,
            "namespace": "default",
            "labels": template["metadata"]["labels"],
            "ownerReferences": [owner],
        }
        running += [
            claim,
            {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec, "status": status},
        ]
    made = grow(case, applied, more=running)
    assert (made.verdict, nodes(made)) == ("fits", {"l4": (2, 0)})
    more = grow(case, with_replicas(case, 9), more=running)
    assert (more.verdict, nodes(more)) == ("fits", {"l4": (2, 1)})


def test_pods_beyond_the_maximum_do_not_fit():
    case = load("m1-small-then-whole-node")
    full = grow(case, with_replicas(case, 17))
    assert (full.verdict, nodes(full)) == ("does-not-fit", {"l4": (2, 2)})
    (reason, *others) = full.workload("Deployment", "default", "small").reasons
    assert reason.code == "pool-too-small"
    assert reason.fix.startswith('raise the maximum of pool "l4" to 5')
    assert "pool-missing" not in {each.code for each in others}
    (pod,) = [each for each in copy.deepcopy(case["workloads"]) if each["kind"] == "Pod"]
    pod["spec"]["nodeSelector"] = {"nobody": "has-this"}
    refused = grow(case, [*with_replicas(case, 9), pod])
    assert refused.verdict == "does-not-fit"
    assert nodes(refused) == {"l4": (2, 1)}
    assert refused.workload("Deployment", "default", "small").verdicts["steady"] == "fits"


def test_daemon_sets_of_the_snapshot_are_not_subtracted_twice():
    """New nodes have enough capacity for one pod of the DaemonSet, but not for two."""
    case = load("m1-small-then-whole-node")
    case["fleet"]["daemonPods"] = {"agent": {"cpu": "30"}}
    daemon = {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "agent", "namespace": "kube-system"},
        "spec": {
            "selector": {"matchLabels": {"app": "agent"}},
            "template": {
                "metadata": {"labels": {"app": "agent"}},
                "spec": {
                    "tolerations": [{"operator": "Exists"}],
                    "containers": [
                        {"name": "c", "image": "x", "resources": {"requests": {"cpu": "30"}}}
                    ],
                },
            },
        },
    }
    assert nodes(grow(case, with_replicas(case, 9)))["l4"] == (2, 1)
    assert nodes(grow(case, with_replicas(case, 9), more=[daemon]))["l4"][1] == 1


def test_claims_on_new_nodes_are_listed():
    case = load("m1-small-then-whole-node")
    claims = grow(case, with_replicas(case, 9)).judgement.claims
    assert len({(each.pod, ObjectKey(each.namespace, each.name)) for each in claims}) == 9
    assert any(device.node == "l4-new-0" for each in claims for device in each.devices)


def test_growing_plan_needs_the_simulation_and_has_no_plan_file():
    case = load("m1-small-then-whole-node")
    with pytest.raises(PlanFileError):
        plan_file(grow(case))
    with pytest.raises(PlannerError, match="only a simulation can determine"):
        grow(case, steps=0)


def test_settings_that_a_snapshot_replaces_are_reported():
    """Given a guided fleet of another version than the snapshot's nodes."""
    case = load("m1-small-then-whole-node")
    fleet = {**case["fleet"], "placement": "guided", "kubernetes": "1.34"}

    fixes = {each.code: each.fix for each in grow({**case, "fleet": fleet}).diagnostics}

    assert fixes["placement-ignored"] == (
        "to see the guards and the nodes of the whole fleet, run the plan again without --observed"
    )
    assert fixes["snapshot-version"] == "pass --kubernetes 1.34 to plan for the fleet's version"
    unchanged = {each.code for each in grow(case).diagnostics}
    assert unchanged.isdisjoint({"placement-ignored", "snapshot-version"})


def test_growth_cannot_be_determined_in_too_few_steps():
    case = load("m1-small-then-whole-node")
    made = grow(case, with_replicas(case, 13), steps=50)
    assert made.verdict == "cannot-tell"


@pytest.mark.parametrize(
    ("spec", "blocked"),
    [
        ({"minAvailable": 4}, "(minAvailable: 4)"),
        ({"minAvailable": 3}, ""),
        ({"minAvailable": "76%"}, "(minAvailable: 76%)"),
        ({"minAvailable": "75%"}, ""),
        ({"maxUnavailable": "0%"}, "(maxUnavailable: 0%)"),
        ({"maxUnavailable": 1}, ""),
    ],
    ids=str,
)
def test_nodes_that_a_budget_blocks_from_draining_are_reported(spec: Json, blocked: str) -> None:
    """Four pods run on two nodes, and the verdict doesn't change."""
    case = load("m1-small-then-whole-node")
    running = [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": f"web-{at}",
                "namespace": "default",
                "uid": f"u{at}",
                "labels": {"app": "web"},
            },
            "spec": {"nodeName": name, "containers": [{"name": "main"}]},
            "status": {"phase": "Running"},
        }
        for at, name in enumerate(["l4-0", "l4-1"] * 2)
    ]
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "keep", "namespace": "default", "uid": "u"},
        "spec": {**spec, "selector": {"matchLabels": {"app": "web"}}},
    }
    made = grow(case, with_replicas(case, 8), more=[*running, budget])
    messages = [each.message for each in made.diagnostics if each.code == "drain-blocked"]
    assert made.verdict == "fits"
    where = '2 nodes of pool "l4" can\'t be drained'
    assert [blocked in each and where in each for each in messages] == [True] * bool(blocked)
