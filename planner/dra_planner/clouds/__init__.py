"""Differences between clouds, in one module or folder for each cloud.

The module of each cloud has the name that fleets use, and contains one `CLOUD`. The package's path
is extended over `sys.path`, so a distribution adds a cloud with one module
`dra_planner/clouds/<name>.py`, and its machines with tables in `dra_planner/data/`. Clouds are
imported on first use.
"""

from collections.abc import Iterable
from functools import cache
from importlib import import_module
from os.path import exists, join
from pkgutil import extend_path, iter_modules

from dra_planner.catalog import Machine, cloud_titles
from dra_planner.clouds.protocol.allocatable import (
    DISK_GIB,
    Allocatable,
    AllocatableSettings,
    NodeImage,
    reserved_cpu_milli,
)
from dra_planner.clouds.protocol.cloud import Cloud
from dra_planner.clouds.protocol.identities import (
    AddonAccount,
    FederatedAccounts,
    GrantResource,
    IdentityResource,
    NodeAdmission,
    PodIdentity,
    RegistryResource,
)
from dra_planner.clouds.protocol.labels import (
    DRA,
    GPU_PRESENT,
    GPU_TAINT,
    LABEL_KEY,
    LABEL_VALUE,
    POOL,
    NodeLabel,
    NodeOrigin,
)
from dra_planner.clouds.protocol.maintenance import MaintenanceLimits
from dra_planner.clouds.protocol.node_networks import (
    AddressRanges,
    ControlPlaneGroups,
    DefaultRoutes,
    Gateway,
    NetworkFirewall,
    NodeNetwork,
    OwnDefaultRoute,
    PublicEndpoint,
    SecurityGroups,
    ServiceEndpoints,
    TrafficFilter,
    UserRoutes,
    WebhookPorts,
)
from dra_planner.clouds.protocol.plugin_serving import MPS, TIME_SLICING, PluginServing
from dra_planner.clouds.protocol.resources import (
    AttachedGpus,
    ClusterAddons,
    ClusterResource,
    CountLimits,
    MachineTemplate,
    PoolResource,
)
from dra_planner.clouds.protocol.schedules import (
    DAYS,
    UTC_ZONE,
    Day,
    Hours,
    Period,
    Schedule,
    instant_fault,
    read_instant,
    schedule_fault,
    time_of_day_fault,
    time_zone_fault,
)
from dra_planner.clouds.protocol.setting_faults import (
    HUGE_PAGES,
    MOST_HUGE_PAGES,
    NODES,
    SYSTEM_NODES,
    extended_resource_fault,
    huge_pages_fault,
    label_key_fault,
    label_value_fault,
    limits_fault,
    public_network_fault,
    range_fault,
    repetition_fault,
    selection_fault,
    taints_fault,
)
from dra_planner.clouds.protocol.settings import (
    WHOLE,
    Capacity,
    ClusterSettings,
    CountStep,
    Fault,
    PoolSettings,
)
from dra_planner.clouds.protocol.storage import DiskKeys, VolumeDriver
from dra_planner.errors import CatalogError, UnsupportedFeature
from dra_planner.wording import either

__path__ += [
    folder
    for folder in extend_path(list[str](), __name__)
    if not exists(join(folder, "__init__.py"))
]

__all__ = [
    "DAYS",
    "DISK_GIB",
    "DRA",
    "GPU_PRESENT",
    "GPU_TAINT",
    "HUGE_PAGES",
    "LABEL_KEY",
    "LABEL_VALUE",
    "MOST_HUGE_PAGES",
    "MPS",
    "NODES",
    "POOL",
    "SYSTEM_NODES",
    "TIME_SLICING",
    "UTC_ZONE",
    "WHOLE",
    "AddonAccount",
    "AddressRanges",
    "Allocatable",
    "AllocatableSettings",
    "AttachedGpus",
    "Capacity",
    "Cloud",
    "ClusterAddons",
    "ClusterResource",
    "ClusterSettings",
    "ControlPlaneGroups",
    "CountLimits",
    "CountStep",
    "Day",
    "DefaultRoutes",
    "DiskKeys",
    "Fault",
    "FederatedAccounts",
    "Gateway",
    "GrantResource",
    "Hours",
    "IdentityResource",
    "MachineTemplate",
    "MaintenanceLimits",
    "NetworkFirewall",
    "NodeAdmission",
    "NodeImage",
    "NodeLabel",
    "NodeNetwork",
    "NodeOrigin",
    "OwnDefaultRoute",
    "Period",
    "PluginServing",
    "PodIdentity",
    "PoolResource",
    "PoolSettings",
    "PublicEndpoint",
    "RegistryResource",
    "Schedule",
    "SecurityGroups",
    "ServiceEndpoints",
    "TrafficFilter",
    "UserRoutes",
    "VolumeDriver",
    "WebhookPorts",
    "cloud",
    "cloud_of",
    "extended_resource_fault",
    "huge_pages_fault",
    "instant_fault",
    "label_key_fault",
    "label_value_fault",
    "limits_fault",
    "names",
    "public_network_fault",
    "range_fault",
    "read_instant",
    "repetition_fault",
    "reserved_cpu_milli",
    "schedule_fault",
    "selection_fault",
    "taints_fault",
    "time_of_day_fault",
    "time_zone_fault",
]

_NOT_CLOUDS = frozenset({"account_quotas", "foreign", "other_providers", "protocol"})


@cache
def names() -> tuple[str, ...]:
    """Return the names of the clouds that support plans, sorted, without importing them."""
    return tuple(sorted({module.name for module in iter_modules(__path__)} - _NOT_CLOUDS))


@cache
def cloud(name: str) -> Cloud:
    """Return the cloud with this name. Raises CatalogError with the known names."""
    if name not in names():
        raise CatalogError(
            f'"{name}" isn\'t a supported cloud',
            fix=f"use {either(names())}",
        )
    found: Cloud = import_module(f"{__name__}.{name}").CLOUD
    return found


def cloud_of(machine: Machine) -> Cloud:
    """Return the cloud of a machine type. Raises UnsupportedFeature if the cloud has only data, and
    doesn't support plans.
    """
    if machine.cloud not in names():
        raise UnsupportedFeature(
            f"{machine.name} is a machine type for {cloud_titles()[machine.cloud]}, but "
            f"{cloud_titles()[machine.cloud]} isn't supported yet",
            fix=f"use {either(cloud(each).title for each in names())}",
        )
    return cloud(machine.cloud)


def cloud_of_region(region: str) -> str:
    """Return the name of the cloud with regions of this form. Raises CatalogError if no cloud, or
    more than one cloud, has such regions.
    """
    found = [name for name in names() if not cloud(name).region_fault(region)]
    if len(found) == 1:
        return found[0]
    examples = ", ".join(f"{cloud(name).region_example} on {name}" for name in names())
    fault = (
        "may be a region of " + either(found) if found else "isn't a region of a supported cloud"
    )
    raise CatalogError(
        f'"{region}" {fault}', fix=f"set `cloud`, or use a known region, for example {examples}"
    )


def cloud_of_labels(labels: Iterable[str]) -> str:
    """Return the name of the cloud whose own labels a node has, or "" if it has none."""
    own = ((cloud(name).unknown_labels[0], name) for name in names())
    known = tuple(labels)
    return next(
        (name for prefix, name in own if any(label.startswith(prefix) for label in known)), ""
    )
