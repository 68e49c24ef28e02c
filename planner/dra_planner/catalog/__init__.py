"""Facts about machine types, topology, daemon pods, and prices, from the tables in `data/`.

Tables are read on first use. An unknown name raises CatalogError with similar names. A fact without
a source is None.
"""

from dra_planner.catalog.daemons import DaemonPod, daemon_pods
from dra_planner.catalog.machines import (
    Accelerator,
    Machine,
    check_listed_region,
    check_region,
    cloud_titles,
    find_machine,
    listed_regions,
    machine,
    machines,
    machines_without_accelerators,
)
from dra_planner.catalog.prices import (
    HOURS_PER_MONTH,
    Price,
    SpotHistory,
    price,
    priced_regions,
    spot_history,
)
from dra_planner.catalog.tables import Confidence, FactSource, Provenance, sources
from dra_planner.catalog.topology import (
    EFA,
    GpuPlace,
    NetworkInterface,
    gpu_places,
    network_interfaces,
)

__all__ = [
    "EFA",
    "HOURS_PER_MONTH",
    "Accelerator",
    "Confidence",
    "DaemonPod",
    "FactSource",
    "GpuPlace",
    "Machine",
    "NetworkInterface",
    "Price",
    "Provenance",
    "SpotHistory",
    "check_listed_region",
    "check_region",
    "cloud_titles",
    "daemon_pods",
    "find_machine",
    "gpu_places",
    "listed_regions",
    "machine",
    "machines",
    "machines_without_accelerators",
    "network_interfaces",
    "price",
    "priced_regions",
    "sources",
    "spot_history",
]
