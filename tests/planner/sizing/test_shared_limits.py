"""Limits that pools share: the pods that fit within them, the proof, and the limit that is reported
if pods don't fit.
"""

from __future__ import annotations

import pytest
from sizing_builders import counts, pool, size, workload

from dra_planner.model import SharedLimit, fill_up, nodes_left

QUOTA = 'quota "GPU machines"'


def quota(most: int, **takes: int) -> SharedLimit:
    return SharedLimit(name=QUOTA, most=most, unit="vCPU", takes=takes)


def test_nodes_beyond_the_limit_use_the_other_pool() -> None:
    pools = [pool("cheap", gpus=2, usd="1"), pool("dear", gpus=2, usd="4")]
    sizing = size(pools, workload("serve", 8, gpus=1), limits=[quota(20, cheap=8)])
    assert (sizing.verdict, counts(sizing)) == ("fits", {"cheap": (0, 2), "dear": (2, 2)})
    assert (sizing.hourly_bound, sizing.hourly_plan) == (10, 10)


def test_scarce_limit_prefers_machine_types_with_more_devices() -> None:
    pools = [pool("small", gpus=1, usd="1"), pool("large", gpus=8, usd="20")]
    sizing = size(pools, workload("serve", 8, gpus=1), limits=[quota(96, small=48, large=96)])
    assert (sizing.verdict, counts(sizing)["large"], counts(sizing)["small"][1]) == (
        "fits",
        (1, 1),
        0,
    )


@pytest.mark.parametrize(("pods", "verdict"), [(8, "fits"), (9, "does-not-fit")])
def test_demand_beyond_the_limit_is_proved_infeasible(pods: int, verdict: str) -> None:
    pools = [pool("a", gpus=2), pool("b", gpus=4)]
    sizing = size(pools, workload("serve", pods, gpus=1), limits=[quota(16, a=8, b=8)])
    assert sizing.verdict == verdict


def test_fix_for_a_limit_is_sufficient() -> None:
    pools = [pool("only", gpus=2)]
    serve = workload("serve", 7, gpus=1)
    (sized,) = size(pools, serve, limits=[quota(17, only=8)]).workloads
    (reason,) = sized.reasons
    assert reason.code == "limit-too-small"
    assert (
        reason.message == f"{QUOTA} allows 17 vCPUs, so 3 of 7 pods stay pending; "
        "claim default/serve-claim-0 needs 3 more devices"
    )
    assert reason.fix == f"raise {QUOTA} to 32 vCPUs"
    assert size(pools, serve, limits=[quota(32, only=8)]).verdict == "fits"
    assert size(pools, serve, limits=[quota(31, only=8)]).verdict == "does-not-fit"


def test_limit_and_maximum_are_reported_together() -> None:
    pools = [pool("only", gpus=2, at_most=3)]
    serve = workload("serve", 8, gpus=1)
    (sized,) = size(pools, serve, limits=[quota(16, only=8)]).workloads
    assert (
        sized.reasons[0].fix
        == f'raise {QUOTA} to 32 vCPUs and raise the maximum of pool "only" to 4 (1 more node)'
    )
    raised = [pool("only", gpus=2, at_most=4)]
    assert size(raised, serve, limits=[quota(32, only=8)]).verdict == "fits"


def test_usage_of_other_nodes_is_included_in_the_message() -> None:
    beside = SharedLimit(name=QUOTA, most=8, unit="vCPU", takes={"only": 8}, beside=4)
    (sized,) = size([pool("only", gpus=2)], workload("serve", 4, gpus=1), limits=[beside]).workloads
    assert sized.reasons[0].message.startswith(f"{QUOTA} allows 12 vCPUs, ")
    assert sized.reasons[0].fix == f"raise {QUOTA} to 20 vCPUs"


def test_minimum_nodes_keep_their_part_of_the_limit() -> None:
    pools = [pool("first", gpus=2, usd="1"), pool("kept", gpus=0, at_least=1, usd="1")]
    sizing = size(pools, workload("serve", 4, gpus=1), limits=[quota(2, first=1, kept=1)])
    assert (sizing.verdict, sizing.pool("first").plan, sizing.pool("kept").plan) == (
        "does-not-fit",
        1,
        1,
    )


def test_limit_connects_otherwise_independent_pools() -> None:
    pools = [pool("a", gpus=1, labels={"of": "a"}), pool("b", gpus=1, labels={"of": "b"})]
    shapes = [workload(name, 2, gpus=1, node_selector={"of": name}) for name in ("a", "b")]
    assert size(pools, *shapes, limits=[quota(4, a=1, b=1)]).verdict == "fits"
    assert size(pools, *shapes, limits=[quota(3, a=1, b=1)]).verdict == "does-not-fit"


def test_remaining_nodes_depend_on_the_scarcest_limit() -> None:
    limits = [quota(20, a=8, b=4), quota(3, a=1)]
    assert nodes_left(limits, {"a": 1, "b": 1}) == {"a": 1, "b": 2}
    assert nodes_left(limits, {"a": 3, "b": 3}) == {"a": 0, "b": 0}


def test_pools_are_filled_in_order_up_to_the_limit() -> None:
    assert fill_up([quota(10, a=2, b=3)], {"a": 1, "b": 0}, {"a": 3, "b": 9, "c": 5}) == {
        "a": 3,
        "b": 1,
        "c": 5,
    }
