"""Import the limits of a pool with several machine types as quotas of the fleet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from dra_planner.catalog import Machine
from dra_planner.clouds.foreign import ForeignPool


def imported_quotas(
    pools: Sequence[tuple[ForeignPool, Sequence[Machine]]], notes: list[str]
) -> list[dict[str, Any]]:
    """Return the quotas. `pools` are given with their machine types.

    Add a note for each pool whose limits can't be quotas, because a quota applies to a machine type
    in all pools.
    """
    used = Counter(machine.name for _, machines in pools for machine in machines)
    found: list[dict[str, Any]] = []
    for pool, machines in pools:
        if len(machines) < 2 or not pool.limits:
            continue
        if all(used[machine.name] == 1 for machine in machines):
            found += _quotas(pool, machines)
        else:
            notes.append(
                f"pool {pool.name}: its limits apply to all machine types together. Other pools "
                "use the same machine types, so the fleet limits each machine type separately"
            )
    return found


def _quotas(pool: ForeignPool, machines: Sequence[Machine]) -> Iterator[dict[str, Any]]:
    for unit, limit in pool.limits.items():
        yield {
            "name": f"limit of pool {pool.name}: {unit}",
            "unit": unit,
            "limit": limit,
            "machines": [machine.name for machine in machines],
        }
