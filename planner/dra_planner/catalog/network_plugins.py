"""Device plugins of multi-node networks: the first versions that support a machine type.

A chart lists the machine types on whose nodes its DaemonSet runs. An image can also fail to
distinguish the network's devices from other devices.
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from functools import cache

from msgspec import Struct

from dra_planner.catalog.tables import read_table

_VERSION = re.compile(r"v?(\d+)\.(\d+)\.(\d+)")


class NetworkPlugin(Struct, frozen=True, kw_only=True):
    """The first versions of a plugin's chart and image that support some machine types.

    An empty version means that every version supports them.
    """

    chart: str  # also the last part of the image name
    machines: str  # pattern of machine types
    first_chart: str
    first_image: str
    source: str

    def chart_is_older(self, version: str) -> bool:
        """Return True if this version of the chart doesn't support the machine types."""
        return _is_older(version, self.first_chart)

    def image_is_older(self, version: str) -> bool:
        """Return True if this version of the image doesn't support the machine types."""
        return _is_older(version, self.first_image)


@cache
def network_plugins() -> tuple[NetworkPlugin, ...]:
    """Return every row, in table order."""
    names = ("chart", "machines", "first_chart", "first_image", "source")
    return tuple(
        NetworkPlugin(**{name: row[name] for name in names})
        for row in read_table("network_plugins")
    )


def plugins_of_machine(machine: str) -> tuple[NetworkPlugin, ...]:
    """Return the rows for a machine type."""
    return tuple(each for each in network_plugins() if fnmatchcase(machine, each.machines))


def _is_older(version: str, first: str) -> bool:
    given, needed = _VERSION.match(version), _VERSION.match(first)
    if given is None or needed is None:
        return False
    return tuple(map(int, given.groups())) < tuple(map(int, needed.groups()))
