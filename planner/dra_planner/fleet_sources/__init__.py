"""Fleets from and to other tools: the description of a cluster → a fleet, and a fleet → a
description.
"""

from dra_planner.fleet_sources.document import ImportedFleet, fleet_of_cluster_description
from dra_planner.fleet_sources.reading import TERRAFORM_FIX, read_imported_fleet

__all__ = [
    "TERRAFORM_FIX",
    "ImportedFleet",
    "fleet_of_cluster_description",
    "read_imported_fleet",
]
