"""Allocate as the scheduler does, and say why not.

    open_node(node, slices, classes, features) -> NodeState      a node before any pod of the demand
    open_offer(offer, classes, features, shapes)                 the same from an offer
    place(shape, state) -> Placement | Refusal | Undecided       one pod on one node; nothing is changed
    Placement.node                                               the state afterwards: the commit is its use
    explain(shape, state) -> Explanation                         the search as counts, step by step
    suggest_edits(refusal, …) -> edits                           a minimal set of changes that would make it fit
    run(queue, cluster, choose) -> RunResult                     pod by pod on a cluster, with preemption
    fill(groups, runs, choose) -> BulkResult                     many equal pods on equal nodes at once

Where the order of devices, requests and claims matters it is upstream's; which of several feasible nodes wins
is left to the caller, since the scheduler breaks ties by chance.
"""

from dra_planner.allocation.bulk import BulkResult, NodeRun, can_bulk, equal_nodes, fill
from dra_planner.allocation.cluster import Cluster, QueuedPod, open_cluster
from dra_planner.allocation.edits import Edit
from dra_planner.allocation.explanation import Explanation, explain
from dra_planner.allocation.interpod import Sight, sight_of
from dra_planner.allocation.place import place
from dra_planner.allocation.run import Pending, RunResult, run
from dra_planner.allocation.state import NodeState, open_node, open_offer
from dra_planner.allocation.suggestions import suggest_edits
from dra_planner.allocation.verdicts import Answer, Placement, Refusal, Undecided

__all__ = [
    "Answer",
    "BulkResult",
    "Cluster",
    "Edit",
    "Explanation",
    "NodeRun",
    "NodeState",
    "Pending",
    "Placement",
    "QueuedPod",
    "Refusal",
    "RunResult",
    "Sight",
    "Undecided",
    "can_bulk",
    "equal_nodes",
    "explain",
    "fill",
    "open_cluster",
    "open_node",
    "open_offer",
    "place",
    "run",
    "sight_of",
    "suggest_edits",
]
