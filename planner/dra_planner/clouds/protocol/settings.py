"""Settings of a cluster and of its pools that a cloud may reject."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from dra_planner.catalog import Machine
from dra_planner.clouds.protocol.allocatable import (
    NodeImage,
)
from dra_planner.clouds.protocol.plugin_serving import PluginServing
from dra_planner.records import equality

# key of the fleet or of the pool ("network.subnetIds", "maxPods"), and the whole sentence
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
    """The number whose multiple a pool's node count must be, with the reason and the fix, each as
    the end of a sentence.
    """

    nodes: int = 1
    why: str = ""
    fix: str = ""


class ClusterSettings(Struct, frozen=True, kw_only=True):
    """The settings of a cluster that a cloud may reject. `asked` are the set keys of the fleet."""

    region: str
    kubernetes: str = ""  # of the control plane, "" where that is not asked about
    autoscaler: str = "none"
    subnet_ids: tuple[str, ...] = ()
    zone_count: int | None = None  # of a new network, None where zones are named or subnets given
    public_access_cidrs: tuple[str, ...] = ()
    asked: frozenset[str] = frozenset()


@equality(unhashed=("huge_pages", "labels"))
class PoolSettings(Struct, frozen=True, kw_only=True):
    """The settings of a pool that a cloud may reject. `asked` are the set keys of the pool."""

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
    is_served: bool = False  # a driver of the fleet publishes devices on it
    labels: Mapping[str, str] = {}
    taint_keys: tuple[str, ...] = ()
    asked: frozenset[str] = frozenset()
