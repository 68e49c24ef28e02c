"""How many nodes a pool is created with, given who changes its count afterwards."""

from __future__ import annotations

from dra_planner.plan.values import NodeRange


def node_range(minimum: int, plan: int, maximum: int, can_wake: bool) -> NodeRange:
    """Return minimum, desired and maximum of a pool whose plan needs `plan` nodes.

    Room below what the plan needs is left only where something can wake the pool when it is empty.
    """
    least = minimum if can_wake else plan
    return NodeRange(minimum=min(least, plan), desired=plan, maximum=maximum)
