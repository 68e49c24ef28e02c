"""Google Kubernetes Engine with Standard node pools."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from dra_planner.catalog import Machine, network_interfaces
from dra_planner.clouds.protocol.allocatable import (
    EVICTION_MIB,
    MIB,
    Allocatable,
    AllocatableSettings,
    disk_bytes,
    reserved_cpu_milli,
)
from dra_planner.clouds.protocol.cloud import WHOLE, Cloud, CountStep, Fault, PoolSettings
from dra_planner.clouds.protocol.identities import GrantResource, IdentityResource
from dra_planner.clouds.protocol.labels import MPS_CAPABLE, PLUGIN_CONFIG, NodeLabel, NodeOrigin
from dra_planner.clouds.protocol.node_networks import (
    AddressRanges,
    Gateway,
    NodeNetwork,
)
from dra_planner.clouds.protocol.plugin_serving import MPS, TIME_SLICING, CloudPlugin, PluginServing
from dra_planner.clouds.protocol.resources import (
    AttachedGpus,
    BoughtCapacity,
    ClusterResource,
    CountLimits,
    FastNetwork,
    PoolResource,
    SurgeSetting,
)
from dra_planner.clouds.protocol.storage import DiskKeys, VolumeDriver
from dra_planner.model import Taint

# keeps GKE's device plugin for TPUs off a node
TPU_DRA_DRIVER = "cloud.google.com/gke-tpu-dra-driver"
# docs.cloud.google.com/kubernetes-engine/docs/how-to/tpus
TPU_TAINT = Taint("google.com/tpu", "present", "NoSchedule")
NO_DEVICE_PLUGIN = "gke-no-default-nvidia-gpu-device-plugin"
DRA_DRIVER = "cloud.google.com/gke-nvidia-gpu-dra-driver"
NETWORK_DRIVER = "cloud.google.com/gke-networking-dra-driver"
ARM_TAINT = Taint("kubernetes.io/arch", "arm64", "NoSchedule")
QUEUED_TAINT = Taint("cloud.google.com/gke-queued", "true", "NoSchedule")
IMAGE = "COS_CONTAINERD"
# and 2 % of the disk; cautious: the file system of a node with 100 GiB is 5.75 GiB smaller
IMAGE_MIB = 5 * 1024
# kubernetes-sigs/gcp-compute-persistent-disk-csi-driver:deploy/disk_type_labels.sh@b560165c. Where
# sources disagree (c4a, n4), and for a3-ultragpu, whose default is a Hyperdisk (Vertex AI,
# “DiskSpec”), Persistent Disk counts as refused.
_HYPERDISK_ONLY = frozenset({"a4", "a4x", "c4", "c4a", "c4d", "g4", "h4d", "m4", "n4"})
_BOTH = frozenset({"a3", "c3", "c3d"})
_PERSISTENT = ("pd-balanced", "pd-ssd", "pd-standard")
_HYPERDISK = "hyperdisk-balanced"  # alone among Hyperdisks boots a node: cluster-toolkit PR 6004
# GoogleCloudPlatform/cluster-toolkit:modules/compute/gke-node-pool/disk_definitions.tf@10470803
_BUNDLED_SSDS = {
    "a3-highgpu-8g": 16,
    "a3-megagpu-8g": 16,
    "a3-ultragpu-8g": 32,
    "a4-highgpu-8g": 32,
}
SSD_GIB = 375
# docs.cloud.google.com/compute/docs/disks/local-ssd, “Choose a valid number of Local SSD disks”:
# machines that take some where it is asked for; what comes with a machine is in the catalogue.
_SSD_CHOICES: dict[str, tuple[int, ...]] = {
    "a2-highgpu-1g": (1, 2, 4, 8),
    "a2-highgpu-2g": (2, 4, 8),
    "a2-highgpu-4g": (4, 8),
    "a2-highgpu-8g": (8,),
    "a2-megagpu-16g": (8,),
    "g2-standard-24": (2,),
    "g2-standard-48": (4,),
    "g2-standard-96": (8,),
    "g4-standard-48": (4,),
    "g4-standard-96": (8,),
    "g4-standard-192": (16,),
    "g4-standard-384": (32,),
    **{f"g2-standard-{vcpus}": (1,) for vcpus in (4, 8, 12, 16, 32)},
}
_COMPACT_FLEX_START = ("a3-ultragpu-", "a4-", "h4d-")


SHARING_STRATEGIES = {TIME_SLICING: "TIME_SHARING", MPS: "MPS"}
"""Names of sharing strategies in the node pool's API."""


def partition_size(mig: str) -> str:
    """Return the profile into which GKE's plugin partitions every GPU: 1g.10gb for all-1g.10gb; ""
    for whole GPUs.
    """
    return mig.removeprefix("all-") if mig not in WHOLE else ""


def _plugin_labels(plugin: PluginServing) -> dict[str, str]:
    """Return the labels by which GKE tells how its plugin serves a node's GPUs.

    Source: docs.cloud.google.com/kubernetes-engine/docs/how-to/timesharing-gpus.
    """
    labels = {"cloud.google.com/gke-gpu-driver-version": "default"}
    if plugin.strategy:
        labels["cloud.google.com/gke-gpu-sharing-strategy"] = (
            SHARING_STRATEGIES[plugin.strategy].lower().replace("_", "-")
        )
        labels["cloud.google.com/gke-max-shared-clients-per-gpu"] = str(plugin.replicas)
    if size := partition_size(plugin.mig):
        labels["cloud.google.com/gke-gpu-partition-size"] = size
    return labels


class Gke(Cloud):
    """Node pools of Container-Optimized OS, on which neither Google's device plugin nor its driver
    runs.
    """

    name = "gke"

    region_setting = "gcp:region"
    sdk_extra = "gcp"
    account_settings = ("gcp:project",)
    region_pattern = r"[a-z]+-[a-z]+\d+"
    region_example = "us-central1"
    zone_pattern = r"(?P<region>.*\d)-(ai\d+)?[a-z]"  # us-central1-ai1a is a zone for accelerators
    version_pattern = r"1\.\d+(\.\d+(-gke\.\d+)?)?"
    zone_suffixes = ("-a", "-b", "-c", "-d", "-e", "-f")
    refused = {
        "network.subnetIds": "subnetIds are only for EKS; on GKE, set zones",
        "network.prefixDelegation": "is only for EKS; on GKE, a pool's maxPods sets the size of its address range",
        "devicePlugin": "GKE runs its own device plugin on nodes without DRA; set it to false",
        "drivers.dranet.version": "is only for EKS; GKE manages its own DRANET: write dranet: true",
        "reserved": "GKE doesn't allow custom kubelet reservations "
        "(docs.cloud.google.com/kubernetes-engine/docs/how-to/node-system-config); use "
        "daemonPods",
        "image": "is only for EKS; GKE nodes run the Container-Optimized OS release of their version",
        "localStorage": "is only for EKS; on GKE, localSsds sets the number of local disks, which are the "
        "node's ephemeral storage",
        "schedule": "GKE doesn't support scheduled node counts; use autoscaler gke, which removes unused "
        "nodes (docs.cloud.google.com/kubernetes-engine/docs/concepts/cluster-autoscaler)",
    }

    # GKE's own predicts what a node of a pool with DRA_DRIVER will publish, so a claim wakes an
    # empty one.
    autoscalers = {"none": False, "gke": True}

    capacities = {
        "on-demand": "on-demand",
        "spot": "spot",
        "flex-start": "flex-start",
        "queued": "queued",
        "reservation": "a reservation",
    }
    judged_purchases = ("on-demand", "spot", "reservation", "flex-start", "queued")
    installer_off = (
        "nodeConfig.guestAccelerators",
        "gpuDriverInstallationConfig.gpuDriverVersion",
        "INSTALLATION_DISABLED",
    )
    # GoogleCloudPlatform/container-engine-accelerators:nvidia-driver-installer@992db812
    installer_images = (
        ("COS", ("cos-nvidia-installer", "cos-gpu-installer", "driver-installer/cos")),
        ("UBUNTU", ("ubuntu-nvidia", "ubuntu-gpu-installer", "driver-installer/ubuntu")),
    )
    spot = (("nodeConfig.spot", "true"), ("nodeConfig.preemptible", "true"))
    # GoogleCloudPlatform/cluster-toolkit pull requests 5040 (another project) and 5043 (blocks)
    reservation_pattern = (
        r"(projects/[^/]+/reservations/)?[^/]+"
        r"(/reservationBlocks/[^/]+(/reservationSubBlocks/[^/]+)?)?"
    )
    reservation_meaning = "the name of a reservation, or projects/PROJECT/reservations/NAME"
    pods_range = "10.4.0.0/14"
    # docs.cloud.google.com/kubernetes-engine/docs/how-to/flexible-pod-cidr
    pods_of_a_node = range(8, 257)
    disk_gib = range(50, 65_537)
    huge_pages_doubt = "; it's unknown whether GKE supports this number for the machine type"
    commands = ("gcloud container",)
    system_machine = "e2-standard-4"
    gpu_images = {"amd64": IMAGE, "arm64": IMAGE}
    system_images = {"amd64": IMAGE, "arm64": IMAGE}

    # docs.cloud.google.com/kubernetes-engine/docs/how-to/gpus: taints of GPU nodes
    tolerates_extended_resources = True

    unknown_labels = (
        "cloud.google.com/",
        "addon.gke.io/",
        "iam.gke.io/",
        "topology.gke.io/",
        "node.gke.io/",
    )
    pool_label = "cloud.google.com/gke-nodepool"
    accelerator_label = "cloud.google.com/gke-accelerator"
    # docs.cloud.google.com/kubernetes-engine/docs/how-to/{timesharing-gpus,gpus-multi}: 2 to 48
    # clients; partitions are advertised as nvidia.com/gpu.
    plugin = CloudPlugin(is_built_in=True, replicas=48, mig_strategies=("single",), renames=False)
    no_device_plugin_label = NO_DEVICE_PLUGIN
    wakes_by_label = DRA_DRIVER
    network_label = NETWORK_DRIVER

    # Google's managed driver comes with its device plugin, so a DaemonSet puts the driver where COS
    # lets it.
    driver_root = "/home/kubernetes/bin/nvidia"
    installs_driver = False
    metrics_collector = "google"  # its managed Prometheus, which the component GkeCluster turns on
    supports_mig = False
    unsupported_gates = ("DynamicMIG", "TimeSlicingSettings", "MPSSupport", "ConsumableShares")
    # Its driver image has no build for COS 121 and later: NVIDIA/gpu-operator issue 1623;
    # docs.nvidia.com, “NVIDIA GPU Operator with Google GKE”: the operator's driver manager is for
    # Ubuntu.
    image_titles = {IMAGE: "Container-Optimized OS", "COS": "Container-Optimized OS"}
    images_without_operator_driver = (IMAGE, "COS")
    driver_source = (
        "docs.cloud.google.com/kubernetes-engine/docs/how-to/set-up-dra: no "
        "time-sharing, MIG or MPS"
    )
    critical_pods_need_quota = True
    dated_facts = ("zones",)
    fact_sources = ("gcp", "gke")

    provider = "pulumi:providers:gcp"
    cluster = ClusterResource(
        token="gcp:container/cluster:Cluster",
        version="minMasterVersion",
        region="location",
        zones="nodeLocations",
        pools="nodePools",
        version_is_floor=True,
        dataplane=("datapathProvider", "ADVANCED_DATAPATH"),
        dataplane_default="LEGACY_DATAPATH",
        managed="enableAutopilot",
        network_policies=(
            ("datapathProvider", "ADVANCED_DATAPATH"),
            ("networkPolicy.enabled", "true"),
        ),
        pod_range="ipAllocationPolicy.clusterIpv4CidrBlock",
        first_pool="removeDefaultNodePool",
        first_pool_settings=("nodeConfig", "initialNodeCount"),
        own_nodes=(("enableAutopilot", "true"), ("clusterAutoscaling.enabled", "true")),
    )
    pool = PoolResource(
        token="gcp:container/nodePool:NodePool",
        kind="node pool",
        machine="nodeConfig.machineType",
        machine_default="e2-medium",
        attached=AttachedGpus(path="nodeConfig.guestAccelerators"),
        labels="nodeConfig.labels",
        image="nodeConfig.imageType",
        image_default=IMAGE,
        version="version",
        max_pods="maxPodsPerNode",
        own_pod_ranges=("networkConfig.podRange", "networkConfig.createPodRange"),
        taints="nodeConfig.taints",
        desired=("nodeCount", "initialNodeCount"),
        desired_per_zone=True,
        scaling="autoscaling",
        limits=(
            CountLimits(
                minimum="autoscaling.totalMinNodeCount", maximum="autoscaling.totalMaxNodeCount"
            ),
            CountLimits(
                minimum="autoscaling.minNodeCount",
                maximum="autoscaling.maxNodeCount",
                per_zone=True,
            ),
        ),
        zones="nodeLocations",
        location="location",
        cluster="cluster",
        disk_type="nodeConfig.diskType",
        local_disks=(
            "nodeConfig.ephemeralStorageLocalSsdConfig.localSsdCount",
            "nodeConfig.localNvmeSsdBlockConfig.localSsdCount",
        ),
        bought=BoughtCapacity(
            marks=(
                ("nodeConfig.reservationAffinity.consumeReservationType", "SPECIFIC_RESERVATION"),
                (
                    "nodeConfig.reservationAffinity.consumeReservationType",
                    "ANY_RESERVATION_THEN_FAIL",
                ),
            ),
            tokens=("gcp:compute/reservation:Reservation",),
            zone="zone",
            names="nodeConfig.reservationAffinity.values",
            surge=SurgeSetting(
                setting="upgradeSettings.maxSurge",
                default="1",
                starts_none=("0",),
                fix="set upgradeSettings.maxSurge to 0 and maxUnavailable to 1",
                strategy=("upgradeSettings.strategy", "SURGE"),
            ),
        ),
        network_profile="networkConfig.acceleratorNetworkProfile",
        fast_network=FastNetwork(
            settings=(
                "networkConfig.acceleratorNetworkProfile",
                "networkConfig.additionalNodeNetworkConfigs",
            ),
            fix='set networkConfig.acceleratorNetworkProfile to "auto" and the label '
            f"{NETWORK_DRIVER}=true, or name additionalNodeNetworkConfigs",
        ),
        # GoogleCloudPlatform/cluster-toolkit:examples/gke-a4x@10470803: one policy for each domain
        nvlink_placement="placementPolicy.policyName",
    )

    # GKE guide, "Node taints": managed components
    tolerated_by_system = ("CriticalAddonsOnly", "components.gke.io/gke-managed-components")
    node_network = NodeNetwork(
        # VPC guide, "Subnets": unusable addresses
        addresses=AddressRanges(
            of_cluster=(
                ("ipAllocationPolicy.clusterIpv4CidrBlock", "pods", ""),
                ("ipAllocationPolicy.servicesIpv4CidrBlock", "services", ""),
                ("privateClusterConfig.masterIpv4CidrBlock", "the control plane", ""),
            ),
            token="gcp:compute/subnetwork:Subnetwork",
            used_by=("subnetwork",),
            ranges=("ipCidrRange", "secondaryIpRanges.ipCidrRange"),
            network="network",
            network_token="gcp:compute/network:Network",
            network_ranges="",
            kept=4,
        ),
        # Private Google Access reaches only Google's registries
        # (VPC guide, "Private Google Access").
        gateway=Gateway(
            private="privateClusterConfig.enablePrivateNodes",
            network="network",
            network_token="gcp:compute/network:Network",
            token="gcp:compute/routerNat:RouterNat",
            mirror="pkg.dev",
            title="Cloud NAT",
            fix="declare a RouterNat in the network, or copy the images to Artifact Registry",
        ),
    )
    # GKE guide, "Harden workload isolation with GKE Sandbox"
    runtime_classes = ("gvisor",)
    identity = IdentityResource(
        token="gcp:serviceaccount/account:Account",
        kind="service account",
        name="accountId",
        grants=tuple(
            GrantResource(token=token, identity=identity, rights="role")
            for token, identity in (
                ("gcp:projects/iAMMember:IAMMember", "member"),
                ("gcp:projects/iAMBinding:IAMBinding", "members"),
                ("gcp:artifactregistry/repositoryIamMember:RepositoryIamMember", "member"),
                ("gcp:storage/bucketIAMMember:BucketIAMMember", "member"),
            )
        ),
    )

    # GKE guides, "Using the Compute Engine persistent disk CSI driver" and "Access Filestore
    # instances with the Filestore CSI driver"
    volume_drivers = (
        VolumeDriver(
            provisioner="pd.csi.storage.gke.io",
            classes=("standard-rwo", "premium-rwo", "standard"),
            switch=(
                "addonsConfig.gcePersistentDiskCsiDriverConfig.enabled",
                True,
                True,
            ),
        ),
        VolumeDriver(
            provisioner="filestore.csi.storage.gke.io",
            classes=(
                "standard-rwx",
                "premium-rwx",
                "zonal-rwx",
                "regional-rwx",
                "enterprise-rwx",
                "enterprise-multishare-rwx",
            ),
            switch=("addonsConfig.gcpFilestoreCsiDriverConfig.enabled", True, False),
        ),
        VolumeDriver(
            provisioner="gcsfuse.csi.storage.gke.io",
            switch=("addonsConfig.gcsFuseCsiDriverConfig.enabled", True, False),
        ),
    )
    default_storage_class = "standard-rwo"
    # GKE guide, "Use customer-managed encryption keys": the Compute Engine service agent
    disk_keys = DiskKeys(
        used_by=(("gcp:container/nodePool:NodePool", "nodeConfig.bootDiskKmsKey"),),
        tokens=("gcp:kms/cryptoKey:CryptoKey",),
        grants=(
            ("gcp:kms/cryptoKeyIAMMember:CryptoKeyIAMMember", "cryptoKeyId"),
            ("gcp:kms/cryptoKeyIAMBinding:CryptoKeyIAMBinding", "cryptoKeyId"),
            ("gcp:kms/keyRingIAMMember:KeyRingIAMMember", "keyRingId"),
        ),
        identity="the Compute Engine service agent",
        fix="grant it roles/cloudkms.cryptoKeyEncrypterDecrypter on the key",
    )

    def labels(self, nodes: NodeOrigin) -> tuple[NodeLabel, ...]:
        """Return the labels of a pool: the last ones tell GKE which drivers its nodes have.

        Sources: docs.cloud.google.com/kubernetes-engine/docs/how-to/set-up-dra and
        …/allocate-network-resources-dra.
        """
        labels = super().labels(nodes)
        # GKE's plugin reads its own settings, not labels of NVIDIA's chart
        if nodes.plugin is not None:
            labels = tuple(each for each in labels if each.key not in (PLUGIN_CONFIG, MPS_CAPABLE))
        elif nodes.has_gpus:
            labels += (
                NodeLabel(
                    NO_DEVICE_PLUGIN, "true", "GKE runs its own device plugin on these nodes"
                ),
                NodeLabel(
                    DRA_DRIVER,
                    "true",
                    "GKE's autoscaler doesn't scale this pool up from zero for claims",
                ),
            )
        if _has_tpus(nodes.machine):
            labels += (
                NodeLabel(
                    TPU_DRA_DRIVER, "true", "GKE runs its own device plugin for TPUs on these nodes"
                ),
            )
        if nodes.network_devices and (nodes.machine is None or network_interfaces(nodes.machine)):
            labels += (
                NodeLabel(
                    NETWORK_DRIVER,
                    "true",
                    "GKE's DRANET doesn't publish network interfaces of these nodes",
                ),
            )
        return labels

    def added_labels(self, nodes: NodeOrigin) -> dict[str, str]:
        labels = dict[str, str]()  # gke-nodepool is a name that Pulumi completes
        if nodes.capacity == "spot":
            labels["cloud.google.com/gke-spot"] = "true"
        accelerator = nodes.machine.accelerator if nodes.machine and nodes.has_gpus else None
        if accelerator is not None and accelerator.gke_type is not None:
            labels |= {
                self.accelerator_label: accelerator.gke_type,
                "cloud.google.com/gke-gpu": "true",
            }
        return labels | (_plugin_labels(nodes.plugin) if nodes.plugin is not None else {})

    possible_taints = (ARM_TAINT, QUEUED_TAINT, TPU_TAINT)
    # docs.cloud.google.com/kubernetes-engine/docs/how-to/gpus (“Run GPUs in Standard node pools”)
    taints_new_gpu_pools = True

    def added_taints(self, nodes: NodeOrigin) -> tuple[Taint, ...]:
        """Return the taint of Arm nodes, and that of nodes which a ProvisioningRequest queues for.

        Sources:
        docs.cloud.google.com/kubernetes-engine/docs/how-to/prepare-arm-workloads-for-deployment;
        …/docs/how-to/provisioningrequest.
        """
        taints: tuple[Taint, ...] = (
            (ARM_TAINT,) if nodes.machine and nodes.machine.arch == "arm64" else ()
        )
        taints += (TPU_TAINT,) if _has_tpus(nodes.machine) else ()
        return (*taints, QUEUED_TAINT) if nodes.capacity == "queued" else taints

    def image_labels(self, machine: Machine) -> dict[str, str]:
        return {
            "cloud.google.com/machine-family": machine.family,
            "cloud.google.com/gke-os-distribution": "cos",
            "cloud.google.com/gke-container-runtime": "containerd",
        }

    def boot_disk_types(self, instance_type: str) -> tuple[str, ...]:
        return boot_disks(instance_type)

    def local_disks_fault(self, instance_type: str, count: int) -> str:
        bundled = bundled_ssds(instance_type)
        return "" if count == bundled else local_ssds_fault(instance_type, count)

    def count_step(self, zones: int, *, autoscaled: bool) -> CountStep:
        if autoscaled or zones < 2:
            return CountStep()
        why = f"without an autoscaler, GKE counts nodes per zone, and there are {zones} zones"
        return CountStep(nodes=zones, why=why, fix="name one zone for the pool")

    def reservation_fault(self, reservation: str) -> str:
        if "/reservationBlocks/" in reservation and not reservation.startswith("projects/"):
            return (
                f'the reservation block "{reservation}" has no project, so GKE doesn\'t find it '
                "(404); write "
                "projects/PROJECT/reservations/NAME/reservationBlocks/BLOCK"
            )
        return super().reservation_fault(reservation)

    def capacity_assumptions(self, kind: str) -> tuple[str, ...]:
        if kind not in LENT:
            return ()
        ends = "GKE removes its nodes after at most seven days"
        if kind == "flex-start":
            return (f"{ends}, and starts them when it has capacity",)
        return (
            f"{ends}, and starts them only for pods of a ProvisioningRequest (Kueue writes it)",
        )

    def pool_faults(self, pool: PoolSettings) -> Iterator[Fault]:
        yield from super().pool_faults(pool)
        if pool.capacity.kind in LENT:
            kind = pool.capacity.kind
            if pool.autoscaler != "gke":
                yield "capacity", f"{kind} nodes need an autoscaler; set autoscaler: gke"
            if pool.min_nodes:
                yield "count", f"{kind} nodes start for pods, so count.min must be 0; set it to 0"
        if pool.machine is not None and not pool.is_served and attachment(pool.machine) is None:
            yield "machine", f"{pool.machine.name} has no NVIDIA GPU; {GPU_EXAMPLE}"
        if pool.machine is not None and pool.local_ssds is not None:
            fault = local_ssds_fault(pool.machine.instance_type, pool.local_ssds)
            yield from [("localSsds", fault)] if fault else []

    def subnet_addresses(self, machine: Machine, settings: AllocatableSettings, pods: int) -> int:
        return 1

    def pod_range_addresses(self, settings: AllocatableSettings) -> int:
        """Return the block of a node: twice its pods at least, a power of two.

        Sources: docs.cloud.google.com/kubernetes-engine/docs/how-to/flexible-pod-cidr (“CIDR ranges
        for Standard clusters”: /28 for 8 pods, /27 to 16, /26 to 32, /25 to 64, /24 to 110; the
        rule goes on to 256); what a real cluster had, rancher/rancher issue 31110: /25 for 55 pods,
        /24 for 110, /28 for 8.
        """
        return 1 << (2 * _pods(settings) - 1).bit_length()

    def allocatable(
        self, machine: Machine, vcpus: int, memory_mib: int, settings: AllocatableSettings
    ) -> Allocatable:
        """Return what GKE's kubelet leaves.

        Sources: kubernetes/autoscaler:cluster-autoscaler/cloudprovider/gce/gce_reserved.go@55c37cd
        (what kernel and firmware keep);
        cloudpilot-ai/karpenter-provider-gcp:pkg/utils/utils.go@417f047 (documented reservations).
        """
        kept = memory_mib * MIB // 64 + 16 * MIB
        if memory_mib > 3 * 1024:
            kept += 64 * MIB
        if memory_mib <= 8 * 1024:
            kept += 8 * MIB
        kept += min(memory_mib * MIB * 175 // 100_000, 248 * MIB)
        disk = settings.disk_gib * 1024
        disk_reserved = min(disk // 2, disk * 35 // 100 + 6 * 1024, 100 * 1024)
        amounts = {
            "cpu": vcpus * 1000 - reserved_cpu_milli(vcpus),
            "memory": memory_mib * MIB - kept - _reserved_memory(memory_mib) - EVICTION_MIB * MIB,
            "pods": _pods(settings),
        }
        least, most = (
            disk_bytes(settings, IMAGE_MIB + disk // 50, disk_reserved),
            disk_bytes(settings, 0, disk_reserved),
        )
        storage = (
            f"ephemeral storage is a boot disk of {settings.disk_gib} GiB; local SSDs are "
            "not counted"
        )
        if settings.local_ssds:
            least, most = (
                _ssd_bytes(settings, settings.local_ssds, 2),
                _ssd_bytes(settings, settings.local_ssds, 0),
            )
            storage = f"ephemeral storage is local SSDs of {settings.local_ssds * SSD_GIB} GiB"
        elif machine.local_disks:
            most = max(most, _ssd_bytes(settings, machine.local_disks, 0))
            storage = (
                f"ephemeral storage is a boot disk of {settings.disk_gib} GiB, or the local SSDs "
                "that come with the "
                f"machine, {machine.local_disks * SSD_GIB} GiB"
            )
        return Allocatable(
            {**amounts, "ephemeral-storage": least},
            {**amounts, "memory": amounts["memory"] + kept, "ephemeral-storage": most},
            (
                "GKE nodes run Container-Optimized OS with GKE's documented reservations, as "
                "Karpenter and the cluster "
                "autoscaler restate them",
                "GKE nodes run at most 110 pods, the default of a node pool"
                if settings.max_pods is None
                else f"GKE nodes run at most {settings.max_pods} pods, as set",
                storage,
            ),
        )


def is_for_accelerators(zone: str) -> bool:
    """Whether a zone is one for accelerators (us-central1-ai1a), which Google lists among a
    region's others.

    googleapis/google-cloud-go issue 13734.
    """
    return re.fullmatch(r".*-ai\d+[a-z]", zone) is not None


def boot_disks(machine_type: str) -> tuple[str, ...]:
    """Return the boot disk types of a machine type (a3-highgpu-8g), starting with the default."""
    family = machine_type.partition("-")[0]
    if family in _HYPERDISK_ONLY or machine_type.startswith("a3-ultragpu-"):
        return (_HYPERDISK,)
    if family in _BOTH:
        return (*_PERSISTENT[:2], _HYPERDISK)
    return _PERSISTENT


def compact_fault(machine_type: str, capacity: str) -> str:
    """Return why nodes that GKE lends cannot be placed close together; "" for others, and for those
    that can be.

    GoogleCloudPlatform/cluster-toolkit:docs/gke-consumption-options.md@0a49744.
    """
    if capacity == "queued":
        return (
            "isn't supported with capacity queued, because GKE chooses the place of nodes for "
            "a ProvisioningRequest"
        )
    if capacity == "flex-start" and not machine_type.startswith(_COMPACT_FLEX_START):
        return f"is only for A3 Ultra, A4, and H4D with capacity flex-start, not for {machine_type}"
    return ""


def takes_boot_disk(machine_type: str, disk_type: str) -> bool:
    """Whether nodes of that machine type boot from that type of disk."""
    return disk_type in boot_disks(machine_type)


def bundled_ssds(machine_type: str) -> int:
    """Return how many local SSDs come with a machine type, and are the ephemeral storage of its
    nodes.
    """
    return _BUNDLED_SSDS.get(machine_type, 0)


def local_ssds_fault(machine_type: str, count: int) -> str:
    """Return why a machine type (g2-standard-48) can't have this number of optional local SSDs, or
    "".
    """
    choices = _SSD_CHOICES.get(machine_type, ())
    if machine_type.startswith("n1-"):
        choices = (*range(1, 9), 16, 24)
    if not choices:
        return (
            f"{machine_type} doesn't support additional local SSDs; its included SSDs are "
            "always attached"
        )
    if count in choices:
        return ""
    return (
        f"{machine_type} doesn't support {count} local SSDs; it supports "
        f"{' or '.join(map(str, choices))}"
    )


LENT: Final = ("flex-start", "queued")
"""Capacity types whose nodes the Dynamic Workload Scheduler lends.

Source: docs.cloud.google.com/kubernetes-engine/docs/how-to/provisioningrequest and
…/docs/concepts/dws.
"""
GPU_EXAMPLE = "name one that has, or attach some: n1-standard-8+nvidia-tesla-t4:1"


def attachment(machine: Machine) -> tuple[str, int] | None:
    """Return type and number of a machine type's NVIDIA GPUs in a node pool's form, or None without
    GPUs.
    """
    accelerator = machine.accelerator
    if (
        accelerator is None
        or accelerator.vendor != "nvidia"
        or not accelerator.gke_type
        or not accelerator.count
    ):
        return None
    return accelerator.gke_type, accelerator.count


def _has_tpus(machine: Machine | None) -> bool:
    return (
        machine is not None
        and machine.accelerator is not None
        and machine.accelerator.kind == "tpu"
    )


def _pods(settings: AllocatableSettings) -> int:
    return 110 if settings.max_pods is None else settings.max_pods


def _ssd_bytes(settings: AllocatableSettings, count: int, percent_lost: int) -> int:
    """Return what pods may use of local SSDs: 50 GiB of one are reserved, 75 of two, 100 of more.

    Their file system is 2 % smaller at most: df prints 369 GiB (cloudera/director-google-plugin
    pull request 158).
    """
    size = replace(settings, disk_gib=count * SSD_GIB)
    reserved = {1: 50, 2: 75}.get(count, 100) * 1024
    return disk_bytes(size, size.disk_gib * 1024 * percent_lost // 100, reserved)


def _reserved_memory(memory_mib: int) -> int:
    """Return GKE's reservation in bytes: 25 % of 4 GiB, 20 % of 4, 10 % of 8, 6 % of 112, 2 % of
    the rest.
    """
    if memory_mib <= 1024:
        return 255 * MIB
    reserved, left = 0, memory_mib * MIB
    for gib, percent in ((4, 25), (4, 20), (8, 10), (112, 6), (None, 2)):
        part = left if gib is None else min(left, gib * 1024 * MIB)
        reserved += -(-part * percent // 100)
        left -= part
    return reserved


CLOUD = Gke()
