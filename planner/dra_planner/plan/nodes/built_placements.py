"""Pools of each workload on the nodes to build, which can differ from the pools in the packing."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from dra_planner.model import WorkloadRef
from dra_planner.plan.model import Plan
from dra_planner.plan.nodes.groups import FilledNodes, outcomes_on_built_nodes
from dra_planner.plan.nodes.simulated_nodes import simulated_contents

if TYPE_CHECKING:  # only the simulation needs this module
    from dra_planner.simulation import SimulationOutcome


def built_placements(plan: Plan, filled: FilledNodes) -> dict[WorkloadRef, Counter[str]]:
    """Return the number of pods of each workload by pool: those of the filled nodes if they are
    simulated, otherwise those of the packing. The simulation doesn't cover the system pool.
    """
    is_simulated = filled.source == "simulated"
    built = {pool.name for pool in plan.pools} if is_simulated else set()
    placements = {
        each.workload: Counter({pool: pods for pool, pods in each.placements if pool not in built})
        for each in plan.workloads
    }
    for group in filled.groups if is_simulated else ():
        for ref, pods in group.pods:
            if ref in placements:
                placements[ref][group.pool] += pods * group.nodes
    return placements


def built_pools(plan: Plan) -> dict[WorkloadRef, set[str]]:
    """Return the pools that pods of each workload use in any simulated arrival order, or in the
    packing if the nodes to build weren't simulated.
    """
    outcomes = outcomes_on_built_nodes(plan)
    built = {pool.name for pool in plan.pools} if outcomes else set()
    pools = {
        each.workload: {pool for pool, pods in each.placements if pods} - built
        for each in plan.workloads
    }
    for outcome in outcomes:
        for ref, pool in _places(plan, outcome):
            if ref in pools:
                pools[ref].add(pool)
    return pools


def _places(plan: Plan, outcome: SimulationOutcome) -> set[tuple[WorkloadRef, str]]:
    return {
        (ref, pool)
        for pool, content, _ in simulated_contents(plan, outcome)
        for ref in content.pods
    }
