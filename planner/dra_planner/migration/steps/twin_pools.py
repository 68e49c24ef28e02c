"""A DRA pool for each device-plugin pool, with the same machine type."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from msgspec import Struct

from dra_planner.clouds import cloud
from dra_planner.errors import PlannerError
from dra_planner.fleet import Fleet, Pool, read_fleet
from dra_planner.fleet.imported_pools import free_pool_name

_ONLY_OF_PLUGINS = ("allocation", "sharing", "migStrategy")


class Twins(Struct, frozen=True):
    """The fleet with a DRA pool for each device-plugin pool, the names of these pairs, and the
    reasons why other pools don't have one.
    """

    fleet: Fleet
    by_pool: Mapping[str, str] = {}
    missing: Mapping[str, str] = {}


def add_twins(fleet: Fleet) -> Twins:
    """Return the fleet with a DRA pool for each device-plugin pool. An existing DRA pool with the
    same machine type counts.
    """
    by_pool: dict[str, str] = {}
    missing: dict[str, str] = {}
    for pool in fleet.pools:
        if pool.is_dra:
            continue
        existing = next(
            (each for each in fleet.pools if _is_twin(each, pool, by_pool.values())), None
        )
        if existing is not None:
            by_pool[pool.name] = existing.name
            continue
        name = free_pool_name(
            f"{pool.name}-dra", {each.name for each in fleet.pools}, cloud(fleet.cloud)
        )
        try:
            fleet = _with_pool(fleet, _twin(fleet, pool, name))
            by_pool[pool.name] = name
        except PlannerError as error:
            missing[pool.name] = str(error).splitlines()[0]
    return Twins(fleet, by_pool, missing)


def _is_twin(candidate: Pool, pool: Pool, taken: Collection[str]) -> bool:
    """Return whether a pool is a DRA pool with the same machine type that doesn't replace another
    pool.
    """
    same = (candidate.machine, candidate.mig, candidate.capacity) == (
        pool.machine,
        pool.mig,
        pool.capacity,
    )
    return candidate.is_dra and same and candidate.name not in taken


def _twin(fleet: Fleet, pool: Pool, name: str) -> dict[str, Any]:
    document = next(each for each in fleet.document()["pools"] if each["name"] == pool.name)
    kept = {key: value for key, value in document.items() if key not in _ONLY_OF_PLUGINS}
    return {**kept, "name": name, "count": {"min": 0, "max": pool.count.max}}


def _with_pool(fleet: Fleet, pool: Mapping[str, Any]) -> Fleet:
    document = fleet.document()
    return read_fleet({**document, "pools": [*document["pools"], dict(pool)]})
