"""The facts that decide which changes of an NVIDIA driver upgrade affect a fleet or a cluster."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from dra_planner.drivers import nvidia
from dra_planner.drivers.nvidia import GPU_DRIVER, DriverChange
from dra_planner.fleet import Fleet
from dra_planner.manifests import Manifests

_MIG_DEVICE = "-mig-"  # common part of both name formats: gpu-0-mig-9-4-4, gpu-0-mig-1g10gb-19-0
_OF_MIG = ("names-changed", "devices-changed")


class Situation(Struct, frozen=True, kw_only=True):
    """The known facts. Unknown facts are None.

    `names` are the names of the chart's objects from its values (nameOverride). `is_cut` is set if
    the fleet partitions GPUs with MIG. `holders` are the claims of a snapshot that hold a MIG
    device. `has_devices` is set if the snapshot's nodes publish devices.
    """

    names: frozenset[str] = frozenset()
    is_cut: bool | None = None
    holders: tuple[str, ...] | None = None
    has_devices: bool | None = None

    def concerns(self, change: DriverChange) -> bool:
        """Return whether a change of the installation applies here, according to the known
        facts.
        """
        if change.kind in _OF_MIG and self.is_cut is False:
            return False
        match change.kind:
            case "names-changed":
                return self.holders != ()
            case "chart-renamed":
                return change.before not in self.names
            case "no-way-back":
                return self.has_devices is not False
        return True

    def message_of(self, change: DriverChange) -> str:
        """Return the change's message, with the affected claims if they are known."""
        if change.kind != "names-changed" or not self.holders:
            return change.message
        return f"{change.message} (here: {', '.join(self.holders)})"


def situation_of(
    manifests: Manifests,
    fleet: Fleet | None,
    names: Iterable[str] = (),
    *,
    has_snapshot: bool = False,
) -> Situation:
    """Return the facts from the fleet, the snapshot, and the chart values.

    `manifests` include the snapshot's objects.
    """
    cut = None if fleet is None else any(pool.mig != "none" for pool in fleet.pools)
    options = None if fleet is None else fleet.drivers.of(nvidia.DRIVER)
    if options is not None and options.settings.gates.get("DynamicMIG"):
        cut = True
    if not has_snapshot:
        return Situation(names=frozenset(names), is_cut=cut)
    holders = tuple(
        f"ResourceClaim {claim.meta.namespace}/{claim.meta.name} holds {each.device}"
        for claim in manifests.claims.values()
        for each in (claim.allocation.devices if claim.allocation is not None else ())
        if each.driver == GPU_DRIVER and _MIG_DEVICE in each.device
    )
    published = any(each.driver == GPU_DRIVER and each.devices for each in manifests.slices)
    return Situation(names=frozenset(names), is_cut=cut, holders=holders, has_devices=published)
