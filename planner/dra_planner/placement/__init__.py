"""Search for the smallest set of guards that makes the scheduler follow a low-cost plan.

    find_guards(question)            guards with counts that the full simulation proves, or None
    guard_demand(demand, guards)     the demand with the guards applied to its pods
    choose_pools(needs, pools)       the pools that a plan with guards should use, out of very many

The scheduler doesn't follow a packing: it spreads small pods over large nodes. Guards keep pods
apart that would block each other (`groups`), so that counts close to the packing suffice in any pod
arrival order.
"""

from dra_planner.placement.assignment import Pools
from dra_planner.placement.candidates import WORTH, GuardQuestion
from dra_planner.placement.pool_choice import choose_pools
from dra_planner.placement.proof import CountProver
from dra_planner.placement.search import GuardedCounts, find_guards
from dra_planner.placement.steering import guard_demand, guard_pod

__all__ = [
    "WORTH",
    "CountProver",
    "GuardQuestion",
    "GuardedCounts",
    "Pools",
    "choose_pools",
    "find_guards",
    "guard_demand",
    "guard_pod",
]
