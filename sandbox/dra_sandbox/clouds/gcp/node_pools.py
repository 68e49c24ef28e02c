"""Check GKE node pools, and add the settings that GKE itself adds."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from dra_planner import catalog
from dra_planner.clouds.gke.disks import bundled_ssds, takes_boot_disk
from dra_planner.clouds.gke.machines import attachment
from dra_planner.errors import CatalogError
from dra_sandbox.clouds.label_syntax import is_key, is_value
from dra_sandbox.clouds.wire_values import Values

COMPACT_FLEX_START = ("a3-ultragpu-", "a4-", "h4d-")
# docs.cloud.google.com/compute/docs/disks/local-ssd, which doesn't contain the API's error message.
SSDS = {
    "a2-highgpu-1g": (0, 1, 2, 4, 8),
    "a2-highgpu-2g": (0, 2, 4, 8),
    "a2-highgpu-4g": (0, 4, 8),
    "a2-highgpu-8g": (0, 8),
    "g2-standard-8": (0, 1),
    "g2-standard-24": (0, 2),
    "g2-standard-48": (0, 4),
    "g2-standard-96": (0, 8),
    "e2-medium": (0,),
}
# docs.cloud.google.com/compute/docs/accelerator-optimized-machines, the notes about each series.
# STANDARD means on demand.
CONSUMPTION = {
    "a4x-highgpu-4g": ("RESERVATION",),
    "a4x-maxgpu-4g-metal": ("RESERVATION",),
    "a4-highgpu-8g": ("RESERVATION", "SPOT", "FLEX_START"),
    "a3-ultragpu-8g": ("RESERVATION", "SPOT", "FLEX_START"),
    "a3-ultragpu-8g-nolssd": ("RESERVATION", "SPOT", "FLEX_START"),
    "a3-highgpu-1g": ("SPOT", "FLEX_START"),
    "a3-highgpu-2g": ("SPOT", "FLEX_START"),
    "a3-highgpu-4g": ("SPOT", "FLEX_START"),
}
SYSCTL_GROUPS = (
    "fs.",
    "kernel.",
    "net.core.",
    "net.ipv4.tcp_",
    "net.netfilter.nf_conntrack_",
    "vm.",
)
NO_RESERVATION = "NO_RESERVATION"
NAME = "[a-z](?:[-a-z0-9]{0,38}[a-z0-9])?"
MOST_NODES, MOST_AT_ONCE = 1000, 20

Rule = Callable[[Values, Values], str | None]  # a pool's inputs, and its node configuration


def of_pool(inputs: Values) -> str | None:
    """Return the first error for a node pool, or None if GKE accepts it."""
    config = inputs.get("nodeConfig") or {}
    return next((reason for rule in RULES if (reason := rule(inputs, config))), None)


def _boot_disk(inputs: Values, config: Values) -> str | None:
    """Reject a boot disk that the machine type doesn't support.

    Sources: astronomer/astronomer issue 2463; PD CSI driver's deploy/disk_type_labels.sh@b560165c.
    """
    machine, disk = config.get("machineType") or "e2-medium", config.get("diskType")
    if disk is None or takes_boot_disk(machine, disk):
        return None
    return f"[{disk}, {machine}] features are not compatible for creating instance."


def _boot_disk_speed(inputs: Values, config: Values) -> str | None:
    """Reject IOPS and throughput that the boot disk doesn't support.

    Sources: hashicorp/terraform-provider-google:website/docs/r/container_node_pool (boot_disk), and
    Google's page on the limits of Hyperdisk Balanced: 500 IOPS for each GiB, and one IOPS for each
    4 to 256 KiB of throughput.
    """
    disk = config.get("bootDisk") or {}
    kind = disk.get("diskType") or config.get("diskType") or "pd-balanced"
    iops, throughput = disk.get("provisionedIops"), disk.get("provisionedThroughput")
    if disk.get("diskType") and config.get("diskType") not in (None, disk["diskType"]):
        return "boot_disk.disk_type must match disk_type"
    if iops is None and throughput is None:
        return None
    if kind != "hyperdisk-balanced":
        return f"Provisioned IOPS and throughput cannot be specified with disk type {kind}."
    size = disk.get("sizeGb") or config.get("diskSizeGb") or 100
    if iops is not None and not 3000 <= iops <= min(160000, 500 * size):
        return (
            f"Provisioned IOPS {iops} is not supported for a hyperdisk-balanced disk of {size} GB."
        )
    least, most = max(140, (iops or 3000) / 256), min(2400, (iops or 3000) / 4)
    if throughput is not None and not least <= throughput <= most:
        return (
            f"Provisioned throughput {throughput} is not supported for {iops or 3000} "
            "provisioned IOPS."
        )
    return None


def _kernel(inputs: Values, config: Values) -> str | None:
    """Check the names of kernel settings. Source: GKE API reference, LinuxNodeConfig."""
    for name in (config.get("linuxNodeConfig") or {}).get("sysctls") or {}:
        if not name.startswith(SYSCTL_GROUPS):
            return f"Sysctl {name} is not supported."
    return None


def _local_ssds(inputs: Values, config: Values) -> str | None:
    """Reject numbers and uses of local SSDs that the machine type doesn't support.

    Source: terraform-google-kubernetes-engine issue 902.
    """
    if config.get("ephemeralStorageLocalSsdConfig") and config.get("localNvmeSsdBlockConfig"):
        return (
            "Can not use local SSDs as volumes when using ephemeral storage backed by local SSDs."
        )
    machine = str(config.get("machineType") or "e2-medium")
    count = (config.get("ephemeralStorageLocalSsdConfig") or {}).get("localSsdCount")
    if count and machine in SSDS and count not in SSDS[machine]:
        return (
            f"Number of local SSDs for an instance of type {machine} should be one of "
            f"{list(SSDS[machine])}."
        )
    return None


def _machine_of_gpus(inputs: Values, config: Values) -> str | None:
    """Reject GPUs that the machine type doesn't have.

    Accelerator-optimized machine types have fixed GPUs
    (GoogleCloudPlatform/cluster-toolkit:pkg/config/machine_mappings.json@10470803). Sources:
    terraform-provider-google issue 8387; terraform-google-kubernetes-engine issue 2608.
    """
    machine = config.get("machineType") or "e2-medium"
    given = config.get("guestAccelerators") or []
    if given and machine.startswith(("e2-", "n2-")):
        return (
            f"Cannot use default machine type ({machine}) with GPUs; choose a different machine "
            "type."
        )
    try:
        own = (
            attachment(catalog.machine("gke", machine))
            if given and not machine.startswith("n1-")
            else None
        )
    except CatalogError:
        return None
    if own is None or (given[0].get("type"), given[0].get("count")) == own:
        return None
    requested = f"Accelerator type {given[0].get('type')} count {given[0].get('count')}"
    return f"{requested} is not valid for {machine}, which has {own[1]} of {own[0]}"


def _labels(inputs: Values, config: Values) -> str | None:
    """Reject labels and taints that Kubernetes or GKE doesn't allow.

    Sources:
    hashicorp/terraform-provider-google:website/docs/r/container_cluster.html.markdown@e03b7622; GKE
    API reference, NodeConfig.
    """
    taints = {taint["key"]: taint.get("value") or "" for taint in config.get("taints") or []}
    for kind, given in (("label", config.get("labels") or {}), ("taint", taints)):
        for key, value in given.items():
            if not is_key(key) or not is_value(value):
                return (
                    f"Invalid node {kind} {key}={value}: it must consist of alphanumeric "
                    "characters, '-', '_' or '.'"
                )
    for key in config.get("labels") or {}:
        if key.startswith(("kubernetes.io/", "k8s.io/")):
            return f"node label {key}: the prefixes kubernetes.io/ and k8s.io/ are reserved"
    return None


def _lent_nodes(inputs: Values, config: Values) -> str | None:
    """Reject settings that Spot, flex-start, and queued provisioning don't support.

    Sources: terraform-provider-google issue 18341;
    cluster-toolkit:modules/compute/gke-node-pool@10470803 and
    docs/gke-consumption-options.md@0a49744.
    """
    flex, queued = config.get("flexStart"), (inputs.get("queuedProvisioning") or {}).get("enabled")
    spot, affinity = (
        config.get("spot"),
        (config.get("reservationAffinity") or {}).get("consumeReservationType"),
    )
    if queued and affinity != NO_RESERVATION:
        return "Queued_provisioning requires reservation affinity to be set to none"
    if (flex or spot) and affinity not in (None, NO_RESERVATION):
        return f"{'flex-start' if flex else 'spot'} nodes cannot consume a reservation"
    if spot and (flex or queued):
        return "spot excludes flex-start and queued provisioning"
    if not (flex or queued):
        return None
    if (inputs.get("management") or {}).get("autoRepair", True):
        return "auto_repair must be false with flex-start"
    if inputs.get("nodeCount"):
        return "flex-start doesn't support a static node count"
    if (inputs.get("autoscaling") or {}).get("totalMinNodeCount"):
        return "flex-start and queued provisioning need a minimum of 0 nodes"
    compact = (inputs.get("placementPolicy") or {}).get("type") == "COMPACT"
    if compact and queued:
        return "compact placement is not supported with queued provisioning"
    if compact and not str(config.get("machineType")).startswith(COMPACT_FLEX_START):
        return f"{config.get('machineType')} has no compact placement with flex-start"
    return None


def _consumption(inputs: Values, config: Values) -> str | None:
    """Reject a provisioning model that the machine type doesn't support.

    The source is the page of CONSUMPTION. The text of the message is our own, because no source
    contains the API's message. dstackai/dstack pull request 3100 observed the rejection with
    on-demand A4 machines.
    """
    machine = str(config.get("machineType"))
    affinity = (config.get("reservationAffinity") or {}).get(
        "consumeReservationType"
    ) or "NO_RESERVATION"
    if config.get("spot") or config.get("preemptible"):
        way = "SPOT"
    elif config.get("flexStart") or (inputs.get("queuedProvisioning") or {}).get("enabled"):
        way = "FLEX_START"
    else:
        way = "STANDARD" if affinity == NO_RESERVATION else "RESERVATION"
    if way in CONSUMPTION.get(machine, (way,)):
        return None
    return (
        f"{machine} is not available with the provisioning model {way}, but with "
        f"{', '.join(CONSUMPTION[machine])}"
    )


def _placement(inputs: Values, config: Values) -> str | None:
    """Reject settings that compact placement doesn't support.

    Source: cluster-toolkit:modules/compute/gke-node-pool@10470803.
    """
    if (inputs.get("placementPolicy") or {}).get("type") != "COMPACT":
        return None
    if len(inputs.get("nodeLocations") or []) > 1:
        return "compact placement needs one zone"
    if (inputs.get("upgradeSettings") or {}).get("strategy") == "BLUE_GREEN":
        return "compact placement excludes blue-green upgrades"
    return None


def _counts(inputs: Values, config: Values) -> str | None:
    """Reject contradictory node counts.

    Source:
    terraform-provider-google:google/services/container/resource_container_node_pool.go@e03b7622.
    """
    if inputs.get("initialNodeCount") is not None and inputs.get("nodeCount") is not None:
        return "Cannot set both initial_node_count and node_count"
    scaling = inputs.get("autoscaling") or {}
    if (inputs.get("initialNodeCount") or 0) < 0:
        return f"initial_node_count must be at least 0, not {inputs['initialNodeCount']}"
    if (scaling.get("minNodeCount") or 0) > scaling.get("maxNodeCount", MOST_NODES):
        return "min_node_count must be less than or equal to max_node_count"
    return None


def _limits(inputs: Values, config: Values) -> str | None:
    """Reject an invalid name, number of pods, run time, or reservation.

    Sources: pulumi/pulumi-gcp issue 1510 (name);
    docs.cloud.google.com/kubernetes-engine/docs/how-to/flexible-pod-cidr;
    terraform-provider-google:website/docs/r/container_{cluster,node_pool}.html.markdown@e03b7622
    (run time).
    """
    if error := wrong_name("node_pool", inputs):
        return error
    pods, seconds = inputs.get("maxPodsPerNode"), config.get("maxRunDuration")
    if pods is not None and not 8 <= pods <= 256:
        return f"max_pods_per_node must be between 8 and 256, not {pods}"
    if seconds and not re.fullmatch(r"\d+s", seconds):
        return f'max_run_duration: "{seconds}" isn\'t a duration such as 3600s'
    affinity = config.get("reservationAffinity") or {}
    if affinity.get("consumeReservationType") == "SPECIFIC_RESERVATION" and not affinity.get(
        "values"
    ):
        return (
            "SPECIFIC_RESERVATION needs the key compute.googleapis.com/reservation-name and the "
            "reservation's name"
        )
    return None


def wrong_name(kind: str, inputs: Values) -> str | None:
    """Return the error for an invalid name of a node pool or cluster."""
    name = str(inputs.get("name") or "x")
    if re.fullmatch(NAME, name):
        return None
    return (
        f'Invalid value for field "{kind}.name": "{name}". Must be a match of regex \'(?:{NAME})\' '
        "(only lowercase "
        "alphanumerics and '-' allowed, must start with a letter and end with an alphanumeric, and "
        "must be no longer "
        "than 40 characters)."
    )


def _upgrades(inputs: Values, config: Values) -> str | None:
    """Reject invalid upgrade settings.

    Sources: as for `_limits`, and the documentation of container_node_pool.
    """
    settings = inputs.get("upgradeSettings") or {}
    surge = [
        settings[key] for key in ("maxSurge", "maxUnavailable") if settings.get(key) is not None
    ]
    if surge and settings.get("strategy", "SURGE") != "SURGE":
        return "Surge upgrade settings may not be changed when surge strategy is not enabled"
    if sum(surge) > MOST_AT_ONCE:
        return (
            f"The sum of max_surge and max_unavailable is {sum(surge)}, and {MOST_AT_ONCE} "
            "nodes at most at once"
        )
    return (
        "max_surge and max_unavailable cannot both be 0"
        if len(surge) == 2 and not any(surge)
        else None
    )


def _networks(inputs: Values, config: Values) -> str | None:
    """Reject additional networks together with DRANET.

    Source: cluster-toolkit:modules/compute/gke-node-pool@10470803.
    """
    network = inputs.get("networkConfig") or {}
    if network.get("acceleratorNetworkProfile") and network.get("additionalNodeNetworkConfigs"):
        return "DRANET automatically configures networks. additional_networks must not be provided"
    return None


RULES: tuple[Rule, ...] = (
    _boot_disk,
    _boot_disk_speed,
    _kernel,
    _local_ssds,
    _machine_of_gpus,
    _labels,
    _lent_nodes,
    _consumption,
    _placement,
    _counts,
    _limits,
    _upgrades,
    _networks,
)


def reported(inputs: Values) -> dict[str, Any]:
    """Return the settings that GKE adds to a pool: the local SSDs of its machine type
    (cluster-toolkit PR 2968).
    """
    count = bundled_ssds(str((inputs.get("nodeConfig") or {}).get("machineType")))
    return (
        {"nodeConfig": {"ephemeralStorageLocalSsdConfig": {"localSsdCount": count}}}
        if count
        else {}
    )
