"""AKS clusters and node pools of a Terraform plan or state (terraform-provider-azurerm 3 and 4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from dra_planner.clouds.foreign.description import ForeignCluster, ForeignPool
from dra_planner.clouds.foreign.taints_and_disks import taints
from dra_planner.clouds.foreign.terraform import StateResource, TerraformState
from dra_planner.documents.plain_values import block, labels, listed, number, text, texts

_CRITICAL: Final = "CriticalAddonsOnly=true:NoSchedule"
"""The taint of `only_critical_addons_enabled` (learn.microsoft.com/azure/aks/use-system-pools)."""


def read_aks(configuration: TerraformState) -> Iterator[ForeignCluster]:
    """Yield the AKS clusters, each with its node pools."""
    facts = {"id": "kubernetes_cluster_id", "kubernetes_version": "orchestrator_version"}
    clusters = configuration.clusters(
        "azurerm_kubernetes_cluster", "azurerm_kubernetes_cluster_node_pool", facts
    )
    for cluster in clusters:
        values = cluster.values
        default = block(values, "default_node_pool")
        pools = [_pool(default, cluster.address)] if default else []
        found = [
            each
            for each in configuration.of_type("azurerm_kubernetes_cluster_node_pool")
            if len(clusters) == 1 or _of(each, cluster)
        ]
        pools += [_pool(each.values, each.address) for each in found]
        own = [each.values for each in found]
        yield ForeignCluster(
            name=configuration.cluster_name(cluster),
            cloud="aks",
            region=text(values.get("location")).replace(" ", "").lower(),
            kubernetes=text(values.get("kubernetes_version")),
            autoscaler="cluster-autoscaler" if any(map(_is_scaled, (default, *own))) else "",
            subnet_ids=tuple(
                dict.fromkeys(
                    filter(None, (text(each.get("vnet_subnet_id")) for each in (default, *own)))
                )
            ),
            public_networks=_public_networks(values),
            pools=tuple(pools),
            charts=configuration.charts,
        )


def _public_networks(values: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the authorized IP ranges. The result is empty if the cluster doesn't restrict
    access.
    """
    profile = block(values, "api_server_access_profile")
    return texts(profile.get("authorized_ip_ranges"))


def _of(pool: StateResource, cluster: StateResource) -> bool:
    given = text(pool.values.get("kubernetes_cluster_id"))
    if given:
        return given == cluster.values.get("id")
    mentioned = pool.references.get("kubernetes_cluster_id", ())
    return (
        any(each.startswith(cluster.address) for each in mentioned) or pool.module == cluster.module
    )


def _is_scaled(values: Mapping[str, Any]) -> bool:
    return bool(values.get("auto_scaling_enabled") or values.get("enable_auto_scaling"))


def _pool(values: Mapping[str, Any], address: str) -> ForeignPool:
    is_scaled = _is_scaled(values)
    count = number(values.get("node_count"))
    machine = text(values.get("vm_size"))
    critical = [_CRITICAL] if values.get("only_critical_addons_enabled") else []
    tainted = taints([*listed(values.get("node_taints")), *critical])
    return ForeignPool(
        name=text(values.get("name")) or address,
        machines=(machine,) if machine else (),
        minimum=number(values.get("min_count")) if is_scaled else count,
        maximum=number(values.get("max_count")) if is_scaled else count,
        zones=texts(values.get("zones")),
        capacity="spot" if values.get("priority") == "Spot" else "on-demand",
        labels=labels(values.get("node_labels")),
        taints=tainted.known,
        unread_taints=tainted.unread,
        desired=count,
        disk_gib=number(values.get("os_disk_size_gb")),
        image=text(values.get("os_sku")),
        driver_off="gpu_driver None" if values.get("gpu_driver") == "None" else "",
        mig=text(values.get("gpu_instance")),
        notes=() if machine else (f"the machine type of {address} is unknown before apply",),
    )
