"""Maximums without which a plan that fits would have another finding about its pools."""

from __future__ import annotations

from dra_planner.fleet import Fleet
from dra_planner.plan.judgement.judgement import Judgement
from dra_planner.plan.judgement.rollouts.stalled import rollout_maximums
from dra_planner.plan.pools.racks import counts_in_racks, find_racks, rack_counts


def needed_maximums(judgement: Judgement, fleet: Fleet, free: Judgement) -> dict[str, int]:
    """Return the higher maximums that a plan needs, by pool.

    They allow counts that the cloud can build, complete racks, and the first pods of rollouts.
    `free` is the judgement without guards, which can split pools.
    """
    counts = planned_counts(judgement, fleet)
    buildable = {each.name: each.buildable(counts[each.name]) for each in judgement.offers}
    needed = counts_in_racks(judgement, fleet, buildable)
    for pool, nodes in rollout_maximums(free).items():
        needed[pool] = max(nodes, needed.get(pool, 0))
    most = {offer.name: offer.count_max for offer in free.offers}
    return {name: needed[name] for name in most if needed.get(name, 0) > most[name]}


def built_counts(judgement: Judgement, fleet: Fleet) -> dict[str, int]:
    """Return the number of nodes in each pool that the cloud builds for a plan."""
    counts = rack_counts(fleet, find_racks(judgement, fleet), planned_counts(judgement, fleet))
    for offer in judgement.offers:
        nodes = offer.buildable(counts[offer.name])
        if nodes <= offer.count_max:
            counts[offer.name] = nodes
    return counts


def planned_counts(judgement: Judgement, fleet: Fleet) -> dict[str, int]:
    """Return the number of nodes that a plan needs in each pool, including spare nodes, before it's
    rounded to racks or to counts that the cloud can build.
    """
    if judgement.survival is not None:
        return dict(judgement.survival.counts)
    counts: dict[str, int] = {}
    for pool in judgement.sizing.pools:
        simulated = judgement.simulated_nodes(pool.name, judgement.level)
        if simulated is None or fleet.sizing == "packing":
            counts[pool.name] = pool.plan
        else:
            counts[pool.name] = simulated
    return counts
