"""Allocate devices to a pod in the same way as the scheduler, or explain why no devices fit.

    open_node(node, slices, classes, features) -> NodeState   a node before any pod of the demand
    open_offer(offer, classes, features, sight)               the same from an offer
    place(shape, state) -> Placement | Refusal | Undecided    one pod on one node, without changes
    Placement.node                                            the state afterward
    reasons_of(answer) -> reasons                             why a pod wasn't placed
    explain(shape, state) -> NodeExplanation                  the search as counts, step by step
    suggest_edits(refusal, …) -> edits                        changes that would make it fit

Devices, requests, and claims are tried in upstream's order. `simulation` chooses between several
nodes.
"""

from __future__ import annotations

from dra_planner.allocation.node.pod_rules import Sight, sight_of
from dra_planner.allocation.node.state import NodeState, open_node, open_offer
from dra_planner.allocation.place import place
from dra_planner.allocation.reasons.edits import Edit
from dra_planner.allocation.reasons.explanation import NodeExplanation, explain
from dra_planner.allocation.reasons.pods import reasons_of
from dra_planner.allocation.reasons.suggestions import suggest_edits
from dra_planner.allocation.verdicts import Answer, Placement, Refusal, Undecided

__all__ = [
    "Answer",
    "Edit",
    "NodeExplanation",
    "NodeState",
    "Placement",
    "Refusal",
    "Sight",
    "Undecided",
    "explain",
    "open_node",
    "open_offer",
    "place",
    "reasons_of",
    "sight_of",
    "suggest_edits",
]
