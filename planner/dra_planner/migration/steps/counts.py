"""Node counts of the pools while only some workloads have moved."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from msgspec import Struct

from dra_planner.fleet import Fleet
from dra_planner.fleet.pools import Count, Pool
from dra_planner.manifests.objects import KubernetesObject
from dra_planner.migration.steps.states import as_source, objects_of, without
from dra_planner.plan import Plan, PlanRequest, make_plan
from dra_planner.sources import Source

Counts = Mapping[str, int]


class PoolSizing(Struct, frozen=True):
    """Sizes the pools of a fleet that contains device-plugin pools and their DRA twins.

    `users` are all workloads with devices, named as in `Target.keep`.
    """

    fleet: Fleet
    users: frozenset[str]
    kubernetes: str = ""

    def plan(self, sources: tuple[Source, ...], fleet: Fleet) -> Plan:
        """Return the plan of manifests on pools of the fleet."""
        return make_plan(
            PlanRequest(sources=sources, fleet=fleet, kubernetes=self.kubernetes, with_fixes=False)
        )

    def plugin_counts(
        self, state: Sequence[Source], moved: Collection[str], before: Counts
    ) -> dict[str, int]:
        """Return how many nodes the device-plugin pools need for workloads that haven't moved.

        The counts never exceed those in `before`.

        The nodes of the previous step are enough for these workloads, because they also ran other
        workloads. After the first move, a pool without workloads has 0 nodes, even below its
        minimum. A pool keeps its nodes (initially its maximum) if it's uncertain whether the plan
        places its pods.
        """
        pools = [pool for pool in self.fleet.pools if not pool.is_dra]
        empty = [pool.model_copy(update={"count": Count(max=pool.count.max)}) for pool in pools]
        plan = self._plan_part(without(objects_of(state), moved), empty)
        needed, doubtful = _desired(plan), doubtful_pools(plan)
        counts = {}
        for pool in pools:
            if pool.name in doubtful:
                counts[pool.name] = before.get(pool.name, pool.count.max)
                continue
            least = pool.count.min if needed[pool.name] or not moved else 0
            count = max(needed[pool.name], least)
            counts[pool.name] = min(count, before.get(pool.name, count))
        return counts

    def doubtful_plugin_pools(self, state: Sequence[Source]) -> frozenset[str]:
        """Return the device-plugin pools whose node count is unknown before the first step."""
        pools = [pool for pool in self.fleet.pools if not pool.is_dra]
        return doubtful_pools(self._plan_part(objects_of(state), pools))

    def dra_counts(
        self, state: Sequence[Source], moved: Collection[str], before: Counts
    ) -> dict[str, int]:
        """Return the number of nodes that the DRA pools need for workloads that have moved. It
        never decreases.
        """
        pools = [
            pool.model_copy(
                update={
                    "count": Count(min=before.get(pool.name, pool.count.min), max=pool.count.max)
                }
            )
            for pool in self.fleet.pools
            if pool.is_dra
        ]
        return _desired(self._plan_part(without(objects_of(state), self.users - set(moved)), pools))

    def counts_of(self, sources: tuple[Source, ...], least: Counts) -> dict[str, int]:
        """Return the counts of all pools. The counts of device-plugin pools are fixed, and DRA
        pools never lose nodes.
        """
        pools = [
            pool.model_copy(
                update={
                    "count": Count(
                        min=least[pool.name],
                        max=pool.count.max if pool.is_dra else least[pool.name],
                    )
                }
            )
            for pool in self.fleet.pools
        ]
        return _desired(self.plan(sources, self.fleet.model_copy(update={"pools": pools})))

    def _plan_part(self, objects: Iterable[KubernetesObject], pools: Sequence[Pool]) -> Plan | None:
        if not pools:
            return None
        fleet = self.fleet.model_copy(update={"pools": list(pools)})
        return self.plan((as_source(objects, "part.yaml"),), fleet)


def doubtful_pools(plan: Plan | None) -> frozenset[str]:
    """Return the pools on which pending pods might run, so that their node count is unknown."""
    return frozenset(
        pool
        for each in (plan.workloads if plan is not None else ())
        if each.pending
        for pool, verdict in each.fits
        if verdict == "cannot-tell"
    )


def _desired(plan: Plan | None) -> dict[str, int]:
    return {pool.name: pool.nodes.desired for pool in (plan.pools if plan is not None else ())}


def with_counts(fleet: Fleet, counts: Counts) -> Fleet:
    """Return the fleet with these pools at these counts."""
    pools = [
        pool.model_copy(update={"count": Count(min=counts[pool.name], max=counts[pool.name])})
        if pool.name in counts
        else pool
        for pool in fleet.pools
    ]
    return fleet.model_copy(update={"pools": pools})


def with_maximums(fleet: Fleet, limits: Fleet) -> Fleet:
    """Return the fleet with the maximums in `limits` for its DRA pools, so that rollouts have room
    for additional pods.
    """
    maximums = {pool.name: pool.count.max for pool in limits.pools if pool.is_dra}
    pools = [
        pool.model_copy(update={"count": Count(min=pool.count.min, max=maximums[pool.name])})
        if pool.name in maximums
        else pool
        for pool in fleet.pools
    ]
    return fleet.model_copy(update={"pools": pools})


def without_plugin(fleet: Fleet, counts: Counts) -> Fleet:
    """Return the fleet with only its DRA pools, and with these counts as their minimums."""
    pools = [
        pool.model_copy(update={"count": Count(min=counts[pool.name], max=pool.count.max)})
        for pool in fleet.pools
        if pool.is_dra
    ]
    return fleet.model_copy(update={"pools": pools, "device_plugin": False})
