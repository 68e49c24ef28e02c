"""Check AKS agent pools, with the error messages that users of the real AKS report."""

from __future__ import annotations

import re
from collections.abc import Callable

from dra_planner import catalog
from dra_planner.errors import CatalogError
from dra_sandbox.clouds.azure_native.existing_pools import POOL, cluster_of
from dra_sandbox.clouds.azure_native.functions import is_offered, newest
from dra_sandbox.clouds.azure_native.labels_and_taints import (
    labels_are_accepted,
    taints_are_accepted,
)
from dra_sandbox.clouds.azure_native.lost_zones import has_machines
from dra_sandbox.clouds.type_rows import CloudRequest
from dra_sandbox.clouds.wire_values import Values

INVALID = "InvalidParameter: "
LEAST_VCPUS_OF_A_SYSTEM_POOL = 2
MOST_NODES = 1000
LONGEST_LABEL = 63
_ZONES = ("1", "2", "3")
# Azure/azure-rest-api-specs doesn't mark these properties as create-only, so the provider plans an
# update, which Azure refuses: pulumi/pulumi-azure-native issue 959 (vmSize),
# terraform-provider-azurerm issue 26730 (osSKU).
FIXED = (
    "availabilityZones",
    "capacityReservationGroupID",
    "enableEncryptionAtHost",
    "enableFIPS",
    "enableUltraSSD",
    "gpuProfile",
    "hostGroupID",
    "kubeletConfig",
    "kubeletDiskType",
    "linuxOSConfig",
    "maxPods",
    "osDiskSizeGB",
    "osDiskType",
    "osType",
    "podSubnetID",
    "proximityPlacementGroupID",
    "scaleSetEvictionPolicy",
    "scaleSetPriority",
    "spotMaxPrice",
    "vnetSubnetID",
)

_NUMBERS = ("count", "minCount", "maxCount", "maxPods", "osDiskSizeGB")

Rule = Callable[[Values], str | None]  # the inputs of a pool, either separate or in a cluster


def of_pool(inputs: Values) -> str | None:
    """Return the first error for an agent pool, or None if AKS accepts it."""
    pool = {**inputs, "name": inputs.get("agentPoolName")}
    if any(isinstance(pool.get(key), str) for key in _NUMBERS):
        return None  # invalid types have already been rejected
    return next((reason for rule in RULES if (reason := rule(pool))), None)


def of_cluster(inputs: Values) -> str | None:
    """Return the first error for the pools inside a cluster."""
    pools = inputs.get("agentPoolProfiles") or []
    if not any(pool.get("mode") == "System" for pool in pools):
        return f"{INVALID}Must define at least one system pool."
    names = [pool.get("name") for pool in pools]
    if twice := [name for name in names if names.count(name) > 1]:
        return f"{INVALID}agentPoolProfile.name {twice[0]} is used by several agent pools"
    return next((reason for pool in pools for rule in RULES if (reason := rule(pool))), None)


def _name(pool: Values) -> str | None:
    """Reject a name that isn't valid. Source: Azure/AKS issue 3300."""
    if re.fullmatch(r"[a-z][a-z0-9]{0,11}", str(pool.get("name") or "")):
        return None
    return (
        f"{INVALID}The value of parameter agentPoolProfile.name is invalid. Please see "
        "https://aka.ms/aks-naming-rules for more details."
    )


def _counts(pool: Values) -> str | None:
    """Reject counts outside the limits, and autoscaler settings that don't belong together.

    Sources: Azure/AKS issue 4185, pulumi/pulumi-azure-native issue 2943.
    """
    count, least = pool.get("count"), 1 if pool.get("mode") == "System" else 0
    low, most = least, MOST_NODES
    if count is None:
        return f"{INVALID}Required parameter properties.count is missing (null)."
    if pool.get("enableAutoScaling"):
        if pool.get("minCount") is None or pool.get("maxCount") is None:
            return f"{INVALID}minCount and maxCount are required when enableAutoScaling is true"
        if pool["minCount"] < least:
            return (
                f"{INVALID}minCount was {pool['minCount']}. It must be greater or equal to {least}"
            )
        low, most = max(least, pool["minCount"]), min(MOST_NODES, pool["maxCount"])
        if pool["minCount"] > pool["maxCount"]:
            return (
                f"{INVALID}minCount {pool['minCount']} is greater than maxCount {pool['maxCount']}"
            )
    elif pool.get("minCount") is not None or pool.get("maxCount") is not None:
        return f"{INVALID}minCount and maxCount can only be set when enableAutoScaling is true"
    if not low <= count <= most:
        return (
            f"{INVALID}agentPoolProfile.count was {count}. It must be greater or equal to "
            f"minCount:{low} and less than "
            f"or equal to maxCount:{most}"
        )
    return None


def _spot(pool: Values) -> str | None:
    """Reject settings that Spot pools don't support, and Spot settings on other pools.

    Sources: Azure/bicep issue 14517, terraform-provider-azurerm issue 31129;
    learn.microsoft.com/azure/aks/spot-node-pool.
    """
    settings = pool.get("upgradeSettings") or {}
    if pool.get("scaleSetPriority") != "Spot":
        given = [
            key for key in ("spotMaxPrice", "scaleSetEvictionPolicy") if pool.get(key) is not None
        ]
        return f"{INVALID}{given[0]} can only be set on Spot pools" if given else None
    if pool.get("mode") == "System":
        return f"{INVALID}Spot pools can't be system pools."
    if not _is_price(pool.get("spotMaxPrice")):
        return (
            f"{INVALID}spotMaxPrice was {pool['spotMaxPrice']}. It must be greater than zero, or -1"
        )
    for key, words in (("maxSurge", "max surge"), ("maxUnavailable", "maxUnavailable")):
        if settings.get(key) is not None:
            return (
                f"{INVALID}The value of parameter agentPoolProfile.upgrade.{key} is invalid. Error "
                "details: Spot pools "
                f"can't set {words}."
            )
    return None


def _is_price(price: float | None) -> bool:
    """Return True if spotMaxPrice is valid according to the API's description."""
    return price is None or price > 0 or price == -1


def _surge(pool: Values) -> str | None:
    """Reject invalid upgrade settings.

    Sources: learn.microsoft.com/azure/aks/upgrade-aks-node-pools-rolling; the limits are from the
    API.
    """
    settings = pool.get("upgradeSettings") or {}
    surge, away = settings.get("maxSurge"), settings.get("maxUnavailable")
    for key, value in (("maxSurge", surge), ("maxUnavailable", away)):
        if value is not None and not re.fullmatch(r"\d+%?", value):
            return f"{INVALID}The value of parameter agentPoolProfile.upgrade.{key} is invalid."
    for key, low, high in (
        ("drainTimeoutInMinutes", 1, 1440),
        ("nodeSoakDurationInMinutes", 0, 30),
    ):
        value = settings.get(key)
        if value is not None and not low <= value <= high:
            return (
                f"{INVALID}agentPoolProfile.upgrade.{key} was {value}. It must be from {low} to "
                f"{high}"
            )
    if surge in ("0", "0%") and away in (None, "0", "0%"):
        return f"{INVALID}maxSurge and maxUnavailable cannot both be 0"
    if pool.get("mode") == "System" and away not in (None, "0", "0%"):
        return f"{INVALID}maxUnavailable can't be set on system pools"
    return None


def _sizes(pool: Values) -> str | None:
    """Reject invalid VM sizes, zones, and limits.

    Sources: learn.microsoft.com/azure/aks/use-system-pools (cores), …/use-nvidia-gpu (sizes); the
    limits are from the API.
    """
    for key, low, high in (("maxPods", 10, 250), ("osDiskSizeGB", 0, 2048)):
        value = pool.get(key)
        if value is not None and not low <= value <= high:
            return f"{INVALID}agentPoolProfile.{key} was {value}. It must be from {low} to {high}"
    if len(set(pool.get("availabilityZones") or [])) < len(pool.get("availabilityZones") or []):
        return f"{INVALID}agentPoolProfile.availabilityZones names a zone twice"
    if any(zone not in _ZONES for zone in pool.get("availabilityZones") or []):
        zones = ", ".join(pool["availabilityZones"])
        return (
            f"AvailabilityZoneNotSupported: The zone(s) {zones} for resource {pool.get('name')} "
            "is not supported."
        )
    try:
        machine = catalog.machine("aks", str(pool.get("vmSize") or ""))
    except CatalogError:
        return (
            f"BadRequest: The VM size of {pool.get('vmSize')} is not allowed in your subscription."
        )
    if pool.get("mode") == "System" and (machine.vcpus or 0) < LEAST_VCPUS_OF_A_SYSTEM_POOL:
        return (
            f"{INVALID}The system pool must use a VM size of at least "
            f"{LEAST_VCPUS_OF_A_SYSTEM_POOL} cores"
        )
    if machine.arch == "arm64" and pool.get("osSKU", "Ubuntu") not in ("Ubuntu", "Ubuntu2404"):
        return f"{INVALID}{machine.name} supports only Ubuntu"
    return None


def _gpus(pool: Values) -> str | None:
    """Check that the size supports the GPU instance profile.

    Source: learn.microsoft.com/azure/aks/gpu-multi-instance.
    """
    profile = pool.get("gpuInstanceProfile")
    machine = str(pool.get("vmSize") or "")
    if profile and not re.search(r"A100|H100|H200", machine):
        return f"{INVALID}gpuInstanceProfile {profile} is not supported for VM size {machine}"
    return None


def _reservations(pool: Values) -> str | None:
    """Reject settings that capacity reservations don't support.

    Source: learn.microsoft.com/azure/virtual-machines/capacity-reservation-overview
    (MicrosoftDocs/azure-compute-docs@05a4485).
    """
    if not pool.get("capacityReservationGroupID"):
        return None
    machine = str(pool.get("vmSize") or "")
    beside = {
        "Spot VMs": pool.get("scaleSetPriority") == "Spot",
        "proximity placement groups": pool.get("proximityPlacementGroupID"),
        "Ultra Disks": pool.get("enableUltraSSD"),
        f"the VM size {machine}": machine.startswith("Standard_ND") or machine.endswith("_H100_v5"),
    }
    refused = next((what for what, is_there in beside.items() if is_there), "")
    return f"{INVALID}Capacity reservations do not support {refused}." if refused else None


def _subnet(pool: Values) -> str | None:
    """Check names that become node labels: learn.microsoft.com/azure/aks/azure-cni-overlay,
    "Limitations".
    """
    parts = str(pool.get("vnetSubnetID") or "").split("/")
    longest = max(parts, key=len)
    if len(longest) <= LONGEST_LABEL:
        return None
    return f"{INVALID}vnetSubnetID: {longest} must be {LONGEST_LABEL} characters or less"


def _version(pool: Values) -> str | None:
    """Reject a version that Azure doesn't offer.

    Source: dspace-group/simphera-reference-architecture-azure issue 29.
    """
    wanted = str(pool.get("orchestratorVersion") or "")
    if not wanted or is_offered(wanted):
        return None
    return (
        f"AgentPoolK8sVersionNotSupported: Version {wanted} is not supported in this region. "
        "Please use [az aks "
        "get-versions] command to get the supported version list in this region."
    )


RULES: tuple[Rule, ...] = (
    _name,
    _version,
    labels_are_accepted,
    taints_are_accepted,
    _sizes,
    _counts,
    _spot,
    _surge,
    _gpus,
    _reservations,
    _subnet,
)


def keeps_what_is_fixed(request: CloudRequest) -> str | None:
    """Reject a change of a property that is fixed after creation.

    Source: pulumi/pulumi-azure-native issue 959.
    """
    if request.inputs is None or request.before is None:
        return None
    for key in FIXED:
        wanted = request.inputs.get(key)
        if wanted is not None and request.before.get(key) != wanted:
            return f"PropertyChangeNotAllowed: Changing property 'properties.{key}' is not allowed."
    return None


def scales_by_one_hand(request: CloudRequest) -> str | None:
    """Reject a new count for a pool that the autoscaler scales, except if the current count is
    outside the limits.

    Sources: Azure/AKS issue 1248 (a count that changes in the update that enables the autoscaler),
    Azure/azure-cli pull request 13996 and terraform-provider-azurerm pull request 4256 (while the
    autoscaler is enabled).
    """
    wanted, now = request.inputs, request.before
    if (
        wanted is None
        or now is None
        or not wanted.get("enableAutoScaling")
        or wanted["count"] == now.get("count")
    ):
        return None
    if not now.get("enableAutoScaling"):
        name = wanted.get("agentPoolName")
        return (
            "BadRequest: Cannot manually scale and enable cluster autoscaler in the same update "
            "operation on VMSS "
            f"Agentpool '{name}'."
        )
    if wanted["minCount"] <= now["count"] <= wanted["maxCount"]:
        return "BadRequest: Cannot scale cluster autoscaler enabled node pool."
    return None


def is_in_a_cluster(request: CloudRequest) -> str | None:
    """Require an existing cluster that isn't older than the pool (SupportArticles-docs@051c368,
    NodePoolMcVersionIncompatible).
    """
    if request.inputs is None:
        return None
    cluster = cluster_of(request.cloud, request.identifier)
    if cluster is None:
        return (
            "ResourceNotFound: The Resource "
            f"'{request.identifier.rpartition('/agentPools/')[0]}' was not found."
        )
    wanted = request.inputs.get("orchestratorVersion")
    own = newest(str(wanted or "")) if wanted else cluster["currentKubernetesVersion"]
    if _minor(own) > _minor(cluster["currentKubernetesVersion"]):
        return (
            f"NodePoolMcVersionIncompatible: Node pool version {own} and control plane version "
            f"{cluster['currentKubernetesVersion']} are incompatible."
        )
    return None


def does_not_exist_yet(request: CloudRequest) -> str | None:
    """Reject the creation of an existing pool.

    Source: pulumi/pulumi-azure-native:provider/pkg/provider/provider.go@006a62a.
    """
    if (
        request.before is None
        and request.inputs is not None
        and request.cloud.get(POOL, request.identifier)
    ):
        return f'cannot create already existing resource "{request.identifier}"'
    return None


def _minor(version: str) -> int:
    return int(version.split(".")[1])


REFUSALS = (
    does_not_exist_yet,
    is_in_a_cluster,
    keeps_what_is_fixed,
    scales_by_one_hand,
    has_machines,
)
