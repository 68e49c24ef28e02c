"""Contents of the built nodes: identical nodes once, devices by workload, and the cost share of
each workload.
"""

from __future__ import annotations

from collections import Counter
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plan_builders import EXAMPLES, deployment, example, fleet, plan_of
from test_simulated import load
from test_simulated import plan as rehearsed

from dra_planner.fleet import read_fleet
from dra_planner.plan import Plan, detail_claims
from dra_planner.plan.nodes.cost_shares import cost_shares
from dra_planner.plan.nodes.groups import FilledNodes, fill_nodes
from dra_planner.plan.nodes.order_outcomes import order_outcomes
from dra_planner.sources import Source, read_sources

WORKLOADS = (
    "at-least-40-gb",
    "job-two-gpus-each",
    "ranked-alternatives",
    "shared-claim",
    "two-pods",
)


def slices(name: str, replicas: int) -> Source:
    text = deployment(name, replicas).text.replace(
        "deviceClassName: gpu.nvidia.com", "deviceClassName: mig.nvidia.com"
    )
    return Source(f"{name}.yaml", text)


def pods_of(filled: FilledNodes) -> Counter[str]:
    pods: Counter[str] = Counter()
    for group in filled.groups:
        for ref, count in group.pods:
            pods[str(ref)] += group.nodes * count
    return pods


def check_sums(plan: Plan) -> FilledNodes:
    """Check that the groups contain all built nodes and all placed pods, and that each used device
    has a workload. Return the nodes.
    """
    filled = fill_nodes(plan)
    for pool in plan.pools:
        assert sum(group.nodes for group in filled.of_pool(pool.name)) == pool.nodes.desired
        for kind in filled.kinds(pool.name):
            assert kind.used + kind.free + kind.stranded == kind.total
    for group in filled.groups:
        assert all(bool(each.holders) == (each.state == "used") for each in group.devices)
    placed = {str(each.workload): each.placed for each in plan.workloads if each.placed}
    assert pods_of(filled) == placed
    if plan.cost is not None:
        paid = sum((share.hourly_usd for share in cost_shares(plan, filled)), Decimal(0))
        assert paid == plan.cost.hourly_usd
    return filled


@pytest.mark.long
@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 9), st.integers(1, 5)), min_size=1, max_size=4),
    st.sampled_from([("g6.12xlarge", 3), ("p5.48xlarge", 2), ("g6.2xlarge", 6)]),
    st.booleans(),
)
def test_groups_have_consistent_sums(
    demand: list[tuple[int, int]], pool: tuple[str, int], simulated: bool
) -> None:
    sources = [
        deployment(f"web-{at}", replicas, gpus) for at, (replicas, gpus) in enumerate(demand)
    ]
    where = fleet((pool[0], {"min": 0, "max": pool[1]}), ("g6e.12xlarge", {"min": 0, "max": 2}))
    plan = plan_of(where, *sources, steps=20_000 if simulated else 0)
    check_sums(plan)


@pytest.mark.parametrize("pools", [("g6.12xlarge", "p5.48xlarge"), ("p4d.24xlarge",)])
def test_packing_contains_the_devices_of_its_claims(pools: tuple[str, ...]) -> None:
    """`detail_claims` lists every claim separately, and the node groups contain the same
    devices.
    """
    sources = [source for name in WORKLOADS for source in example(f"workloads/{name}")]
    plan = plan_of(fleet(*((pool, {"min": 0, "max": 4}) for pool in pools)), *sources, steps=0)
    filled = check_sums(plan)
    assert filled.source == "packing"
    listed = Counter(
        (group.pool, device.name)
        for group in filled.groups
        for device in group.devices
        for _ in range(group.nodes)
        if device.holders
    )
    claims = {
        (device.node, device.device) for claim in detail_claims(plan) for device in claim.devices
    }
    assert listed == Counter((node.rpartition("-")[0], device) for node, device in claims)
    for pool in plan.pools:
        kinds = filled.kinds(pool.name)
        assert sum(kind.total for kind in kinds) == pool.devices.total
        assert sum(kind.used for kind in kinds) == pool.devices.used
        assert sum(kind.stranded for kind in kinds) == pool.devices.stranded


def test_identical_nodes_are_one_group() -> None:
    where = fleet(("g6.12xlarge", {"min": 0, "max": 20_000}))
    plan = plan_of(where, deployment("a", 30_001, 4), deployment("b", 9_998, 1), steps=0)
    groups = check_sums(plan).groups
    assert len(groups) <= 3
    assert max(group.nodes for group in groups) > 9_000


def test_node_groups_match_the_simulation() -> None:
    filled = check_sums(rehearsed(load("m2-any-takes-h100")))
    assert (filled.source, filled.order) == ("simulated", "settled")


def test_nic_on_the_root_of_a_used_gpu_is_stranded() -> None:
    where = read_fleet(
        {
            "cloud": "eks",
            "region": "us-east-1",
            "kubernetes": "1.34",
            "systemPool": {"machine": "m7i.large"},
            "drivers": {"nvidia": {"version": "25.8.1"}, "dranet": {"version": "1.4.0"}},
            "pools": [{"name": "h100", "machine": "p5.48xlarge", "count": {"min": 0, "max": 2}}],
        }
    )
    both = read_sources([EXAMPLES / "gpu-and-efa" / "workload.yaml"])
    kinds = {kind.kind: kind for kind in check_sums(plan_of(where, *both)).kinds("h100")}
    assert (kinds["GPU"].used, kinds["NIC"].used) == (16, 64)
    only_gpus = {
        kind.kind: kind for kind in check_sums(plan_of(where, deployment("a", 3, 2))).kinds("h100")
    }
    assert (only_gpus["GPU"].used, only_gpus["NIC"].used) == (6, 0)
    assert only_gpus["NIC"].stranded == only_gpus["NIC"].total == 32


def test_partitions_of_one_gpu_count_as_one_device() -> None:
    """DynamicMIG: regardless of the partition, the GPU is in use, and the report contains the
    remainder.
    """
    where = read_fleet(
        {
            "cloud": "eks",
            "region": "us-east-1",
            "kubernetes": "1.36",
            "systemPool": {"machine": "m7i.large"},
            "drivers": {"nvidia": {"version": "0.4.1", "featureGates": {"DynamicMIG": True}}},
            "pools": [{"name": "mig", "machine": "p4d.24xlarge", "count": 1, "mig": "all-enabled"}],
        }
    )
    plan = plan_of(where, slices("a", 3))
    filled = check_sums(plan)
    (kind,) = filled.kinds("mig")
    assert (kind.kind, kind.total) == ("GPU", 8)
    (group,) = filled.groups
    assert sum(device.kind == "MIG slice" for device in group.devices) == 3
    assert sum(device.is_rest for device in group.devices) >= 7


def test_orders_with_equal_outcomes_are_grouped() -> None:
    plan = rehearsed(load("m1-small-then-whole-node"))
    found = plan.judgement.simulated
    assert found is not None
    ends = order_outcomes(plan)
    assert sorted(order for end in ends for order in end.orders) == sorted(map(str, found.orders))
    assert len({(end.pending, end.nodes) for end in ends}) == len(ends)
    pending = {str(each.order): dict(each.pending) for each in found.at_maximum}
    assert {
        order: dict(end.pending) for end in ends for order in end.orders if end.pending
    } == pending
    for end in ends:
        assert sum(nodes.nodes for nodes in end.nodes) == sum(pool.maximum for pool in plan.pools)


def test_partition_costs_its_share_of_the_gpu() -> None:
    """A node of 8 GPUs at USD 80: a slice of four memory slices of eight costs half of ten."""
    where = read_fleet(
        {
            "cloud": "eks",
            "region": "us-east-1",
            "kubernetes": "1.34",
            "systemPool": {"machine": "m7i.large"},
            "drivers": {"nvidia": {"version": "25.8.1"}},
            "pools": [
                {
                    "name": "mig",
                    "machine": "p4de.24xlarge",
                    "count": 1,
                    "mig": "all-3g.40gb",
                    "pricePerHour": 80,
                }
            ],
        }
    )
    plan = plan_of(where, slices("a", 3), steps=0)
    shares = {
        str(share.workload or share.state): share.hourly_usd
        for share in cost_shares(plan, fill_nodes(plan))
    }
    assert shares == {"Deployment default/a": Decimal("15.00"), "free": Decimal("65.00")}
