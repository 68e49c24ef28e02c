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
    """Nodes of one or more machine types, any of which may be used.

    Counts are nodes in all zones; None is unknown. `maximums` are smaller maximums of single
    machine types, which limits of resources imply, and `limits` are those limits for all nodes
    together: a fleet's unit of quotas → amount. `capacity` is on-demand, spot, reservation, or
    capacity-block, and `reservation` the ID of what was bought. `unread_taints` are taints in a
    form that no tool reads. `desired` is the number of nodes to start with. `image` is the tool's
    name of the image, or "" for the cloud's default. `max_pods` is the most pods on a node.
    `local_storage` is the use of local disks, as in a fleet. `driver_off` is the setting that turns
    off the installation of GPU drivers.
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
    """One cluster. Texts are empty if the description doesn't state them. `notes` name what isn't
    understood.

    With `has_single_zones`, a pool that states no zone is planned in one zone. `subnet_ids` are
    existing subnets of the nodes. `public_networks` can reach the API server from the internet.
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
    charts: Mapping[str, str] = {}  # chart name → version
    notes: tuple[str, ...] = ()
