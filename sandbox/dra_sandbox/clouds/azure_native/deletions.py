"""Resources that are deleted with a cluster or group, and resources of other owners that block the
deletion of a network, group, or cluster.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from dra_sandbox.clouds.azure_native.existing_pools import present
from dra_sandbox.clouds.existing_resources import Memory
from dra_sandbox.clouds.type_rows import CloudRequest
from dra_sandbox.clouds.wire_values import Values

LOCK = "azure-native:authorization:ManagementLockByScope"
NETWORK = "azure-native:network:"
INTERFACE, ENDPOINT = f"{NETWORK}NetworkInterface", f"{NETWORK}PrivateEndpoint"
BALANCER, ADDRESS = f"{NETWORK}LoadBalancer", f"{NETWORK}PublicIPAddress"
DISK = "azure-native:compute:Disk"
OF_TENANTS = (INTERFACE, ENDPOINT, BALANCER, ADDRESS, DISK)
"""Resource types that controllers of a cluster or its tenants create in Azure."""


def is_not_locked(request: CloudRequest) -> str | None:
    """Reject the deletion of a locked resource.

    A lock applies to all resources in its scope, including roles and diagnostic settings:
    hashicorp/terraform-provider-azurerm issues 11770 and 17478. A group with a locked resource
    can't be deleted (learn.microsoft.com/azure/azure-resource-manager/management/lock-resources).
    """
    if request.inputs is not None:
        return None
    own = request.identifier.lower()
    for lock in request.cloud.all(LOCK):
        locked = re.split("/providers/Microsoft.Authorization/locks/", lock, flags=re.IGNORECASE)[0]
        scope = locked.lower()
        if _is_inside(own, scope) or (_is_group(own) and _is_inside(scope, own)):
            return (
                f"ScopeLocked: The scope '{request.identifier}' cannot perform delete operation "
                "because following "
                f"scope(s) are locked: '{locked}'. Please remove the lock and try again."
            )
    return None


def is_used_by_nobody(request: CloudRequest) -> str | None:
    """Reject the deletion of a subnet while a resource has one of its addresses.

    Sources: sassoftware/viya4-iac-azure issue 108 (an interface),
    kubernetes-sigs/cluster-api-provider-azure issue 172 (an internal load balancer).
    """
    if request.inputs is not None:
        return None
    for kind in (INTERFACE, ENDPOINT, BALANCER):
        for identifier, left in request.cloud.all(kind).items():
            if str(left.get("subnet") or "").lower() == request.identifier.lower():
                name = request.identifier.rpartition("/")[2]
                return (
                    f"InUseSubnetCannotBeDeleted: Subnet {name} is in use by {identifier} and "
                    "cannot be deleted. In "
                    "order to delete the subnet, delete all the resources within the subnet. See "
                    "aka.ms/deletesubnet."
                )
    return None


def leaves_a_system_pool(request: CloudRequest) -> str | None:
    """Reject the deletion of the last system pool, which can only be deleted with its cluster.

    Source: kubernetes-sigs/cluster-api-provider-azure issue 1355.
    """
    if request.inputs is not None or (request.before or {}).get("mode") != "System":
        return None
    own = request.identifier.lower()
    cluster = own.rpartition("/agentpools/")[0]
    for identifier, pool, _ in present(request.cloud):
        other = identifier.lower()
        if other != own and other.startswith(f"{cluster}/") and pool.get("mode") == "System":
            return None
    return "OperationNotAllowed: There has to be at least one system agent pool."


def goes_with_its_nodes(request: CloudRequest) -> None:
    """Delete the node resource group, including load balancers and disks.

    Source: learn.microsoft.com/azure/aks/delete-cluster.
    """
    group = str((request.before or {}).get("nodeResourceGroup") or "").lower()
    if request.inputs is None and group:
        subscription = request.identifier.lower().partition("/resourcegroups/")[0]
        _drop(request.cloud, f"{subscription}/resourcegroups/{group}")


def goes_with_all_inside(request: CloudRequest) -> None:
    """Delete all resources in the group.

    Source: learn.microsoft.com/azure/azure-resource-manager/management/delete-resource-group.
    """
    if request.inputs is None:
        _drop(request.cloud, request.identifier.lower())


def _drop(cloud: Memory, group: str) -> None:
    for kind, identifier, _ in list(_of_tenants(cloud)):
        if _is_inside(identifier.lower(), group):
            cloud.drop(kind, identifier)


def _of_tenants(cloud: Memory) -> Iterator[tuple[str, str, Values]]:
    for kind in OF_TENANTS:
        for identifier, properties in cloud.all(kind).items():
            yield kind, identifier, properties


def _is_inside(identifier: str, scope: str) -> bool:
    return identifier == scope or identifier.startswith(f"{scope}/")


def _is_group(identifier: str) -> bool:
    return identifier.rpartition("/")[0].endswith("/resourcegroups")
