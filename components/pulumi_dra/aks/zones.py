"""Zones of AKS nodes. A fleet writes them like the node label, and the API uses numbers."""

from dra_planner.clouds import repetition_fault
from dra_planner.clouds.aks import CLOUD
from dra_planner.clouds.aks.network import api_zone
from pulumi_dra.inputs.reader import InputReader


def read_zones(read: InputReader, key: str, location: str) -> list[str]:
    """Return the zones of an input in the API's form ("1" for eastus-1), empty if the input is
    unset.
    """
    zones = read.texts(key, check=lambda zone: CLOUD.zone_fault(zone, location))
    if fault := repetition_fault(zones):
        read.refuse(key, fault)
    return [api_zone(zone) for zone in zones]
