"""Simulate the scheduler: a demand on given nodes, in given pod arrival orders.

    predicted_nodes(offers, counts), observed_nodes(offers)     the nodes
    Simulator.of(demand, nodes, classes, features).run(order)   → SimulationOutcome
    standard_orders(random_orders)                              the orders that are tried
    check_orders(seeds)                                         those that counts are checked with
    simulate_counts(question, steps)                            nodes per pool that place everything
                                                                in all of them
    find_fixes(question, found, placements, steps)              what else would: each tried in all
                                                                of them

A scheduler is a `Profile`: weights of plugins by name, and the arguments of NodeResourcesFit. A
second scheduler that packs is `Profile(name="packing",
fit=FitArguments(strategy="MostAllocated"))`; RequestedToCapacityRatio has a `shape`. Preferences
are scored as in kube-scheduler, from what pods and nodes say: `PodSpec.preferred_nodes`
(NodeAffinity), taints of a node with the effect PreferNoSchedule (TaintToleration),
`PodSpec.preferred_pods` with any topology key, `kubernetes.io/hostname` included
(InterPodAffinity). The plugins are in `plugins/`, one module each.

    workloads/   who makes pods, and which of them quotas and budgets let in or go
    cluster/     nodes, pods and devices as they are
    scheduler/   queue, filters and scores, the choice of a node, preemption
    plugins/     what filters and scores
    sizing/      counts of nodes, fixes and losses: searches with many simulations

A packing that exists is not yet a cluster that works: the scheduler takes pods one by one, in the
order in which they come, and puts each on the node that scores best at that moment. Deterministic
for stated seeds.
"""

from dra_planner.simulation.arrival_orders import (
    AT_ONCE,
    REVERSED,
    SETTLED,
    ArrivalOrder,
    OrderName,
    check_orders,
    standard_orders,
)
from dra_planner.simulation.cluster.nodes import SimulatedNode, observed_nodes, predicted_nodes
from dra_planner.simulation.outcome import SimulationOutcome, WorkloadOutcome, failure_reasons
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
