"""Settings that can't work on a pool with a device plugin."""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.catalog import Machine
from dra_planner.clouds import cloud
from dra_planner.drivers import plugin_of
from dra_planner.fleet.pools import Pool
from dra_planner.fleet.schema import Fleet


def plugin_pool_faults(fleet: Fleet, pool: Pool, machine: Machine) -> Iterator[tuple[str, str]]:
    """Yield the faults of a pool with allocation device-plugin, by the pool's key."""
    plugin, serving = plugin_of(machine), fleet.plugin_serving(pool)
    if serving is None:
        return
    if plugin is None:
        sentence = (
            "the fleet installs only NVIDIA's device plugin, which doesn't support "
            f"{machine.name}; set allocation to dra"
        )
        yield "allocation", sentence
        return
    if not fleet.device_plugin and not cloud(fleet.cloud).plugin.is_built_in:
        yield (
            "allocation",
            (
                "allocation: device-plugin needs the device plugin in the cluster; set "
                "devicePlugin to {version: …} in the fleet"
            ),
        )
    yield from plugin.serving_faults(machine, serving)
