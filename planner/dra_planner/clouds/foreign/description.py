"""A cluster as another tool describes it: its pools in this project's terms, and the facts that the
description doesn't contain.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

from dra_planner.model import Taint
from dra_planner.records import equality


@equality(unhashed=("labels", "maximums", "limits"))
class ForeignPool(Struct, frozen=True, kw_only=True):
    """Nodes of one or more machine types, any of which can be used.

    Counts are the nodes in all zones, and None means unknown. `maximums` are lower maximums for
    single machine types, which follow from resource limits. `limits` are these limits for all nodes
    together, by a fleet's quota unit. `capacity` is on-demand, spot, reservation, or
    capacity-block, and `reservation` is the ID of the purchased capacity. `unread_taints` are
    taints in an unknown form. `desired` is the number of nodes to start with. `image` is the tool's
    name of the image, or "" for the cloud's default. `max_pods` is the maximum number of pods on a
    node. `local_storage` is the use of local disks, as in a fleet. `driver_off` is the setting that
    turns off the installation of GPU drivers.
    """

    name: str
    machines: tuple[str, ...]
    minimum: int | None = None
    maximum: int | None = None
    maximums: Mapping[str, int] = {}
    limits: Mapping[str, int] = {}
    zones: tuple[str, ...] = ()
    capacity: str = "on-demand"
    reservation: str = ""
    labels: Mapping[str, str] = {}
    taints: tuple[Taint, ...] = ()
    unread_taints: tuple[str, ...] = ()
    desired: int | None = None
    disk_gib: int | None = None
    image: str = ""
    max_pods: int | None = None
    local_storage: str = ""
    driver_off: str = ""
    mig: str = ""
    notes: tuple[str, ...] = ()


def kubelet_note(name: str, settings: Iterable[str]) -> str:
    """Return a note about kubelet settings that change a node's allocatable resources or pods."""
    return (
        f"pool {name}: the kubelet settings {', '.join(sorted(settings))} aren't imported, so the "
        "plan uses the image's defaults"
    )


@equality(unhashed=("charts",))
class ForeignCluster(Struct, frozen=True, kw_only=True):
    """One cluster. Texts are empty if the description doesn't contain them.

    `notes` list the parts that aren't imported. With `has_single_zones`, a pool without zones is
    planned in one zone. `subnet_ids` are existing subnets of the nodes. `public_networks` can reach
    the API server from the internet.
    """

    name: str
    cloud: str
    region: str = ""
    kubernetes: str = ""
    autoscaler: str = ""
    zones: tuple[str, ...] = ()
    has_single_zones: bool = False
    subnet_ids: tuple[str, ...] = ()
    public_networks: tuple[str, ...] = ()
    pools: tuple[ForeignPool, ...] = ()
    charts: Mapping[str, str] = {}  # chart versions by name
    notes: tuple[str, ...] = ()
