"""Reading the options that DraPlatform takes for single pools beside the fleet."""

from collections.abc import Mapping
from typing import Any

from dra_planner.fleet import Fleet
from pulumi_dra.inputs import InputReader
from pulumi_dra.planned_pools import IN_THE_FLEET
from pulumi_dra.platform_options import PoolOptions


def read_pool_options(read: InputReader, fleet: Fleet | None) -> dict[str, Mapping[str, Any]]:
    """Return options by pool; what they mean is checked with the pool's other inputs."""
    known = [pool.name for pool in fleet.pools] if fleet else []
    options: dict[str, Mapping[str, Any]] = {}
    for index, block in enumerate(read.blocks("pools")):
        for key, name in IN_THE_FLEET.items():
            if key in block:
                read.refuse(f"pools[{index}].{key}", f"must be known to the plan: write it into the fleet, as {name}")
        own = {key: value for key, value in block.items() if key not in IN_THE_FLEET}
        inner = read.inside(f"pools[{index}]", own, PoolOptions)
        name = inner.text("name")
        if fleet and name and name not in known:
            inner.refuse("name", f'"{name}" is not a pool of the fleet; they are {", ".join(known)}')
        if name in options:
            inner.refuse("name", f'"{name}" is there twice')
        options[name] = {key: value for key, value in own.items() if key != "name" and value is not None}
    return options
