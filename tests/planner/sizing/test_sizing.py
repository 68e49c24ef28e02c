"""Demand and pools in, nodes and verdicts out."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from msgspec.structs import replace
from sizing_builders import (
    CLASSES,
    FEATURES,
    GIB,
    counts,
    demand,
    gpu_claim,
    pool,
    ranked_claim,
    size,
    workload,
)

from dra_planner.model import (
    Blocked,
    ClaimSpec,
    CounterConsumption,
    CounterSet,
    Device,
    DeviceCapacity,
    DeviceRequest,
    ExactDeviceRequest,
    Figures,
    LabelSelector,
    PodAffinityTerm,
    Reason,
    Requirement,
    Taint,
    Toleration,
    TopologySpreadConstraint,
    Verdict,
)
from dra_planner.quantity import Quantity
from dra_planner.sizing import size_pools

UNBOUNDED = Figures(1, 2, None, None)
SELF = PodAffinityTerm(
    topology_key="kubernetes.io/hostname",
    label_selector=LabelSelector((Requirement("app", "In", ("web",)),)),
)


@pytest.mark.parametrize(
    ("case", "pods", "gpus", "bound", "plan"),
    [
        ("one pod opens one node", 1, 1, 1, 1),
        ("eight pods fill one node", 8, 1, 1, 1),
        ("the ninth opens another", 9, 1, 2, 2),
        ("four devices go twice", 4, 4, 2, 2),
        ("five devices go once and strand three", 4, 5, 4, 4),
        ("the portfolio doesn't ask a question for", 0, 1, 0, 0),
    ],
)
def test_pods_of_one_shape_have_the_expected_counts(
    case: str, pods: int, gpus: int, bound: int, plan: int
) -> None:
    sizing = size([pool("a")], workload("web", pods, gpus=gpus))
    assert (sizing.verdict, counts(sizing)) == ("fits", {"a": (bound, plan)}), case


def test_stranded_devices_are_unusable_for_the_demand() -> None:
    devices = size([pool("a")], workload("web", 4, gpus=5)).pool("a").devices
    assert (devices.total, devices.used, devices.stranded) == (32, 20, 12)
    devices = size([pool("a")], workload("web", 3, gpus=2)).pool("a").devices
    assert (devices.total, devices.used, devices.stranded) == (8, 6, 0)


def test_pods_of_five_and_four_devices_do_not_share_a_node() -> None:
    sizing = size(
        [pool("a", at_most=20)], workload("five", 10, gpus=5), workload("four", 10, gpus=4)
    )
    assert counts(sizing) == {"a": (15, 15)}


def test_bound_respects_that_only_one_pool_fits_a_shape() -> None:
    pools = [pool("big", gpus=8, usd="10"), pool("small", gpus=1, usd="1")]
    sizing = size(pools, workload("pair", 6, gpus=2), workload("single", 3, gpus=1))
    assert counts(sizing) == {
        "big": (2, 2),
        "small": (0, 0),
    }  # single pods also fit
    assert sizing.nodes_bound == sizing.nodes_plan == 2
    assert sizing.hourly_plan == sizing.hourly_bound == Decimal(20)


def test_cheaper_pool_is_used() -> None:
    pools = [pool("dear", gpus=8, usd="80"), pool("cheap", gpus=1, usd="2")]
    assert counts(size(pools, workload("web", 3, gpus=1)))["cheap"][1] == 3
    pools = [pool("dear", gpus=8, usd="8"), pool("cheap", gpus=1, usd="2")]
    sizing = size(pools, workload("web", 9, gpus=1))
    assert {name: plan for name, (_, plan) in counts(sizing).items()} == {"dear": 1, "cheap": 1}


def test_pool_without_a_price_does_not_prevent_cost_optimization() -> None:
    pools = [
        pool("unpriced", gpus=4, usd=None),
        pool("dear", gpus=8, usd="55"),
        pool("cheap", gpus=1, usd="2"),
    ]
    sizing = size(pools, workload("web", 4, gpus=1))
    assert {name: plan for name, (_, plan) in counts(sizing).items() if plan} == {"cheap": 4}
    assert sizing.hourly_plan == Decimal(8)
    assert sizing.hourly_bound is None  # the pool without a price could cost less


def test_pool_without_a_price_is_used_if_no_other_fits() -> None:
    pools = [pool("unpriced", gpus=8, usd=None), pool("cheap", gpus=1, usd="2")]
    sizing = size(pools, workload("train", 1, gpus=4), workload("web", 2, gpus=1))
    assert {name: plan for name, (_, plan) in counts(sizing).items()} == {"unpriced": 1, "cheap": 0}
    assert sizing.hourly_plan is None


def test_without_prices_fewer_devices_outweigh_fewer_nodes() -> None:
    pools = [pool("large", gpus=8, usd=None), pool("small", gpus=1, usd=None)]
    sizing = size(pools, workload("web", 3, gpus=1))
    assert {name: plan for name, (_, plan) in counts(sizing).items()} == {"large": 0, "small": 3}
    assert sizing.hourly_plan is None
    assert sizing.hourly_bound is None


def test_minimum_is_kept_and_used_first() -> None:
    sizing = size([pool("a", at_least=2), pool("b", usd="0.1")], workload("web", 3, gpus=1))
    assert counts(sizing) == {"a": (2, 2), "b": (0, 0)}
    assert sizing.pool("a").devices.total == 16


def test_pool_that_is_too_small_reports_the_missing_nodes() -> None:
    sizing = size([pool("l4", gpus=1, at_least=1, at_most=1)], workload("web", 2, gpus=1))
    (web,) = sizing.workloads
    assert (sizing.verdict, web.placed, web.pending) == ("does-not-fit", 1, 1)
    (reason,) = web.reasons
    assert reason == Reason(
        code="pool-too-small",
        message='pool "l4" is fixed at 1 node, so 1 of 2 pods stays pending; claim '
        "default/web-claim-0 needs 1 more device",
        fix='set the count of pool "l4" to 2 (1 more node)',
        claim="default/claim-0",
        pool="l4",
    )
    assert (
        size([pool("l4", gpus=1, at_least=1, at_most=2)], workload("web", 2, gpus=1)).verdict
        == "fits"
    )


def test_workloads_of_one_shape_are_placed_in_canonical_order() -> None:
    first, second = workload("a", 1, gpus=1), workload("b", 1, gpus=1)
    merged = workload("both", 1, gpus=1)
    members = (*second.members, *first.members)
    shape = type(merged)(
        **{**{name: getattr(merged, name) for name in merged.__slots__}, "members": members}
    )
    sizing = size([pool("l4", gpus=1, at_most=1)], shape)
    assert [(each.workload.name, each.verdict) for each in sizing.workloads] == [
        ("a", "fits"),
        ("b", "does-not-fit"),
    ]


def test_pod_that_fits_no_node_has_a_reason_for_every_pool() -> None:
    sizing = size([pool("a", gpus=4), pool("b", gpus=2)], workload("web", 1, gpus=8))
    (web,) = sizing.workloads
    assert web.verdict == "does-not-fit"
    assert {reason.pool for reason in web.reasons} == {"a", "b"}
    assert web.fits == (("a", "does-not-fit"), ("b", "does-not-fit"))


def test_taint_is_reported() -> None:
    taints = [Taint("nvidia.com/gpu", "present")]
    sizing = size([pool("a", taints=taints)], workload("web", 1, gpus=1))
    assert "nvidia.com/gpu" in sizing.workloads[0].reasons[0].message
    tolerations = (Toleration(key="nvidia.com/gpu", operator="Exists"),)
    assert (
        size(
            [pool("a", taints=taints)], workload("web", 1, gpus=1, tolerations=tolerations)
        ).verdict
        == "fits"
    )


def test_two_full_nodes_are_found_although_first_fit_needs_three() -> None:
    devices = [Device(name=f"gpu-{index}") for index in range(7)]
    sizing = size(
        [pool("a", devices=devices, at_most=2, cpu=10_000)],
        workload("x", 2, gpus=3, cpu=4_000),
        workload("y", 2, gpus=2, cpu=3_000),
        workload("z", 2, gpus=2, cpu=3_000),
    )
    assert sizing.verdict == "fits"  # 3 + 2 + 2 devices, 4 + 3 + 3 cores: both nodes are full


def test_bound_counts_pods_that_may_fit_a_cheaper_pool() -> None:
    """Given pods that certainly fit the large pool, and the small one only if its nodes have the
    most memory that is possible: the bound counts them at the lower price.
    """
    small, large = pool("small", memory_gib=60), pool("large", usd="3")
    at_most = {**small.node.allocatable, "memory": 70 * GIB}
    sizing = size([replace(small, at_most=at_most), large], workload("a", 2, memory_gib=65))
    assert (sizing.hourly_bound, sizing.hourly_plan) == (Decimal(2), Decimal(3))


def test_bound_excludes_pods_that_only_may_fit() -> None:
    small = pool("small", memory_gib=60)
    at_most = {**small.node.allocatable, "memory": 70 * GIB}
    sizing = size([replace(small, at_most=at_most)], workload("a", 2, memory_gib=65))
    assert (sizing.verdict, sizing.hourly_bound) == ("cannot-tell", Decimal(0))


def test_pods_that_share_a_claim_run_on_one_node() -> None:
    sizing = size([pool("a", gpus=1)], workload("web", 5, shares="one"))
    assert counts(sizing) == {"a": (1, 1)}
    assert sizing.workloads[0].placements == (("a", 5),)
    assert sizing.pool("a").devices.used == 1


def test_pods_of_a_shared_claim_are_limited_to_one_node() -> None:
    sizing = size([pool("a", gpus=1, cpu=4_000)], workload("web", 5, shares="one", cpu=1_000))
    (web,) = sizing.workloads
    assert (web.verdict, web.placed, web.pending) == ("does-not-fit", 4, 1)
    assert web.reasons[0].code == "shared-claim-node-full"


def test_two_workloads_with_one_claim_are_one_item() -> None:
    sizing = size(
        [pool("a", gpus=1, cpu=2_000)],
        workload("w", 1, shares="one", cpu=1_500),
        workload("x", 1, shares="one", cpu=1_500),
    )
    assert [(each.placed, each.pending) for each in sizing.workloads] == [(1, 0), (0, 1)]


def test_daemon_pods_are_placed_on_every_node_first() -> None:
    daemon = workload("exporter", 0, gpus=1, per_node=True)
    sizing = size([pool("a", gpus=2)], workload("web", 3, gpus=1), daemon)
    assert counts(sizing) == {"a": (3, 3)}
    found = {
        each.workload.name: (each.wanted, each.placed, each.verdict) for each in sizing.workloads
    }
    assert found == {"exporter": (3, 3, "fits"), "web": (3, 3, "fits")}


def test_daemon_pods_of_another_pool_are_not_pending() -> None:
    daemon = workload("exporter", 0, gpus=1, per_node=True, node_selector={"pool": "b"})
    sizing = size([pool("a", gpus=2)], workload("web", 2, gpus=1), daemon)
    assert (sizing.verdict, counts(sizing)) == ("fits", {"a": (1, 1)})


def test_daemon_pods_that_do_not_fit_are_reported() -> None:
    daemon = workload("exporter", 0, gpus=3, per_node=True)
    sizing = size([pool("a", gpus=2)], workload("web", 2, gpus=1), daemon)
    found = {
        each.workload.name: (each.placed, each.pending, each.verdict) for each in sizing.workloads
    }
    assert found == {"exporter": (0, 1, "does-not-fit"), "web": (2, 0, "fits")}


def test_pods_with_anti_affinity_need_one_node_each() -> None:
    sizing = size([pool("a")], workload("web", 3, gpus=1, pod_anti_affinity=(SELF,)))
    assert counts(sizing) == {"a": (3, 3)}


def test_unlimited_ceiling_cannot_be_decided() -> None:
    pools, shape = [pool("a", gpus=1)], workload("web", UNBOUNDED, gpus=1)
    assert size(pools, shape, level="steady").verdict == "fits"
    ceiling = size(pools, shape, level="ceiling")
    (web,) = ceiling.workloads
    assert (ceiling.verdict, web.wanted, web.reasons[0].code) == (
        "cannot-tell",
        None,
        "unbounded-demand",
    )


def test_alternatives_are_bounded_by_the_smallest_one() -> None:
    """Without other pods, each pod gets 4 devices. With pods that leave only 3 devices free, each
    pod gets 1. Therefore, 2 pods per node isn't a valid bound.
    """
    sizing = size(
        [pool("a", gpus=8)], workload("ranked", 6, ranked_claim(4, 1)), workload("five", 2, gpus=5)
    )
    assert sizing.verdict == "fits"
    bound, plan = counts(sizing)["a"]
    assert bound <= 2 <= plan


def test_aligned_pairs_are_limited_by_roots() -> None:
    sizing = size(
        [pool("a", gpus=6)], workload("pair", 4, gpu_claim(2, match=f"{'gpu.nvidia.com'}/root"))
    )
    assert counts(sizing) == {"a": (2, 2)}


def test_blocked_pods_count_toward_the_verdict() -> None:
    missing = workload("web", 2, gpus=1)
    reason = Reason(
        code="template-missing", message="ResourceClaimTemplate default/x does not exist"
    )
    blocked = [Blocked(member=missing.members[0], verdict="does-not-fit", reason=reason)]
    sizing = size_pools(demand(blocked=blocked), [pool("a")], CLASSES, FEATURES)
    assert (sizing.verdict, sizing.workloads[0].pending, sizing.workloads[0].reasons) == (
        "does-not-fit",
        2,
        (reason,),
    )


def test_pods_without_pools_do_not_fit() -> None:
    sizing = size([], workload("web", 1, gpus=1))
    assert (sizing.verdict, sizing.workloads[0].reasons[0].code) == ("does-not-fit", "no-pools")


def test_unknown_class_is_reported() -> None:
    sizing = size([pool("a")], workload("web", 1, gpu_claim(1, device_class="tpu")))
    assert "tpu" in sizing.workloads[0].reasons[0].message


def test_sizing_does_not_depend_on_the_number_of_replicas() -> None:
    """A count is a number: ten million pods open as many classes of nodes as ten."""
    for pods in (10, 10_000, 10_000_000):
        sizing = size([pool("a", at_most=10_000_000)], workload("web", pods, gpus=1))
        assert counts(sizing)["a"] == (-(-pods // 8),) * 2


def spread(key: str, skew: int = 1) -> tuple[TopologySpreadConstraint, ...]:
    selector = LabelSelector((Requirement("app", "In", ("web",)),))
    return (TopologySpreadConstraint(max_skew=skew, topology_key=key, label_selector=selector),)


ZONE = "topology.kubernetes.io/zone"
OVER_ZONES = PodAffinityTerm(topology_key=ZONE, label_selector=SELF.label_selector)


@pytest.mark.parametrize(
    ("case", "pods", "rules", "zones", "verdict"),
    [
        ("no rule", 4, {}, ("a", "b"), "fits"),
        (
            "spread over zones of two",
            4,
            {"topology_spread": spread(ZONE)},
            ("a", "b"),
            "cannot-tell",
        ),
        ("spread over the only zone", 4, {"topology_spread": spread(ZONE)}, ("a",), "fits"),
        ("no more pods than the skew", 4, {"topology_spread": spread(ZONE, 4)}, ("a", "b"), "fits"),
        (
            "spread over hosts",
            4,
            {"topology_spread": spread("kubernetes.io/hostname")},
            ("a",),
            "cannot-tell",
        ),
        ("apart in zones", 2, {"pod_anti_affinity": (OVER_ZONES,)}, ("a", "b"), "cannot-tell"),
        ("nobody to be apart from", 1, {"pod_anti_affinity": (OVER_ZONES,)}, ("a", "b"), "fits"),
        ("together in a zone", 2, {"pod_affinity": (OVER_ZONES,)}, ("a", "b"), "cannot-tell"),
    ],
)
def test_rules_that_span_nodes_are_not_guessed(
    case: str, pods: int, rules: dict[str, Any], zones: tuple[str, ...], verdict: Verdict
) -> None:
    sizing = size([replace(pool("a"), zones=zones)], workload("web", pods, gpus=1, **rules))
    (web,) = sizing.workloads
    assert (web.verdict, web.placed, web.pending) == (verdict, pods, 0), case
    assert [reason.code for reason in web.reasons] == (
        ["rule-between-pods"] if verdict == "cannot-tell" else []
    )


def test_pods_with_rules_also_count_toward_the_bound() -> None:
    """Pods with affinity to other pods count for the bound, although small nodes reject them."""
    beside = workload("web", 8, gpus=2, pod_affinity=(SELF,))
    sizing = size([pool("large", usd="8"), pool("small", gpus=1)], beside)
    assert (sizing.nodes_bound, sizing.nodes_plan) == (2, 2)
    assert sizing.hourly_bound == sizing.hourly_plan == 16
    (nowhere,) = size([pool("small", gpus=1)], beside).workloads
    assert nowhere.verdict == "does-not-fit"


def test_missing_topology_label_rejects_pods() -> None:
    rack = PodAffinityTerm(topology_key="rack", label_selector=SELF.label_selector)
    for rules in ({"topology_spread": spread("rack")}, {"pod_affinity": (rack,)}):
        (web,) = size([pool("a")], workload("web", 2, gpus=1, **rules)).workloads
        assert (web.verdict, web.placed, web.pending) == ("does-not-fit", 0, 2)
        assert web.reasons[0].code == "topology-label"
        known = size([pool("a", labels={"rack": "r1"})], workload("web", 1, gpus=1, **rules))
        assert known.workloads[0].placed == 1
        perhaps = replace(pool("a"), unknown_labels=("rack",))
        assert (
            size([perhaps], workload("web", 2, gpus=1, **rules)).workloads[0].verdict
            == "cannot-tell"
        )


def test_pods_of_the_highest_priority_are_placed_if_not_all_fit() -> None:
    low, high = workload("low", 16, gpus=1), workload("high", 1, gpus=8, priority=10)
    sizing = size([pool("a", at_most=2)], low, high)
    assert {each.workload.name: each.placed for each in sizing.workloads} == {"high": 1, "low": 8}


@pytest.mark.parametrize("names", [("a", "b"), ("b", "a")])
def test_highest_priority_is_placed_after_a_proved_shortage(
    names: tuple[str, str],
) -> None:
    """Given more pods of one kind than devices, the pods with lower priority are pending."""
    low, high = names
    pods = workload(low, 2, gpus=8), workload(high, 2, gpus=8, priority=10)

    sizing = size([pool("a", at_most=3)], *pods)

    assert {each.workload.name: each.placed for each in sizing.workloads} == {high: 2, low: 1}


def test_namespaces_are_selected_by_their_labels() -> None:
    """The pods of the other namespace keep off nodes with pods of ours: each needs nodes of its
    own.
    """
    apart = replace(
        SELF,
        topology_key="kubernetes.io/hostname",
        label_selector=LabelSelector(),
        namespace_selector=LabelSelector((Requirement("team", "In", ("x",)),)),
    )
    shapes = workload("web", 2, gpus=1), workload("alone", 1, gpus=1, pod_anti_affinity=(apart,))
    for labels, nodes in (({"team": "x"}, 2), ({}, 1)):
        given = replace(demand(*shapes), namespaces={"default": labels})
        assert size_pools(given, [pool("a")], CLASSES, FEATURES).pool("a").plan == nodes


def test_shared_devices_are_bounded_by_their_capacity() -> None:
    memory = {"memory": DeviceCapacity(Quantity.parse("24Gi"))}
    shared = Device(name="gpu-0", capacity=memory, allow_multiple_allocations=True)
    part = ExactDeviceRequest(device_class_name="gpu", capacity={"memory": Quantity.parse("10Gi")})
    claim = ClaimSpec(requests=(DeviceRequest(name="gpu", exactly=part),))
    sizing = size([pool("a", devices=[shared])], workload("web", 6, claim), minor=36)
    assert counts(sizing) == {"a": (3, 3)}
    assert sizing.pool("a").devices.used == 3


def test_partitions_are_bounded_by_the_counters_of_their_gpu() -> None:
    """A GPU with eight slices fits two halves. The bound counts whole GPUs."""
    total = CounterSet(name="gpu-0", counters={"slices": Quantity.parse("8")})

    def partition(name: str, slices: int) -> Device:
        drawn = CounterConsumption(
            counter_set="gpu-0", counters={"slices": Quantity.parse(str(slices))}
        )
        return Device(name=name, consumes_counters=(drawn,), attributes={"slices": slices})

    devices = [partition(f"half-{index}", 4) for index in range(4)]
    sizing = size(
        [pool("a", devices=devices, counters=[total])], workload("web", 5, gpus=1), minor=36
    )
    assert counts(sizing) == {"a": (3, 3)}
    used = sizing.pool("a").devices
    assert (used.total, used.used) == (3, 3)
