"""Settings of a cluster and its pools that a cloud might reject."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from dra_planner.catalog import Machine
from dra_planner.clouds.protocol.allocatable import (
    NodeImage,
)
from dra_planner.clouds.protocol.plugin_serving import PluginServing
from dra_planner.records import equality

# key of the fleet or of the pool ("network.subnetIds", "maxPods"), and the complete sentence
Fault = tuple[str, str]
WHOLE = ("none", "all-disabled")
"""The value of a pool's `mig` if its GPUs aren't partitioned."""


class Capacity(Struct, frozen=True, kw_only=True):
    """The capacity of a pool: on-demand, spot, flex-start, queued, reservation, or capacity-block,
    with the ID of bought capacity.
    """

    kind: str = "on-demand"
    reservation: str = ""


class CountStep(Struct, frozen=True, kw_only=True):
    """The number of which a pool's node count must be a multiple, with the reason and the fix, each
    as the end of a sentence.
    """

    nodes: int = 1
    reason: str = ""
    fix: str = ""


class ClusterSettings(Struct, frozen=True, kw_only=True):
    """The settings of a cluster that a cloud might reject. `set_keys` are the keys that the fleet
    sets.
    """

    region: str
    kubernetes: str = ""  # version of the control plane, or "" if the check doesn't need it
    autoscaler: str = "none"
    subnet_ids: tuple[str, ...] = ()
    # zones of a new network; None if the fleet names zones or subnets
    zone_count: int | None = None
    public_access_cidrs: tuple[str, ...] = ()
    set_keys: frozenset[str] = frozenset()


@equality(unhashed=("huge_pages", "labels"))
class PoolSettings(Struct, frozen=True, kw_only=True):
    """The settings of a pool that a cloud might reject.

    `set_keys` are the keys that the pool sets.
    """

    name: str
    machine: Machine | None = None
    capacity: Capacity = Capacity()
    zones: tuple[str, ...] = ()
    autoscaler: str = "none"
    min_nodes: int = 0
    max_nodes: int = 0
    max_pods: int | None = None
    disk_gib: int | None = None
    local_ssds: int | None = None
    huge_pages: Mapping[str, int] = {}
    mig: str = "none"
    plugin: PluginServing | None = None  # None for DRA pools
    image: NodeImage | None = None
    is_served: bool = False  # a driver of the fleet publishes the pool's devices
    labels: Mapping[str, str] = {}
    taint_keys: tuple[str, ...] = ()
    set_keys: frozenset[str] = frozenset()
