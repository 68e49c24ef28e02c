"""Compute the number of nodes in each pool: a proven bound and the best packing, with reasons for
pending pods.
"""

from dra_planner.sizing.bound.node_needs import LevelNeeds, WorkNeeds, node_needs
from dra_planner.sizing.doubts import DoubtfulPlace
from dra_planner.sizing.leftovers import count_state
from dra_planner.sizing.prices import hourly_usd, node_costs
from dra_planner.sizing.reasons import POOL_TOO_SMALL, devices_of
from dra_planner.sizing.result import DeviceCount, NodePattern, PoolSize, Sizing, WorkloadSize
from dra_planner.sizing.sizing import Sizer, size_pools
from dra_planner.sizing.topology import unjudged_rule

__all__ = [
    "POOL_TOO_SMALL",
    "DeviceCount",
    "DoubtfulPlace",
    "LevelNeeds",
    "NodePattern",
    "PoolSize",
    "Sizer",
    "Sizing",
    "WorkNeeds",
    "WorkloadSize",
    "count_state",
    "devices_of",
    "hourly_usd",
    "node_costs",
    "node_needs",
    "size_pools",
    "unjudged_rule",
]
