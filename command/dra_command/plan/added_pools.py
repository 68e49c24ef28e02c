"""The pools that must be added to a fleet, as a file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dra_command.command_line.file_writer import write_whole
from dra_command.command_line.yaml_text import yaml_text
from dra_command.pens.amounts import usd
from dra_planner.errors import PlannerError
from dra_planner.plan import PlanRequest
from dra_planner.plan.suggestion.added_pools import find_added_pools


def write_added_pools(path: Path, request: PlanRequest) -> str:
    """Write the cheapest pools that were found and make everything fit. Return the result, or the
    reason why there are no such pools.
    """
    found = find_added_pools(request)
    if found is None:
        return (
            f"{path}: not written, because no on-demand machine type of the region makes "
            "everything fit"
        )
    nodes = {pool.name: pool.nodes.desired for pool in found.plan.pools}
    told = " and ".join(f"{nodes[row['name']]} × {_type(row)}" for row in found.pools)
    price = "" if found.hourly_usd is None else f", {usd(found.hourly_usd)} per hour"
    head = (
        f"# With these pools, everything fits: {told}{price}.\n"
        "# Append them to the fleet's pools.\n"
    )
    write_whole(
        path,
        head + yaml_text({"pools": list(found.pools)}),
        PlannerError,
    )
    return f"wrote {path}: add {told}{price}"


def _type(row: Mapping[str, Any]) -> str:
    return f"{row['machine']} (mig: {row['mig']})" if "mig" in row else row["machine"]
