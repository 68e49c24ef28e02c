"""The cheapest pools to add to a fleet so that all workloads fit, verified with a plan.

The candidates are all GPU machine types that the region sells on demand, in addition to the fleet's
pools at their maximums.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from decimal import Decimal
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.clouds import cloud
from dra_planner.errors import PlannerError
from dra_planner.fleet import Fleet, read_fleet
from dra_planner.offers import predict_offers
from dra_planner.plan.judgement.judge import judge
from dra_planner.plan.judgement.simulated_fixes import pools_to_taint, prefer_others_rows
from dra_planner.plan.model import Plan, PlanRequest
from dra_planner.plan.planning import make_plan
from dra_planner.plan.pools.architectures import selected_architectures
from dra_planner.plan.reading import read_checked
from dra_planner.plan.suggestion.buyable_machines import buyable_machines
from dra_planner.plan.suggestion.divided_devices import partitioned_pools
from dra_planner.plan.suggestion.missing.new_pools import zones_of_new_pool
from dra_planner.plan.suggestion.planned_fleets import ROOM, raised_for_rollouts
from dra_planner.plan.suggestion.suggestions import PoolType, SuggestRequest
from dra_planner.records import equality


class AddedPools(Struct, frozen=True, kw_only=True):
    """New pools in the form of a fleet document, the fleet with these pools, and its plan, which
    fits.
    """

    pools: tuple[dict[str, Any], ...]
    fleet: Fleet
    plan: Plan
    candidates: int

    @property
    def hourly_usd(self) -> Decimal | None:
        """The price of these pools' nodes, or None if a price is unknown."""
        names = {row["name"] for row in self.pools}
        prices = [
            (pool.nodes.desired, pool.hourly_usd) for pool in self.plan.pools if pool.name in names
        ]
        if any(price is None for _, price in prices):
            return None
        return sum((nodes * (price or Decimal(0)) for nodes, price in prices), Decimal(0))


class NoAddedPools(Struct, frozen=True):
    """No pools with which a plan fits. `pools` are new pools with enough capacity, for which the
    plan is *cannot tell*, because the simulated scheduler leaves pods pending in some orders. They
    are empty if no machine type has enough capacity.
    """

    pools: tuple[dict[str, Any], ...] = ()


@equality(unhashed=("rows",))
class _Offered(Struct, frozen=True):
    """The candidates' rows by pool name."""

    fleet: Fleet
    rows: Mapping[str, dict[str, Any]]

    def with_counts(self, counts: Mapping[str, int], last: Collection[str] = ()) -> Fleet:
        """Return the fleet with these maximums of candidates.

        Pods use the candidates in `last` last.
        """
        document = self.fleet.document()
        added = self.added(counts, last)
        return read_fleet({**document, "pools": [*document["pools"], *added]})

    def with_only(self, counts: Mapping[str, int]) -> Fleet:
        """Return the fleet with these maximums of candidates, but without its own pools."""
        return read_fleet({**self.fleet.document(), "pools": list(self.added(counts, ()))})

    def added(self, counts: Mapping[str, int], last: Collection[str]) -> tuple[dict[str, Any], ...]:
        """Return the rows of these candidates in the form of a fleet's document."""
        return tuple(
            {
                **self.rows[name],
                "count": {"min": 0, "max": nodes},
                **({"taints": prefer_others_rows(1)} if name in last else {}),
            }
            for name, nodes in counts.items()
            if nodes
        )


def find_added_pools(request: PlanRequest) -> AddedPools | NoAddedPools:
    """Return the cheapest pools with which the request's workloads fit its fleet. Pools only for
    pending pods take precedence over pools that also replace existing ones.

    Raises PlannerError for invalid input. A fleet on which everything fits doesn't get any pools.
    """
    fleet = request.fleet
    if fleet is None or request.observed:
        raise PlannerError(
            "pools can be added only to a fleet", fix="use --fleet or --stack instead of --observed"
        )
    offered = _offered(request, fleet)
    most = dict.fromkeys(offered.rows, _most_nodes(fleet))
    if not most:
        return NoAddedPools()
    everything = _sized(request, offered.with_counts(most))
    if everything.verdict != "fits":
        offered = _with_partitions(offered, everything)
        most = dict.fromkeys(offered.rows, _most_nodes(fleet))
        everything = _sized(request, offered.with_counts(most))
    if everything.verdict != "fits":
        return NoAddedPools()
    needed = _missing_pools(request, offered, most)
    missing = _confirmed(request, offered, needed) if needed else None
    if missing is not None:
        return missing
    used = [pool.name for pool in everything.pools if pool.name in most and pool.packing]
    found = [
        _confirmed(
            request,
            offered,
            {pool.name: pool.packing for pool in everything.pools if pool.name in used},
        )
    ]
    # with fewer machine types, fewer pods run on unsuitable nodes
    for name in used if len(used) > 1 else []:
        alone = _sized(request, offered.with_counts({name: most[name]}))
        if alone.verdict == "fits":
            found.append(_confirmed(request, offered, {name: alone.pool(name).packing}))
    fitting = [each for each in found if each is not None]
    if fitting:
        return min(fitting, key=_rank)
    enough = needed or {pool.name: pool.packing for pool in everything.pools if pool.name in used}
    return NoAddedPools(offered.added(enough, ()))


def _sized(request: PlanRequest, fleet: Fleet) -> Plan:
    """Return the plan without a simulation and without a search for fixes."""
    return make_plan(replace(request, fleet=fleet, steps=0, with_fixes=False))


def _missing_pools(
    request: PlanRequest, offered: _Offered, most: Mapping[str, int]
) -> Mapping[str, int]:
    """Return the cheapest pools for the workloads that have pending pods on the existing pools, or
    {} if there are none.
    """
    before = _sized(request, offered.fleet).judgement
    pending = {size.workload for size in before.sizing.workloads if size.pending}
    shapes = tuple(
        shape
        for shape in before.demand.shapes
        if any(member.workload in pending for member in shape.members)
    )
    candidates = offered.with_only(most)
    judged = judge(
        replace(before.demand, shapes=shapes, blocked=()),
        predict_offers(candidates, before.features),
        before.classes,
        before.features,
        level=before.level,
        fleet=candidates,
        with_fixes=False,
    )
    needed = {pool.name: pool.plan for pool in judged.sizing.pools if pool.plan}
    return needed if judged.sizing.verdict == "fits" else {}


def _most_nodes(fleet: Fleet) -> int:
    return cloud(fleet.cloud).nodes_of_a_pool[-1]


def _rank(each: AddedPools) -> tuple[bool, Decimal, int]:
    cost = each.plan.cost
    nodes = sum(pool.nodes.desired for pool in each.plan.pools)
    return cost is None, Decimal(0) if cost is None else cost.hourly_usd, nodes


def _confirmed(
    request: PlanRequest, offered: _Offered, needed: Mapping[str, int]
) -> AddedPools | None:
    """Return the pools with the number of nodes that the simulation needs, or None if the plan with
    them doesn't fit.

    Pools that pods should use last according to the plan get a PreferNoSchedule taint if this makes
    the fleet cheaper.
    """
    most = _most_nodes(offered.fleet)
    roomy = {name: min(2 * nodes + ROOM, most) for name, nodes in needed.items()}
    plan = make_plan(replace(request, fleet=offered.with_counts(roomy)))
    found = [_built(request, offered, needed, plan, ())]
    last = [name for name in pools_to_taint(plan.judgement.fixes) if name in needed]
    if last:
        tainted = make_plan(
            replace(request, fleet=offered.with_counts(roomy, last), with_fixes=False)
        )
        found.append(_built(request, offered, needed, tainted, last))
    return min((each for each in found if each is not None), key=_rank, default=None)


def _built(
    request: PlanRequest,
    offered: _Offered,
    needed: Mapping[str, int],
    plan: Plan,
    last: Collection[str],
) -> AddedPools | None:
    """Return the pools at the sizes that a plan builds, planned again.

    Returns None if either plan doesn't fit.
    """
    built = {
        pool.name: pool.nodes.desired
        for pool in plan.pools
        if pool.name in needed and pool.nodes.desired
    }
    if plan.running != "fits" or not built:
        return None
    grown = offered.with_counts(built, last)
    plan = make_plan(replace(request, fleet=grown, with_fixes=False))
    if plan.running != "fits":
        return None
    raised = raised_for_rollouts(plan, built)
    if raised:  # nodes that only rollouts need aren't part of the price
        most = {**built, **raised}
        roomy = offered.with_counts(most, last)
        planned = make_plan(replace(request, fleet=roomy, with_fixes=False))
        if planned.verdict == "fits":
            built, grown, plan = most, roomy, planned
    return AddedPools(
        pools=offered.added(built, last), fleet=grown, plan=plan, candidates=len(offered.rows)
    )


def _offered(request: PlanRequest, fleet: Fleet) -> _Offered:
    """Return the candidates that the fleet's cloud and drivers support, in addition to the fleet's
    pools.
    """
    manifests = read_checked(request.sources, fleet.features)
    suggestion = SuggestRequest(
        sources=request.sources,
        cloud=fleet.cloud,
        region=fleet.region,
        kubernetes=fleet.kubernetes,
        architectures=_architectures(fleet) | selected_architectures(manifests),
    )
    return _with_pools(_Offered(fleet, {}), map(PoolType, buyable_machines(suggestion, {})))


def _with_partitions(offered: _Offered, plan: Plan) -> _Offered:
    """Return the candidates, and candidates with MIG configurations for pods that need MIG devices.

    `plan` is the plan with all candidates.
    """
    fleet = offered.fleet
    machines = dict.fromkeys(row["machine"] for row in offered.rows.values())

    def fleet_of(pool: PoolType) -> dict[str, Any]:
        return {**fleet.document(), "quotas": [], "pools": [{**_row(fleet, pool), "count": 1}]}

    whole = (PoolType(fleet.machine(name)) for name in machines)
    return _with_pools(offered, partitioned_pools(whole, plan, fleet_of))


def _with_pools(offered: _Offered, pools: Iterable[PoolType]) -> _Offered:
    """Return the candidates with additional pools that the fleet allows."""
    fleet, rows = offered.fleet, dict(offered.rows)
    taken = {*(pool.name for pool in fleet.pools), *rows}
    for pool in pools:
        row = _row(fleet, pool)
        while row["name"] in taken:
            row["name"] += "-more"
        if _is_allowed(fleet, {**row, "count": 1}):
            taken.add(row["name"])
            rows[row["name"]] = row
    return _Offered(fleet, rows)


def _row(fleet: Fleet, pool: PoolType) -> dict[str, Any]:
    name = pool.name(cloud(fleet.cloud))
    mig = {"mig": pool.mig} if pool.mig else {}
    return {"name": name, "machine": pool.machine.name, **mig, **zones_of_new_pool(fleet)}


def _architectures(fleet: Fleet) -> frozenset[str]:
    """Return the architectures of the fleet's pools, on which its pods' images run."""
    return frozenset(fleet.machine(pool.machine).arch for pool in fleet.pools) or frozenset(
        {"amd64"}
    )


def _is_allowed(fleet: Fleet, row: dict[str, Any]) -> bool:
    document = fleet.document()
    try:
        read_fleet({**document, "quotas": [], "pools": [*document["pools"], row]})
    except PlannerError:
        return False
    return True
