"""Spare nodes: if nodes fail, all their pods are placed again, and all other pods stay on their
nodes.
"""

from __future__ import annotations

from typing import Any

import pytest
from plan_builders import deployment, fleet, plan_of

from dra_planner.errors import FleetError
from dra_planner.fleet import Fleet, read_fleet
from dra_planner.plan import Plan


def losing(
    where: Fleet, *, pools: dict[str, dict[str, Any]] | None = None, **redundancy: int
) -> Fleet:
    document = where.document()
    rows = [{**row, **(pools or {}).get(row["name"], {})} for row in document["pools"]]
    return read_fleet({**document, "pools": rows, "redundancy": redundancy})


def built(plan: Plan) -> dict[str, int]:
    return {pool.name: pool.nodes.desired for pool in plan.pools}


L4 = fleet(("g6.2xlarge", {"max": 6}))
H100 = fleet(("p5.48xlarge", {"max": 6}))
BOTH = fleet(("g6.2xlarge", {"max": 6}), ("g6.12xlarge", {"max": 2}))


@pytest.mark.parametrize("nodes", [1, 2, 3])
def test_additional_nodes_cover_the_allowed_losses(nodes: int) -> None:
    plan = plan_of(losing(L4, nodes=nodes), deployment(replicas=3))
    assert (plan.verdict, built(plan)) == ("fits", {"g6-2xlarge": 3 + nodes})
    assert (plan.pools[0].packing, plan.pools[0].spare) == (3, nodes)
    assert plan.judgement.survival is not None
    assert plan.judgement.survival.tried > 0


def test_remaining_pods_can_require_more_than_one_spare_node() -> None:
    """Small pods are spread over all nodes: no node is left whole for a large pod whose node is
    lost.
    """
    work = [deployment("large", 2, gpus=8), deployment("small", 6, gpus=1)]
    assert built(plan_of(H100, *work)) == {"p5-48xlarge": 3}
    # six nodes, small pods on four of them
    assert plan_of(losing(H100, nodes=1), *work).verdict == "cannot-tell"
    roomy = losing(H100, nodes=1, pools={"p5-48xlarge": {"count": {"max": 12}}})
    plan = plan_of(roomy, *work)
    # 2 + 6, and one that is empty
    assert (plan.verdict, built(plan)) == ("fits", {"p5-48xlarge": 9})


def test_one_spare_node_serves_two_pools_with_the_same_pods() -> None:
    plan = plan_of(losing(BOTH, nodes=1), deployment("any", 5))
    assert plan.verdict == "fits"
    assert sum(pool.spare for pool in plan.pools) == 1


def test_missing_spare_node_leaves_the_verdict_open_with_a_reason() -> None:
    tight = losing(L4, nodes=1, pools={"g6-2xlarge": {"count": {"max": 3}}})
    plan = plan_of(tight, deployment(replicas=3))
    assert (plan.verdict, built(plan)) == ("cannot-tell", {"g6-2xlarge": 3})
    (reason,) = [each for each in plan.workloads[0].reasons if each.code == "loss-leaves-pods"]
    assert reason.message.startswith("if node g6-2xlarge-")
    assert reason.message.endswith(
        'even with every allowed spare node (pool "g6-2xlarge" would need 4)'
    )


def test_spare_nodes_are_added_to_the_packing_without_a_simulation() -> None:
    plan = plan_of(losing(L4, nodes=2), deployment(replicas=3), steps=0)
    assert (plan.verdict, built(plan)) == ("fits", {"g6-2xlarge": 5})
    tight = losing(L4, nodes=2, pools={"g6-2xlarge": {"count": {"max": 4}}})
    plan = plan_of(tight, deployment(replicas=3), steps=0)
    assert plan.verdict == "cannot-tell"
    (reason,) = [each for each in plan.workloads[0].reasons if each.code == "redundancy-not-kept"]
    assert reason.fix == 'raise the maximum of pool "g6-2xlarge" to 5'


def test_loss_of_a_zone_is_planned() -> None:
    zones = {"zones": ["us-east-1a", "us-east-1b", "us-east-1c"]}
    plan = plan_of(losing(L4, zones=1, pools={"g6-2xlarge": zones}), deployment(replicas=4))
    assert (plan.verdict, built(plan)) == ("fits", {"g6-2xlarge": 6})  # two of six in each zone
    one = losing(L4, zones=1, pools={"g6-2xlarge": {"zones": ["us-east-1a"]}})
    assert plan_of(one, deployment(replicas=1)).verdict == "cannot-tell"


def test_spare_nodes_respect_shared_limits() -> None:
    document = losing(L4, nodes=1).document()
    where = read_fleet({**document, "quotas": [{"name": "GPUs", "unit": "gpus", "limit": 3}]})
    assert plan_of(where, deployment(replicas=2)).verdict == "fits"
    assert plan_of(where, deployment(replicas=3)).verdict == "cannot-tell"


def test_zones_must_be_set_if_one_may_be_lost() -> None:
    with pytest.raises(FleetError, match=r"must be set if redundancy\.zones is set"):
        losing(L4, zones=1)
    with pytest.raises(FleetError, match="set either nodes or zones"):
        losing(L4, zones=1, nodes=1)
    with pytest.raises(FleetError, match="must be between 0 and 3, not 4"):
        losing(L4, nodes=4)
