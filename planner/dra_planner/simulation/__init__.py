"""Simulate how the scheduler places pods on given nodes, in given pod arrival orders.

    predicted_nodes(offers, counts), observed_nodes(offers)     the nodes
    Simulator.of(demand, nodes, classes, features).run(order)   → SimulationOutcome
    standard_orders(random_orders)                              the orders to try
    count_checks(demand, level)                                 additional orders to check counts
    simulate_counts(question, steps)                            nodes per pool with which all pods
                                                                are placed in every order
    find_fixes(question, found, placements, steps)              changes with which all pods are
                                                                placed in every order

A `Profile` describes a scheduler: weights of plugins by name, and the arguments of
NodeResourcesFit. A second scheduler that packs is `Profile(name="packing",
fit=FitArguments(strategy="MostAllocated"))`. RequestedToCapacityRatio has a `shape`. As in
kube-scheduler, scores include the preferences of pods and nodes: `PodSpec.preferred_nodes`
(NodeAffinity), node taints with the effect PreferNoSchedule (TaintToleration), and
`PodSpec.preferred_pods` with any topology key, including `kubernetes.io/hostname`
(InterPodAffinity). `plugins/` contains one module for each plugin.

    workloads/   controllers that create pods, quotas that admit them, and disruption budgets
    cluster/     the current nodes, pods, and devices
    scheduler/   queue, filters and scores, choice of a node, and preemption
    plugins/     filters and scores
    sizing/      node counts, fixes, and lost nodes: searches with many simulations

A packing proves that a placement exists, but the cluster might not reach it, because the scheduler
places pods one at a time, in their arrival order, each on the node with the best score at that
moment. The same seeds always give the same result.
"""

from dra_planner.simulation.arrival_orders import (
    AT_ONCE,
    REVERSED,
    SETTLED,
    ArrivalOrder,
    OrderName,
    check_orders,
    count_checks,
    standard_orders,
)
from dra_planner.simulation.cluster.nodes import SimulatedNode, observed_nodes, predicted_nodes
from dra_planner.simulation.known_answers import KnownAnswers
from dra_planner.simulation.outcome import SimulationOutcome, WorkloadOutcome, failure_reasons
from dra_planner.simulation.preparation import created_shape
from dra_planner.simulation.scheduler.profile import (
    DEFAULT,
    MOST_ALLOCATED,
    FitArguments,
    Profile,
    requested_to_capacity_ratio,
)
from dra_planner.simulation.simulator import Simulator
from dra_planner.simulation.sizing.counts import (
    CountQuestion,
    Opened,
    SimulatedCounts,
    SimulatedPool,
    Stranding,
    simulate_counts,
)
from dra_planner.simulation.sizing.fixes import (
    FIX_KINDS,
    PREFER_OTHERS,
    Fix,
    FixKind,
    PodSetRef,
    find_fixes,
    prefer_others,
)
from dra_planner.simulation.sizing.lost_nodes import Loss, Losses, simulate_losses

__all__ = [
    "AT_ONCE",
    "DEFAULT",
    "FIX_KINDS",
    "MOST_ALLOCATED",
    "PREFER_OTHERS",
    "REVERSED",
    "SETTLED",
    "ArrivalOrder",
    "CountQuestion",
    "FitArguments",
    "Fix",
    "FixKind",
    "KnownAnswers",
    "Loss",
    "Losses",
    "Opened",
    "OrderName",
    "PodSetRef",
    "Profile",
    "SimulatedCounts",
    "SimulatedNode",
    "SimulatedPool",
    "SimulationOutcome",
    "Simulator",
    "Stranding",
    "WorkloadOutcome",
    "check_orders",
    "count_checks",
    "created_shape",
    "failure_reasons",
    "find_fixes",
    "observed_nodes",
    "predicted_nodes",
    "prefer_others",
    "requested_to_capacity_ratio",
    "simulate_counts",
    "simulate_losses",
    "standard_orders",
]
