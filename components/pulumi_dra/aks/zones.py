"""Zones of AKS nodes: a fleet writes them as nodes carry them, the API has numbers."""

from dra_planner.clouds import repetition_fault
from dra_planner.clouds.aks import CLOUD, api_zone
from pulumi_dra.inputs.reader import InputReader


def read_zones(read: InputReader, key: str, location: str) -> list[str]:
    """Return the zones of an input as the API has them ("1" for eastus-1); none where it was left
    out.
    """
    zones = read.texts(key, check=lambda zone: CLOUD.zone_fault(zone, location))
    if fault := repetition_fault(zones):
        read.refuse(key, fault)
    return [api_zone(zone) for zone in zones]
