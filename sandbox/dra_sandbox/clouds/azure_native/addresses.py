"""Addresses of nodes and pods in a simulated subnet, and in the range of an overlay network."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable

from dra_sandbox.clouds.azure_native.existing_pools import PoolChange, changes, most_nodes, present
from dra_sandbox.clouds.type_rows import CloudRequest
from dra_sandbox.clouds.wire_values import Values

SUBNET = "azure-native:network:Subnet"
# reserved addresses in each subnet: learn.microsoft.com/azure/virtual-network/virtual-networks-faq
KEPT_BY_AZURE = 5
# prefix of each node's block in the pod range: learn.microsoft.com/azure/aks/azure-cni-overlay
ADDRESSES_OF_A_NODE = 256
PODS_CIDR = "10.244.0.0/16"
MAX_PODS = 30


def has_addresses(request: CloudRequest) -> str | None:
    """Reject pools that need more addresses than their subnet or the pod range has.

    Sources: Azure/AKS issues 1795 and 3653 (subnet, with one additional node for an upgrade),
    Azure/AKS-Construction issue 701 (pod CIDR);
    learn.microsoft.com/troubleshoot/azure/azure-kubernetes/…/insufficientsubnetsize-error (which
    addresses count).
    """
    for change in changes(request):
        if not (change.before is None or change.more_nodes or change.surge or _may_grow(change)):
            continue
        subnet = str(change.wanted.get("vnetSubnetID") or "")
        prefix = (request.cloud.get(SUBNET, subnet) or {}).get("addressPrefix")
        if prefix and (
            error := _range_error(
                request, prefix, subnet.rpartition("/")[2], _in_subnet(subnet), KEPT_BY_AZURE
            )
        ):
            return error
        if _is_overlay(change.cluster):
            pods = (change.cluster.get("networkProfile") or {}).get("podCidr") or PODS_CIDR
            if error := _range_error(request, pods, "networkProfile.podCIDR", _of_pods(change), 0):
                return error
    return None


# addresses that a node of a pool needs, by the pool's ID, the pool, and its cluster
Taking = Callable[[str, Values, Values], int]


def _range_error(
    request: CloudRequest, prefix: str, name: str, taking: Taking, kept: int
) -> str | None:
    """Return the error if all pools together need more addresses than a range has."""
    changed = {change.identifier.lower(): change for change in changes(request)}
    wanted = sum(
        (most_nodes(change.wanted) + change.surge)
        * taking(change.identifier, change.wanted, change.cluster)
        for change in changed.values()
    )
    wanted += sum(
        most_nodes(pool) * taking(identifier, pool, cluster)
        for identifier, pool, cluster in present(request.cloud)
        if identifier.lower() not in changed
    )
    there = ipaddress.ip_network(prefix).num_addresses - kept
    if wanted <= there:
        return None
    return (
        f"InsufficientSubnetSize: Pre-allocated IPs {wanted} exceeds IPs available {there} in "
        f"Subnet Cidr {prefix}, "
        f"Subnet Name {name}. If Autoscaler is enabled, the max-count from each nodepool is "
        "counted towards this total "
        "(which means that pre-allocated IPs count represents a theoretical max value, not the "
        "actual number of IPs "
        "requested). http://aka.ms/aks/insufficientsubnetsize"
    )


def _in_subnet(subnet: str) -> Taking:
    def taking(_: str, pool: Values, cluster: Values) -> int:
        if str(pool.get("vnetSubnetID") or "").lower() != subnet.lower():
            return 0
        plugin = (cluster.get("networkProfile") or {}).get("networkPlugin")
        pods_beside_nodes = (
            plugin == "azure" and not _is_overlay(cluster) and not pool.get("podSubnetID")
        )
        return 1 + (int(pool.get("maxPods") or MAX_PODS) if pods_beside_nodes else 0)

    return taking


def _of_pods(change: PoolChange) -> Taking:
    own = change.identifier.rpartition("/agentPools/")[0].lower()
    return lambda identifier, _, __: (
        ADDRESSES_OF_A_NODE if identifier.lower().startswith(f"{own}/") else 0
    )


def _may_grow(change: PoolChange) -> bool:
    return most_nodes(change.wanted) > most_nodes(change.before or {})


def _is_overlay(cluster: Values) -> bool:
    return (cluster.get("networkProfile") or {}).get("networkPluginMode") == "overlay"


REFUSALS = (has_addresses,)
