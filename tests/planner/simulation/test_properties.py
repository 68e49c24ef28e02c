"""Properties of every cluster and every pod arrival order."""

from __future__ import annotations

from collections import Counter

from allocation_builders import GI, claim, request, shape
from clusters import ZONE, offer, simulator, workload
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from dra_planner.model import (
    LabelSelector,
    NodeSelectorTerm,
    PodAffinityTerm,
    PreferredNodes,
    Requirement,
    TopologySpreadConstraint,
)
from dra_planner.simulation import (
    AT_ONCE,
    REVERSED,
    SETTLED,
    ArrivalOrder,
    SimulationOutcome,
    Simulator,
)

EVERYONE = LabelSelector()
APART = PodAffinityTerm(topology_key=ZONE, label_selector=EVERYONE)
EVEN = TopologySpreadConstraint(max_skew=1, topology_key=ZONE, label_selector=EVERYONE)
ORDERS = st.sampled_from(
    [SETTLED, AT_ONCE, REVERSED, *(ArrivalOrder("random", seed) for seed in range(3))]
)


@st.composite
def nodes(draw):
    made = []
    for number in range(draw(st.integers(1, 5))):
        zone, gpus = draw(st.sampled_from(("a", "b", ""))), draw(st.integers(0, 4))
        made.append(
            offer(f"n{number}", gpus, zone=zone, cpu=draw(st.sampled_from((4_000, 16_000))))
        )
    return made


@st.composite
def workloads(draw):
    made = []
    for at in range(draw(st.integers(1, 4))):
        claims = [claim(request(count=draw(st.integers(1, 3))))] if draw(st.booleans()) else []
        rules = draw(
            st.sampled_from(({}, {}, {"pod_anti_affinity": (APART,)}, {"topology_spread": (EVEN,)}))
        )
        pod = shape(
            *claims,
            requests=draw(st.sampled_from(({}, {"cpu": 1_000}, {"cpu": 3_000, "memory": GI}))),
            priority=draw(st.sampled_from((0, 0, 5))),
            **rules,
        )
        kind = draw(st.sampled_from(("Deployment", "StatefulSet", "Job", "DaemonSet")))
        made.append(workload(pod, draw(st.integers(1, 6)), kind=kind, at=at))
    return made


def sums(outcome: SimulationOutcome) -> list[tuple[str, int, int]]:
    return [
        (ref.name, each.placed, each.pending) for ref, each in sorted(outcome.workloads.items())
    ]


@given(nodes(), workloads(), ORDERS)
@settings(max_examples=120, deadline=None)
def test_no_placement_violates_a_filter_or_a_capacity(given_nodes, demand, order):
    outcome = simulator(demand, given_nodes).run(order)
    cluster = outcome.cluster
    zones: Counter[str] = Counter()
    for number, node in enumerate(outcome.nodes):
        pods = list(cluster.pods_on(number))
        state = cluster.stage_of[number].state
        zone = node.meta.labels.get(ZONE, "")
        zones[zone] += len(pods)
        requested = [pod.pod.kind.requested for pod in pods]
        assert (
            sum(each.cpu for each in requested)
            == dict(state.used).get("cpu", 0)
            <= node.allocatable["cpu"]
        )
        assert sum(each.memory for each in requested) <= node.allocatable["memory"]
        picked = [pick.index for pod in pods for got in pod.picks for pick in got.picks]
        assert len(picked) == len(set(picked))
        assert state.taken == sum(1 << index for index in picked)
    apart = [placed for placed in cluster.pods.values() if placed.pod.kind.spec.pod_anti_affinity]
    for placed in apart:
        zone = outcome.nodes[placed.node].meta.labels.get(ZONE)
        assert zone is None or zones[zone] == 1


@given(nodes(), workloads(), st.sampled_from([SETTLED, AT_ONCE, REVERSED]))
@settings(max_examples=60, deadline=None)
def test_evaluating_equal_nodes_once_changes_nothing(given_nodes, demand, order):
    """A preference for a node that doesn't exist doesn't change scores, but makes all nodes
    different.
    """
    absent = PreferredNodes(
        1, NodeSelectorTerm(match_fields=(Requirement("metadata.name", "In", ("absent",)),))
    )
    apart = [replace(each, pod=replace(each.pod, preferred_nodes=(absent,))) for each in demand]
    together = simulator(demand, given_nodes)
    assert together.run(order).placed == simulator(apart, given_nodes).run(order).placed


@given(nodes(), workloads(), ORDERS)
@settings(max_examples=60, deadline=None)
def test_every_pod_is_accounted_for(given_nodes, demand, order):
    outcome = simulator(demand, given_nodes).run(order)
    for each in demand:
        found = outcome.workloads[each.members[0].workload]
        if not each.per_node:
            assert (
                found.placed + found.pending + found.not_created + found.lost == each.figures.steady
            )


@given(nodes(), workloads(), ORDERS)
@settings(max_examples=60, deadline=None)
def test_simulation_is_reproducible_and_independent_of_previous_runs(given_nodes, demand, order):
    shared: Simulator = simulator(demand, given_nodes)
    shared.run(REVERSED)
    again, fresh = shared.run(order), simulator(demand, given_nodes).run(order)
    assert again.placed == fresh.placed
    assert again.preempted == fresh.preempted


@given(workloads(), st.integers(1, 4), st.integers(1, 4), ORDERS)
@settings(max_examples=60, deadline=None)
def test_order_of_equal_nodes_changes_only_names(demand, gpus, count, order):
    made = [offer(f"n{number}", gpus, zone="a", cpu=8_000) for number in range(count)]
    forwards, backwards = (
        simulator(demand, made).run(order),
        simulator(demand, made[::-1]).run(order),
    )
    assert sums(forwards) == sums(backwards)
    assert sorted(state.used for state in forwards.states) == sorted(
        state.used for state in backwards.states
    )
