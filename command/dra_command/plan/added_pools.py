"""The pools that must be added to a fleet, as a file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from textwrap import indent
from typing import Any, Final

from dra_command.command_line.file_writer import write_whole
from dra_command.command_line.yaml_text import yaml_text
from dra_command.pens.amounts import usd
from dra_planner.errors import PlannerError
from dra_planner.fleet import find_fleet_places
from dra_planner.plan import PlanRequest
from dra_planner.plan.suggestion.added_pools import NoAddedPools, find_added_pools
from dra_planner.sources import read_file

_INDENTATION: Final = 2


def write_added_pools(path: Path, request: PlanRequest, fleet_file: str = "") -> str:
    """Write the cheapest additional pools found with which all workloads fit, indented as in the
    fleet's file. Return the result, or the reason why there are no such pools.
    """
    found = find_added_pools(request)
    if isinstance(found, NoAddedPools):
        return f"{path} isn't written, because {_reason(found)}"
    nodes = {pool.name: pool.nodes.desired for pool in found.plan.pools}
    listed = " and ".join(f"{nodes[row['name']]} × {_type(row)}" for row in found.pools)
    price = "" if found.hourly_usd is None else f", {usd(found.hourly_usd)} per hour"
    head = (
        f"# With these pools, all workloads fit: {listed}{price}.\n# Append these pools to the "
        "fleet's pools.\n"
    )
    rows = indent(yaml_text(list(found.pools)), " " * _indentation(fleet_file))
    write_whole(path, f"{head}pools:\n{rows}", PlannerError)
    return f"wrote {path}: add {listed}{price}"


def _reason(found: NoAddedPools) -> str:
    if not found.pools:
        return (
            "the workloads don't fit, even with additional pools of on-demand machine types in the "
            "region"
        )
    pools = " and ".join(f"{row['count']['max']} × {_type(row)}" for row in found.pools)
    return (
        f"the verdict with {pools} is cannot tell: they have enough capacity, but the simulated "
        "scheduler leaves pods pending in some pod arrival orders. Apply the plan's other fixes "
        "first"
    )


def _indentation(fleet_file: str) -> int:
    """Return the number of spaces before a pool in the fleet's file, or 2 if it's unknown."""
    place = next(iter(find_fleet_places(fleet_file).pools.values()), None) if fleet_file else None
    if place is None:
        return _INDENTATION
    line = read_file(place.file).text.splitlines()[place.line - 1]
    return len(line) - len(line.lstrip()) if line.lstrip().startswith("- ") else _INDENTATION


def _type(row: Mapping[str, Any]) -> str:
    return f"{row['machine']} (mig: {row['mig']})" if "mig" in row else row["machine"]
