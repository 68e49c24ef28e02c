"""Limits of a subscription for machines: cores, sizes by zone, features, and reservations.

Tests and rehearsals store these limits in the cloud's memory, under kinds that only the simulation
has. Without these entries, nothing is limited.
"""

from __future__ import annotations

from dra_sandbox.clouds.azure_native.existing_pools import (
    CLUSTER,
    PoolChange,
    changes,
    cores,
    count,
    present,
)
from dra_sandbox.clouds.existing_resources import Memory
from dra_sandbox.clouds.type_rows import CloudRequest, Facts
from dra_sandbox.clouds.wire_values import Value, Values

QUOTA = "dra-sandbox:azure:Quota"
"""Cores of a subscription, by the name of the Azure quota: {"cores": 8, "sizes":
["Standard_NC4as_T4_v3"]}. The quota "cores" is the region's total, and has no sizes.
"""
OFFER = "dra-sandbox:azure:Offer"
"""Zones that offer a size, by size: {"zones": ["1"]}."""
FEATURE = "dra-sandbox:azure:Feature"
"""Features of a subscription, by name: {"state": "NotRegistered"}."""
RESTRICTED = "dra-sandbox:azure:RestrictedSize"
"""Sizes that AKS doesn't accept in the region, by name: {}."""
CLUSTERS = "dra-sandbox:azure:ClusterQuota"
"""Maximum number of clusters of a subscription in a region, by region: {"clusters": 10}."""
RESERVATION = "azure-native:compute:CapacityReservation"
ENCRYPTION = "Microsoft.Compute/EncryptionAtHost"
REGION = "cores"


def has_cores(request: CloudRequest) -> str | None:
    """Reject nodes that need more cores than a quota allows. Spot has a separate quota.

    Sources: 1ChristianAlex/motordesk issue 14 (family, including the surge nodes of an upgrade);
    Azure/AKS issue 5808 and MicrosoftDocs/azure-docs issue 62378 (region).
    """
    quotas = request.cloud.all(QUOTA)
    for change in changes(request) if quotas else ():
        wanted = (change.more_nodes + change.surge) * cores(change.wanted)
        if not wanted or change.wanted.get("scaleSetPriority") == "Spot":
            continue
        place = change.cluster.get("location")
        for family, quota in quotas.items():
            sizes = quota.get("sizes")
            if sizes is not None and change.wanted.get("vmSize") not in sizes:
                continue
            used, most = _used(request.cloud, sizes), int(quota["cores"])
            if used + wanted <= most:
                continue
            if family == REGION:
                return (
                    "QuotaExceeded: Operation could not be completed as it results in exceeding "
                    "approved Total "
                    "Regional Cores quota. Additional details - Deployment Model: Resource "
                    "Manager, Location: "
                    f"{place}, Current Limit: {most}, Current Usage: {used}, Additional Required: "
                    f"{wanted}, (Minimum) "
                    f"New Limit Required: {used + wanted}."
                )
            return (
                f"ErrCode_InsufficientVCPUQuota: Insufficient vcpu quota requested {wanted}, "
                f"remaining {most - used} "
                f"for family {family} for region {place}. Surge nodes would also consume vcpu "
                "quota."
            )
    return None


def _used(cloud: Memory, sizes: list[str] | None) -> int:
    """Return the number of cores that pools of these sizes use. None stands for all sizes."""
    return sum(
        count(pool) * cores(pool)
        for _, pool, _ in present(cloud)
        if pool.get("scaleSetPriority") != "Spot" and (sizes is None or pool.get("vmSize") in sizes)
    )


def is_offered_in_its_zones(request: CloudRequest) -> str | None:
    """Reject a pool if one of its zones doesn't offer the size.

    Source: MicrosoftDocs/azure-aks-docs issue 416.
    """
    for change in changes(request):
        offer = request.cloud.get(OFFER, str(change.wanted.get("vmSize")))
        without = (
            sorted(set(change.wanted.get("availabilityZones") or []) - set(offer["zones"]))
            if offer
            else []
        )
        if offer and without and change.before is None:
            return (
                f"AvailabilityZoneNotSupported: The zone(s) {','.join(without)} for resource "
                f"{_name(change)} is not "
                f"supported. The supported zones for location {change.cluster.get('location')} are "
                f"{','.join(offer['zones'])}"
            )
    return None


def is_restricted(request: CloudRequest) -> str | None:
    """Reject new pools with a VM size that AKS restricts. Source: Azure/AKS issue 2413."""
    restricted = request.cloud.all(RESTRICTED)
    new = [change for change in changes(request) if change.before is None]
    names = [_name(change) for change in new if change.wanted.get("vmSize") in restricted]
    if not names:
        return None
    return (
        f"BadRequest: The VM SKUs chosen for agentpool(s) `AgentPoolProfile:{','.join(names)}` "
        "are restricted by AKS."
    )


def has_room_for_a_cluster(request: CloudRequest) -> str | None:
    """Reject a cluster beyond the region's quota.

    Source: learn.microsoft.com/azure/aks/quotas-skus-regions.
    """
    place = str((request.inputs or {}).get("location"))
    quota = request.cloud.get(CLUSTERS, place)
    if (
        quota is None
        or request.before is not None
        or request.inputs is None
        or "/agentPools/" in request.identifier
    ):
        return None
    used = sum(each.get("location") == place for each in request.cloud.all(CLUSTER).values())
    if used < quota["clusters"]:
        return None
    return (
        f"ManagedClusterCountExceedsQuotaLimit: Maximum allowed: {quota['clusters']}, Current "
        f"usage: {used}, "
        "Additional requested: 1"
    )


def may_encrypt_at_its_host(request: CloudRequest) -> str | None:
    """Reject pools with encryption at host if the subscription doesn't have this feature.

    Source: Azure/azure-cli issue 16788.
    """
    state = (request.cloud.get(FEATURE, ENCRYPTION) or {}).get("state", "Registered")
    if state == "Registered" or not any(
        change.wanted.get("enableEncryptionAtHost") for change in changes(request)
    ):
        return None
    return (
        "InvalidParameter: The property 'securityProfile.encryptionAtHost' is not valid because "
        "the "
        f"'{ENCRYPTION}' feature is not enabled for this subscription."
    )


def group_in_use(facts: Facts) -> Value:
    """Return the capacity reservation group that a pool uses, or None if the group has no
    reservation for the pool's size. In that case, AKS only prints a warning and starts ordinary
    nodes: learn.microsoft.com/azure/aks/use-capacity-reservation-groups.

    If the simulation contains no reservation, all groups have capacity.
    """
    group, reservations = (
        str(facts.inputs["capacityReservationGroupID"]),
        facts.cloud.all(RESERVATION),
    )
    inside = (
        each for name, each in reservations.items() if name.lower().startswith(f"{group.lower()}/")
    )
    if not reservations or any(_size(each) == facts.inputs.get("vmSize") for each in inside):
        return group
    return None


def _size(reservation: Values) -> str:
    return str((reservation.get("sku") or {}).get("name"))


def _name(change: PoolChange) -> str:
    return change.identifier.rpartition("/")[2]


REFUSALS = (
    has_room_for_a_cluster,
    may_encrypt_at_its_host,
    is_restricted,
    is_offered_in_its_zones,
    has_cores,
)
