"""The texts next to the counts are true, and a printed fix helps if you follow it."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from msgspec.structs import replace
from sizing_builders import (
    CLASSES,
    DRIVER,
    FEATURES,
    counts,
    demand,
    gpu_claim,
    pool,
    size,
    workload,
)

from dra_planner.model import ExactDeviceRequest, Member, Shape
from dra_planner.offers import Offer
from dra_planner.sizing import Sizing, size_pools


def fixes(sizing: Sizing) -> list[str]:
    return [reason.fix for each in sizing.workloads for reason in each.reasons if reason.fix]


def follow(pools: Sequence[Offer], fix: str) -> list[Offer]:
    """The pools with the maximums that a fix requests."""
    maximums = {name: int(nodes) for name, nodes in re.findall(r'of pool "([^"]+)" to (\d+)', fix)}
    assert maximums, fix
    return [
        replace(each, count_max=maximums[each.name], count_min=maximums[each.name])
        if each.count_min == each.count_max and each.name in maximums
        else replace(each, count_max=maximums.get(each.name, each.count_max))
        for each in pools
    ]


def two_pools(a: int, b: int) -> list[Offer]:
    return [pool("a", gpus=1, at_most=a, usd="1"), pool("b", gpus=2, at_most=b, usd="5")]


@pytest.mark.parametrize(
    ("case", "pools", "shapes"),
    [
        ("one pool, one workload", [pool("a", gpus=1, at_most=2)], [workload("web", 5, gpus=1)]),
        ("the cheaper of two grows", two_pools(2, 1), [workload("web", 8, gpus=1)]),
        (
            "either of two grows",
            [pool("a", gpus=1, at_most=1, usd="1"), pool("b", gpus=4, at_most=1, usd="3.5")],
            [workload("web", 10, gpus=1)],
        ),
        ("only one of two takes the pods", two_pools(3, 1), [workload("pair", 6, gpus=2), workload("web", 3, gpus=1)]),
        ("each pool has pods of its own", [
            replace(each, count_max=1) for each in (pool("a", gpus=2), pool("b", gpus=4))
        ], [
            workload("w", 4, gpus=2, node_selector={"pool": "a"}),
            workload("x", 4, gpus=4, node_selector={"pool": "b"}),
        ]),
        ("a fixed count", [pool("a", gpus=2, at_least=1, at_most=1)], [workload("web", 3, gpus=2)]),
    ],
)  # fmt: skip
def test_every_fix_works_when_it_is_applied(
    case: str, pools: list[Offer], shapes: list[Shape]
) -> None:
    sizing = size(pools, *shapes)
    assert sizing.verdict != "fits"
    assert fixes(sizing), case
    grown = pools
    for each in sizing.workloads:
        for reason in each.reasons:
            after = {
                sized.workload: sized
                for sized in size(follow(pools, reason.fix), *shapes).workloads
            }
            assert after[each.workload].verdict == "fits", (case, reason.fix)
            grown = follow(grown, reason.fix)
    assert size(grown, *shapes).verdict == "fits", (case, fixes(sizing))


def test_raise_does_not_rely_on_another_pool() -> None:
    """With every limit off, the larger nodes of the other pool would do with 6 of these; they are
    not to be had.
    """
    pools = [pool("a", gpus=1, at_most=4, usd="1"), pool("b", gpus=8, at_most=0, usd="2")]
    (fix,) = fixes(size(pools, workload("web", 8, gpus=1)))
    assert fix in (
        'raise the maximum of pool "a" to 8: 4 more nodes',
        'set the count of pool "b" to 1 (1 more node)',
    )
    assert size(follow(pools, fix), workload("web", 8, gpus=1)).verdict == "fits"


def test_node_with_thousands_of_pods_is_one_node() -> None:
    sizing = size(
        [pool("a", cpu=10_000, pods=100_000, memory_gib=10_000)], workload("tiny", 2_500, cpu=1)
    )
    assert counts(sizing) == {"a": (1, 1)}


def test_bound_depends_on_the_node_capacity() -> None:
    """Admin access doesn't use a device, so only the maximum number of pods limits such claims on a
    node.
    """
    request = replace(
        gpu_claim().requests[0],
        exactly=ExactDeviceRequest(device_class_name="gpu", admin_access=True),
    )
    watcher = workload("watch", 2_500, replace(gpu_claim(), requests=(request,)), cpu=1)
    sizing = size([pool("a", cpu=10_000, pods=100_000, memory_gib=10_000)], watcher)
    assert counts(sizing) == {"a": (1, 1)}


def test_each_workload_of_a_shape_reports_its_own_pods() -> None:
    one, other = workload("a", 19, gpus=1), workload("b", 61, gpus=1)
    members: tuple[Member, ...] = (*one.members, *other.members)
    sizing = size([pool("l4", gpus=1, at_most=26)], replace(one, members=members))
    messages = {
        each.workload.name: [reason.message for reason in each.reasons] for each in sizing.workloads
    }
    assert messages["a"] == []
    assert "54 of 61 pods stay pending; " in messages["b"][0]


@pytest.mark.parametrize(
    ("case", "shape"),
    [
        ("no four GPUs on one root", workload("quad", 1, gpu_claim(4, match=f"{DRIVER}/root"))),
        ("a daemon holds the devices", workload("all", 1, gpus=8)),
    ],
)
def test_additional_node_is_not_a_fix_if_an_empty_node_rejects(case: str, shape: Shape) -> None:
    daemon = workload("exporter", 0, gpus=1, per_node=True)
    sizing = size_pools(demand(shape, daemon), [pool("a", gpus=8)], CLASSES, FEATURES)
    assert sizing.verdict == "does-not-fit"
    assert not any("add a node" in fix for fix in fixes(sizing)), (case, fixes(sizing))
