"""Convert cluster descriptions of other tools to fleets, and fleets to files for these tools."""

from dra_planner.fleet_sources.document import ImportedFleet, fleet_of_cluster_description
from dra_planner.fleet_sources.reading import TERRAFORM_FIX, read_imported_fleet

__all__ = [
    "TERRAFORM_FIX",
    "ImportedFleet",
    "fleet_of_cluster_description",
    "read_imported_fleet",
]
