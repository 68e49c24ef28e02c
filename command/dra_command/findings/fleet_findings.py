"""Places of findings about pools and plans, which are in the file that defines the fleet."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Final

from msgspec.structs import replace

from dra_command.findings.active_findings import RuleFinding
from dra_planner.errors import Place
from dra_planner.fleet import FleetPlaces, find_fleet_places

_POOL: Final = re.compile(r'pool "([^"]+)"')
"""The title of a pool, with which messages about it begin."""


def with_fleet_places(
    rule_findings: Sequence[RuleFinding], fleet_file: str
) -> tuple[RuleFinding, ...]:
    """Return the findings, with the place of the pool, or of the fleet, for those without a place.
    Without a fleet file, the findings stay as they are.
    """
    if not fleet_file:
        return tuple(rule_findings)
    places = cache(lambda: find_fleet_places(fleet_file))
    return tuple(
        (rule, found if found.place.file else replace(found, place=_place(found.message, places)))
        for rule, found in rule_findings
    )


def _place(message: str, places: Callable[[], FleetPlaces]) -> Place:
    pool = _POOL.match(message)
    known = places()
    return known.pools.get(pool[1], known.fleet) if pool else known.fleet
