"""Facts about GPUs, machines, drivers and prices: typed rows of the tables in `data/`, each with its source.

Nothing is read before it is asked for. A name that no table holds raises CatalogError with the nearest ones;
a fact that nobody sourced is None.
"""

from dra_planner.catalog.daemons import DaemonPod, daemon_pods
from dra_planner.catalog.driver_settings import (
    DriverSettings,
    driver_faults,
    gate_faults,
    machine_faults,
    share_faults,
    unknown_gate,
)
from dra_planner.catalog.drivers import (
    CHART_CLASSES,
    DevicePluginRelease,
    DriverAttribute,
    DriverRelease,
    chart_version_fault,
    device_plugin_release,
    device_plugin_releases,
    driver_release,
    driver_releases,
    newest_driver_release,
    require_installable,
)
from dra_planner.catalog.gpus import Gpu, MigProfile, gpu, gpus, mig_profiles
from dra_planner.catalog.machines import (
    Accelerator,
    Machine,
    check_region,
    cloud_titles,
    find_machine,
    machine,
    machines,
    machines_without_accelerators,
)
from dra_planner.catalog.mig import (
    WHOLE,
    MigGeometry,
    MigInstance,
    check_mig_layout,
    layout_name,
    mig_layout,
    mig_layouts,
    place_instances,
)
from dra_planner.catalog.prices import Price, SpotHistory, price, spot_history
from dra_planner.catalog.tables import Confidence, Provenance, Source, sources
from dra_planner.catalog.topology import EFA, GpuPlace, NetworkInterface, gpu_places, network_interfaces

__all__ = [
    "CHART_CLASSES",
    "EFA",
    "WHOLE",
    "Accelerator",
    "Confidence",
    "DaemonPod",
    "DevicePluginRelease",
    "DriverAttribute",
    "DriverRelease",
    "DriverSettings",
    "Gpu",
    "GpuPlace",
    "Machine",
    "MigGeometry",
    "MigInstance",
    "MigProfile",
    "NetworkInterface",
    "Price",
    "Provenance",
    "Source",
    "SpotHistory",
    "chart_version_fault",
    "check_mig_layout",
    "check_region",
    "cloud_titles",
    "daemon_pods",
    "device_plugin_release",
    "device_plugin_releases",
    "driver_faults",
    "driver_release",
    "driver_releases",
    "find_machine",
    "gate_faults",
    "gpu",
    "gpu_places",
    "gpus",
    "layout_name",
    "machine",
    "machine_faults",
    "machines",
    "machines_without_accelerators",
    "mig_layout",
    "mig_layouts",
    "mig_profiles",
    "network_interfaces",
    "newest_driver_release",
    "place_instances",
    "price",
    "require_installable",
    "share_faults",
    "sources",
    "spot_history",
    "unknown_gate",
]
