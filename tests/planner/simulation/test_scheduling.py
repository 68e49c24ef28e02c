"""The node that the scheduler chooses for a pod, and the pods that it preempts: small clusters, one
rule at a time.
"""

from __future__ import annotations

from allocation_builders import GI, claim, device, first_of, node, request, shape
from clusters import ZONE, bare, offer, offer_of, pods_by_node, simulator, workload
from msgspec.structs import replace

from dra_planner.allocation import reasons_of
from dra_planner.manifests import BoundPod
from dra_planner.model import (
    Container,
    LabelSelector,
    NodeSelector,
    NodeSelectorTerm,
    ObjectMeta,
    PodAffinityTerm,
    PodSpec,
    PreferredNodes,
    PreferredPods,
    Requirement,
    ShapeClaim,
    Taint,
    TopologySpreadConstraint,
)
from dra_planner.model import ObjectKey as Key
from dra_planner.releases import features_of
from dra_planner.simulation import AT_ONCE, MOST_ALLOCATED, REVERSED, ArrivalOrder

APP = LabelSelector((Requirement("app", "In", ("a",)),))
ONE_GPU, FOUR_GPUS = claim(request()), claim(request(count=4))


def spread(key: str, *, skew: int = 1, hard: bool = True) -> TopologySpreadConstraint:
    when = "DoNotSchedule" if hard else "ScheduleAnyway"
    return TopologySpreadConstraint(
        max_skew=skew, topology_key=key, when_unsatisfiable=when, label_selector=APP
    )


def labelled(**more):
    return shape(labels={"app": "a"}, **more)


# -- scores


def test_pod_is_placed_on_the_node_with_the_most_free_capacity():
    assert pods_by_node([bare(shape())], [offer("small", cpu=4_000), offer("large")]) == {
        "p0": {"large": 1}
    }


def test_most_allocated_fills_nodes():
    pods = [workload(shape(), 4, kind="Job")]
    nodes = [offer("n1"), offer("n2")]
    assert pods_by_node(pods, nodes, profile=MOST_ALLOCATED) == {"w0": {"n1": 4}}
    assert pods_by_node(pods, nodes) == {"w0": {"n1": 2, "n2": 2}}


def test_deployment_pods_spread_but_job_pods_do_not():
    """The larger node has more left after a pod, but that counts less than the pods of the same
    owner there.
    """
    nodes = [offer("small", cpu=16_000, memory=64 * GI), offer("large")]
    tiny = shape(requests={"cpu": 1000, "memory": GI})
    assert pods_by_node([workload(tiny, 2, kind="Job")], nodes) == {"w0": {"large": 2}}
    assert pods_by_node([workload(tiny, 2)], nodes) == {"w0": {"large": 1, "small": 1}}


def test_a_preferred_taint_is_avoided():
    nodes = [offer("n1", taints=[Taint("k", effect="PreferNoSchedule")]), offer("n2", cpu=8_000)]
    assert pods_by_node([bare(shape())], nodes) == {"p0": {"n2": 1}}


def test_preferred_node_label_outweighs_free_capacity():
    wish = PreferredNodes(1, NodeSelectorTerm((Requirement("disk", "In", ("fast",)),)))
    nodes = [offer("n1"), offer("n2", cpu=8_000, labels={"disk": "fast"})]
    assert pods_by_node([bare(shape(preferred_nodes=(wish,)))], nodes) == {"p0": {"n2": 1}}


def test_preferred_affinity_and_anti_affinity_are_scored():
    near = PreferredPods(100, PodAffinityTerm(topology_key=ZONE, label_selector=APP))
    far = PreferredPods(-100, PodAffinityTerm(topology_key=ZONE, label_selector=APP))
    nodes = [offer("a1", zone="a", cpu=8_000), offer("b1", zone="b")]
    first = bare(labelled(node_selector={ZONE: "a"}), "first", at=0)
    for wish, where in ((near, "a1"), (far, "b1")):
        assert pods_by_node([first, bare(shape(preferred_pods=(wish,)), "p", at=1)], nodes)[
            "p"
        ] == {where: 1}


def test_alternatives_are_scored_since_1_35():
    """The preferred class is only on the fuller node."""
    wish = claim(first_of("r", ("gpu", 2), ("gpu", 1)))
    nodes = [offer("two", 2, cpu=8_000), offer("one", 1, cpu=64_000)]
    pod = bare(shape(wish))
    assert pods_by_node([pod], nodes, features=features_of(36)) == {"p0": {"two": 1}}
    assert pods_by_node([pod], nodes, features=features_of(34)) == {"p0": {"one": 1}}


# -- rules between pods


def test_zone_spread_counts_zones_with_full_nodes():
    """Nodes of the other zone are full, but the zone exists: only so many pods may differ."""
    nodes = [offer("a1", zone="a"), offer("b1", zone="b", cpu=100)]
    assert pods_by_node([workload(labelled(topology_spread=(spread(ZONE),)), 6)], nodes) == {
        "w0": {"a1": 1}
    }


def test_spread_key_without_nodes_rejects_every_pod():
    assert pods_by_node([workload(labelled(topology_spread=(spread("rack"),)), 2)], [offer()]) == {
        "w0": {}
    }


def test_affinity_selects_pods_of_labeled_namespaces():
    term = PodAffinityTerm(
        topology_key="kubernetes.io/hostname",
        label_selector=APP,
        namespace_selector=LabelSelector((Requirement("team", "In", ("x",)),)),
    )
    anchor = bare(
        shape(
            namespace="other", labels={"app": "a"}, node_selector={"kubernetes.io/hostname": "n2"}
        ),
        at=0,
    )
    follower = workload(shape(pod_affinity=(term,)), 2, at=1)
    nodes = [offer("n1"), offer("n2")]
    known = pods_by_node([anchor, follower], nodes, namespaces={"other": {"team": "x"}})
    assert known["w1"] == {"n2": 2}
    assert pods_by_node([anchor, follower], nodes, namespaces={"other": {}})["w1"] == {}


def test_pod_with_affinity_is_retried_after_its_target_arrives():
    term = PodAffinityTerm(topology_key="kubernetes.io/hostname", label_selector=APP)
    follower, anchor = (
        bare(shape(pod_affinity=(term,)), "follower", at=0),
        bare(labelled(), "anchor", at=1),
    )
    assert pods_by_node([follower, anchor], [offer()]) == {
        "follower": {"n1": 1},
        "anchor": {"n1": 1},
    }


def test_shared_claim_keeps_its_pods_on_one_node():
    shared = ShapeClaim(name="gpu", spec=ONE_GPU, shared=Key("default", "one"))
    pods = [bare(shape(shared, requests={"cpu": 40_000}), name, at) for at, name in enumerate("ab")]
    outcome = simulator(pods, [offer("n1", 1), offer("n2", 1)]).run()
    (failure,) = outcome.pending.values()
    codes = {
        outcome.nodes[each.node].name: reasons_of(each.verdict)[0].code
        for each in failure.rejections
    }
    assert codes == {"n1": "insufficient-cpu", "n2": "claim-elsewhere"}


# -- pod arrival order


def test_small_pods_that_arrive_first_block_whole_nodes():
    nodes = [offer("n1", 4), offer("n2", 4)]
    pods = [workload(shape(ONE_GPU), 4, name="small", at=0), bare(shape(FOUR_GPUS), "whole", at=1)]
    found = simulator(pods, nodes)
    assert not found.run().places_everything
    assert found.run(REVERSED).places_everything


def test_simultaneous_bare_pods_come_before_pods_of_controllers():
    pods = [workload(shape(ONE_GPU), 4, name="small", at=0), bare(shape(FOUR_GPUS), "whole", at=1)]
    assert simulator(pods, [offer("n1", 4), offer("n2", 4)]).run(AT_ONCE).places_everything


def test_second_pod_of_a_stateful_set_comes_after_other_pods():
    pods = [
        workload(shape(FOUR_GPUS), 2, name="sts", kind="StatefulSet", at=0),
        workload(shape(ONE_GPU), 4, name="small", at=1),
    ]
    nodes = [offer(name, 4) for name in ("n1", "n2", "n3")]
    outcome = simulator(pods, nodes).run(AT_ONCE)
    counts = {
        ref.name: (each.placed, each.pending, each.not_created)
        for ref, each in outcome.workloads.items()
    }
    assert counts == {"sts": (1, 1, 0), "small": (4, 0, 0)}
    assert simulator(pods, nodes).run().places_everything


def test_pods_after_a_pending_one_of_a_stateful_set_are_not_created():
    outcome = simulator([workload(shape(ONE_GPU), 4, kind="StatefulSet")], [offer("n1", 2)]).run()
    (found,) = outcome.workloads.values()
    assert (found.placed, found.pending, found.not_created) == (2, 1, 1)


def test_higher_priority_comes_first_among_simultaneous_pods():
    low = workload(shape(ONE_GPU), 16, name="low", at=0)
    high = workload(shape(claim(request(count=8)), priority=10), 1, name="high", at=1)
    found = simulator([low, high], [offer("n1", 8), offer("n2", 8)])
    placed = {ref.name: each.placed for ref, each in found.run(AT_ONCE).workloads.items()}
    assert placed == {"low": 8, "high": 1}
    later = {ref.name: each.placed for ref, each in found.run().workloads.items()}
    assert later == {"low": 16, "high": 0}  # preemption frees no devices


def test_daemon_set_places_one_pod_on_each_eligible_node():
    pods = [workload(shape(ONE_GPU), 3, kind="DaemonSet")]
    nodes = [offer("n1", 1), offer("n2", 0), offer("n3", 1, taints=[Taint("own")])]
    outcome = simulator(pods, nodes).run()
    (found,) = outcome.workloads.values()
    assert (dict(found.nodes), found.pending) == ({"n1": 1}, 1)


# -- preemption


def test_fewest_pods_of_the_lowest_priority_are_preempted():
    low = [bare(shape(requests={"cpu": 30_000}, priority=1), f"low{at}", at) for at in range(2)]
    mid = bare(shape(requests={"cpu": 60_000}, priority=5), "mid", 2)
    high = bare(shape(requests={"cpu": 60_000}, priority=9), "high", 3)
    outcome = simulator([*low, mid, high], [offer("n1"), offer("n2")]).run()
    assert {name.name for name in outcome.preempted} == {"low0", "low1"}
    assert outcome.workloads[high.members[0].workload].placed == 1


def test_many_pods_of_negative_priority_do_not_cost_less_than_one():
    keep = {"kubernetes.io/hostname": "n1"}
    many = [
        bare(shape(requests={"cpu": 15_000}, priority=-10, node_selector=keep), f"many{at}", at)
        for at in range(4)
    ]
    other = {"kubernetes.io/hostname": "n2"}
    one = bare(shape(requests={"cpu": 60_000}, priority=-10, node_selector=other), "one", 4)
    high = bare(shape(requests={"cpu": 60_000}), "high", 5)
    outcome = simulator([*many, one, high], [offer("n1"), offer("n2")]).run()
    assert [name.name for name in outcome.preempted] == ["one"]


def test_pods_that_waited_come_first_after_a_preemption():
    """The low-priority pod keeps other pods out of the zone. When it's preempted, the workers have
    already been tried, but the wide pod hasn't.
    """
    away = PodAffinityTerm(topology_key=ZONE, label_selector=APP)
    low = bare(
        shape(
            requests={"cpu": 1_000},
            priority=-1,
            pod_anti_affinity=(away,),
            node_selector={"is": "n2"},
        ),
        "low",
        at=0,
    )
    wide = bare(
        labelled(requests={"cpu": 6_000}, node_selector={ZONE: "a", "is": "n1"}), "wide", at=1
    )
    workers = workload(labelled(requests={"cpu": 5_000}), 2, name="worker", kind="Job", at=2)
    nodes = [offer(name, zone="a", cpu=8_000, labels={"is": name}) for name in ("n1", "n2")]
    assert pods_by_node([low, wide, workers], nodes) == {
        "low": {},
        "wide": {"n1": 1},
        "worker": {"n2": 1},
    }


def test_controller_re_creates_a_preempted_pod():
    low = workload(shape(requests={"cpu": 60_000}), 1, name="low", at=0)
    high = bare(shape(requests={"cpu": 60_000}, priority=9), "high", 1)
    found = simulator([low, high], [offer()]).run().workloads
    counts = {ref.name: (each.placed, each.pending) for ref, each in found.items()}
    assert counts == {"low": (0, 1), "high": (1, 0)}


def test_a_replacement_can_prevent_a_preempting_pod_from_being_placed():
    """Given a preempted pod that ends at a random moment, when its replacement is placed on the
    other node first, expect the preempting pod to stay pending, because the replacement keeps it
    out of the zone.
    """
    away = PodAffinityTerm(topology_key=ZONE, label_selector=APP)
    low = workload(shape(priority=-1, pod_anti_affinity=(away,)), 1, name="low", at=0)
    high = bare(labelled(node_selector={"is": "n1"}), "high", at=1)
    nodes = [
        offer("n1", zone="a", cpu=64_000, labels={"is": "n1"}),
        offer("n2", zone="a", cpu=8_000, labels={"is": "n2"}),
    ]
    cluster = simulator([low, high], nodes)

    def placed(seed: int | None, *, lags: bool) -> tuple[tuple[str, dict[str, int]], ...]:
        found = cluster.run(ArrivalOrder("settled", seed), lags=lags).workloads
        return tuple((ref.name, dict(each.nodes)) for ref, each in found.items())

    preempting = (("low", {}), ("high", {"n1": 1}))
    replaced = (("low", {"n2": 1}), ("high", {}))
    assert placed(None, lags=False) == preempting
    found = [placed(seed, lags=True) for seed in range(8)]
    assert preempting in found
    assert replaced in found


def test_a_waiting_pod_can_be_retried_between_the_pods_of_a_workload():
    """Given a pod that waits for a pod of the workload, when it follows the first of these pods to
    a node, expect the others to prefer this node. Without it, they use both nodes.
    """
    near = PodAffinityTerm(topology_key="kubernetes.io/hostname", label_selector=APP)
    waiting = bare(shape(pod_affinity=(near,)), "waiting", at=0)
    workers = workload(labelled(requests={"cpu": 1_000}, priority=-1), 2, name="worker", at=1)
    nodes = [
        offer(name, cpu=64_000, labels={"kubernetes.io/hostname": name}) for name in ("n1", "n2")
    ]
    cluster = simulator([waiting, workers], nodes)

    def nodes_of_workers(seed: int, *, lags: bool) -> int:
        found = cluster.run(ArrivalOrder("settled", seed), lags=lags).workloads
        return next(len(each.nodes) for ref, each in found.items() if ref.name == "worker")

    assert {nodes_of_workers(seed, lags=False) for seed in range(8)} == {2}
    assert {nodes_of_workers(seed, lags=True) for seed in range(32)} == {1, 2}


# -- large clusters


def test_only_part_of_a_large_cluster_is_evaluated():
    """The best node is the last of 200, and the search stops at 100 feasible ones; the next begins
    behind them.
    """
    nodes = [offer(f"n{number}") for number in range(199)] + [
        offer("best", cpu=640_000, memory=2560 * GI)
    ]
    pods = [bare(shape(), f"p{at}", at) for at in range(2)]
    placed = pods_by_node(pods, nodes)
    assert placed == {"p0": {"n0": 1}, "p1": {"best": 1}}


def test_serial_numbers_of_devices_do_not_distinguish_nodes():
    """Unless a selector reads them; and each node's devices keep their own names."""

    def serial(number: int):
        return offer(
            f"n{number}",
            devices=[device(f"gpu-{at}", {"uuid": f"{number}/{at}"}) for at in range(4)],
        )

    nodes = [serial(number) for number in range(3)]
    found = simulator([workload(shape(ONE_GPU), 6)], nodes)
    assert len(set(found.setting.start.stages)) == 1
    cluster = found.run().cluster
    pools = {
        device.pool
        for placed in cluster.pods.values()
        for device in cluster.devices_of(placed, placed.picks[0])
    }
    assert pools == {"n0", "n1", "n2"}
    picky = claim(request("r", "device.attributes['gpu.nvidia.com'].uuid == '1/2'"))
    read = simulator([workload(shape(picky), 2)], nodes)
    assert len(set(read.setting.start.stages)) == 2
    (found_picky,) = read.run().workloads.values()
    assert (dict(found_picky.nodes), found_picky.pending) == ({"n1": 1}, 1)


def test_error_on_a_node_ends_the_attempt():
    bad = claim(request("r", "device.attributes['gpu.nvidia.com'].missing == 1"))
    outcome = simulator([bare(shape(bad))], [offer("n1", 1), offer_of(node("n2"))]).run()
    (failure,) = outcome.pending.values()
    assert failure.error is not None


def test_pod_with_an_error_is_retried_after_other_pods_arrive():
    """The selector fails on the GPU of n1; once n1 is full, the scheduler no longer evaluates it
    there.
    """
    picky = claim(request("r", "device.attributes['gpu.nvidia.com'].uuid == 'good'"))
    nodes = [
        offer("n1", devices=[device("gpu-0")], cpu=4_000),
        offer("n2", devices=[device("gpu-0", {"uuid": "good"})], cpu=2_000),
    ]
    pod, filler = (
        bare(shape(picky, requests={"cpu": 1_000}), "picky"),
        bare(shape(requests={"cpu": 3_500}), "big", at=1),
    )
    assert pods_by_node([pod], nodes)["picky"] == {}
    assert pods_by_node([pod, filler], nodes) == {"picky": {"n2": 1}, "big": {"n1": 1}}


def test_too_few_steps_are_reported():
    found = simulator([workload(shape(), 50)], [offer()])
    assert not found.run(steps=10).complete
    assert found.run(ArrivalOrder("random", 3)).complete


def test_nodes_with_equal_pods_are_evaluated_once():
    """Every pod in a snapshot specifies its node, which doesn't make other nodes different."""

    def with_daemon(name):
        pod = PodSpec(containers=(Container(name="c", requests={"cpu": 100}),), node_name=name)
        meta = ObjectMeta(name=f"agent-{name}", namespace="kube-system", labels={"app": "agent"})
        return replace(offer(name, 2), pods=(BoundPod(meta=meta, spec=pod),))

    nodes = [with_daemon(f"n{number}") for number in range(5)]
    start = simulator([workload(shape(ONE_GPU), 3)], nodes).setting.start
    assert len(set(map(id, start.stages))) == 1
    assert [placed.node for placed in start.pods] == [0, 1, 2, 3, 4]
    only_n1 = NodeSelector(
        (NodeSelectorTerm(match_fields=(Requirement("metadata.name", "In", ("n1",)),)),)
    )
    named = [
        bare(shape(ONE_GPU, node_affinity=only_n1), "picky"),
        workload(shape(ONE_GPU), 3, at=1),
    ]
    assert len(set(map(id, simulator(named, nodes).setting.start.stages))) == 5
