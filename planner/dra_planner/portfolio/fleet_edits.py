"""Apply a scenario's edits to a fleet: the document with changed keys is read like any fleet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from fnmatch import fnmatchcase
from typing import Any

from dra_planner import catalog as tables
from dra_planner.errors import PlannerError
from dra_planner.fleet import Fleet, LearnedMachine, read_fleet
from dra_planner.portfolio.schema import Scenario

_NO_NODES = {"min": 0, "max": 0}


def edit_fleet(
    fleet: Fleet, scenario: Scenario, catalog: Sequence[LearnedMachine] = ()
) -> tuple[Fleet, tuple[str, ...]]:
    """Return the fleet of a scenario, and its assumptions.

    `catalog` are learned machine types that its pools can use. A pool that is removed, or whose
    zones are all lost, keeps its name and has no nodes. Raises PlannerError if an edit doesn't
    match a pool of the fleet, or if the resulting fleet is invalid.
    """
    if not scenario.edits_fleet:
        return fleet, ()
    document = fleet.document()
    pools: list[dict[str, Any]] = document["pools"]
    assumptions: list[str] = []
    for pool in _named(pools, scenario.remove_pools, "removePools"):
        pool["count"] = dict(_NO_NODES)
    for pattern, keys in scenario.pools.items():
        for pool in _named(pools, [pattern], "pools"):
            pool.update(_merged(pool, keys))
    pools += [pool.model_dump(mode="json", by_alias=True) for pool in scenario.add_pools]
    if scenario.kubernetes:
        document["kubernetes"] = scenario.kubernetes
    if scenario.driver:
        document["drivers"]["nvidia"]["version"] = scenario.driver
    assumptions += _lose_zones(document, scenario.zones_lost)
    edited = read_fleet(document, catalog=catalog)
    if scenario.prices or scenario.price_factor is not None:
        _set_prices(document, edited, scenario)
        edited = read_fleet(document, catalog=catalog)
    return edited, tuple(assumptions)


def _named(
    pools: list[dict[str, Any]], patterns: Iterable[str], key: str
) -> Iterator[dict[str, Any]]:
    for pattern in patterns:
        found = [pool for pool in pools if fnmatchcase(pool["name"], pattern)]
        if not found:
            names = ", ".join(pool["name"] for pool in pools)
            raise PlannerError(
                f'{key}: no pool name matches "{pattern}"',
                fix=f"use one of this fleet's pools: {names}",
            )
        yield from found


def _merged(pool: Mapping[str, Any], keys: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys to set. Missing node limits stay unchanged."""
    count = keys.get("count")
    if isinstance(count, Mapping):
        return {**keys, "count": {**pool["count"], **count}}
    return dict(keys)


def _lose_zones(document: dict[str, Any], lost: list[str]) -> Iterator[str]:
    """Remove zones from pools. The network still spans them, without nodes of these pools."""
    if not lost:
        return
    network = document["network"].get("zones")
    for pool in document["pools"]:
        zones = pool["zones"] or (network if isinstance(network, list) else [])
        kept = [zone for zone in zones if zone not in lost]
        if not zones:
            yield (
                f"pool {pool['name']}: the cloud chooses the zones, so this scenario assumes that "
                "the pool's nodes run in the remaining zones"
            )
        elif kept:
            pool["zones"] = kept
        else:
            pool["count"] = dict(_NO_NODES)


def _set_prices(document: dict[str, Any], fleet: Fleet, scenario: Scenario) -> None:
    for entry, pool in zip(document["pools"], fleet.pools, strict=True):
        price = scenario.prices.get(pool.machine)
        if price is None and scenario.price_factor is not None:
            before = pool.price_per_hour or _list_price(
                fleet, pool.machine, spot=pool.capacity == "spot"
            )
            price = None if before is None else before * scenario.price_factor
        if price is not None:
            if not price:
                raise PlannerError("priceFactor 0 sets all prices to 0", fix="use a factor above 0")
            entry["pricePerHour"] = str(price)


def _list_price(fleet: Fleet, machine: str, *, spot: bool) -> Decimal | None:
    price = tables.price(fleet.machine(machine), fleet.region, "spot" if spot else "on-demand")
    return None if price is None else price.usd_per_hour_max
