"""Spot price limits that are far below the price of the machine type."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from dra_planner.catalog.prices import price
from dra_planner.clouds import cloud
from dra_policies.rules.rule import Finding
from dra_policies.view.pool_machines import is_spot, known_machine
from dra_policies.view.stack_view import DeclaredPool

_LEAST_SHARE: Final = Decimal("0.05")
"""A Spot price limit below this share of the on-demand price is probably a mistake."""


def low_spot_limit(pool: DeclaredPool, region: str) -> Iterator[Finding]:
    """Yield a Spot pool whose price limit is below a small share of the on-demand price."""
    path, machine = cloud(pool.cloud).pool.spot_limit, known_machine(pool.cloud, pool.machine)
    listed = price(machine, region) if path and machine is not None else None
    limit = pool.own.at(path) if path else None
    if listed is None or isinstance(limit, bool) or not isinstance(limit, int | float):
        return
    if limit <= 0 or not is_spot(pool):
        return
    if Decimal(str(limit)) < listed.usd_per_hour * _LEAST_SHARE:
        yield Finding(
            message=f"{pool.title}: {path} is USD {limit} per hour, but {pool.machine} costs "
            f"USD {listed.usd_per_hour} on demand, so the pool might never get a Spot node",
            fix=f"set {path} to -1 to pay up to the on-demand price",
            urn=pool.urn,
            certain=False,
        )
