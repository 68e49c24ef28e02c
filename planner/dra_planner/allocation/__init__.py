"""Allocate as the scheduler does, and say why not.

    open_node(node, slices, classes, features) -> NodeState      a node before any pod of the demand
    open_offer(offer, classes, features, shapes)                 the same from an offer
    place(shape, state) -> Placement | Refusal | Undecided       one pod on one node; nothing is changed
    Placement.node                                               the state afterwards: the commit is its use

Where the order of devices, requests and claims matters it is upstream's; which of several feasible nodes wins
is left to the caller, since the scheduler breaks ties by chance.
"""

from dra_planner.allocation.interpod import Sight, sight_of
from dra_planner.allocation.place import place
from dra_planner.allocation.state import NodeState, open_node, open_offer
from dra_planner.allocation.verdicts import Placement, Refusal, Undecided, Verdict

__all__ = [
    "NodeState",
    "Placement",
    "Refusal",
    "Sight",
    "Undecided",
    "Verdict",
    "open_node",
    "open_offer",
    "place",
    "sight_of",
]
