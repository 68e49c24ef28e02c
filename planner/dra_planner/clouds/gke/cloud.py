"""Google Kubernetes Engine with Standard node pools."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from dra_planner.catalog import Machine, network_interfaces
from dra_planner.clouds.gke import pulumi_resources
from dra_planner.clouds.gke.allocatable import (
    addresses_of_node,
    allocatable_resources,
)
from dra_planner.clouds.gke.capacity import LENT
from dra_planner.clouds.gke.disks import (
    attaches_volume,
    boot_disks,
    bundled_ssds,
    local_ssds_fault,
)
from dra_planner.clouds.gke.labels import (
    ARM_TAINT,
    DRA_DRIVER,
    NETWORK_DRIVER,
    NO_DEVICE_PLUGIN,
    QUEUED_TAINT,
    TPU_DRA_DRIVER,
    TPU_TAINT,
    has_tpus,
    plugin_labels,
)
from dra_planner.clouds.gke.machines import GPU_EXAMPLE, attachment
from dra_planner.clouds.gke.pulumi_resources import IMAGE
from dra_planner.clouds.protocol.allocatable import (
    Allocatable,
    AllocatableSettings,
)
from dra_planner.clouds.protocol.cloud import Cloud
from dra_planner.clouds.protocol.labels import MPS_CAPABLE, PLUGIN_CONFIG, NodeLabel, NodeOrigin
from dra_planner.clouds.protocol.plugin_serving import CloudPlugin
from dra_planner.clouds.protocol.settings import CountStep, Fault, PoolSettings
from dra_planner.errors import RejectedValue
from dra_planner.model import Taint


class Gke(Cloud):
    """Node pools of Container-Optimized OS, on which neither Google's device plugin nor its driver
    runs.
    """

    name = "gke"

    region_setting = "gcp:region"
    sdk_extra = "gcp"
    machine_change = "replaces one node at a time"
    account_settings: ClassVar[Mapping[str, str]] = {
        "gcp:project": "the ID of your project",
        "pulumi-dra:securityGroup": "gke-security-groups@YOUR-DOMAIN (the Google group for RBAC) "
        "or none",
    }
    region_pattern = r"[a-z]+-[a-z]+\d+"
    region_example = "us-central1"
    zone_pattern = r"(?P<region>.*\d)-(ai\d+)?[a-z]"  # for example us-central1-ai1a, an AI zone
    version_pattern = r"1\.\d+(\.\d+(-gke\.\d+)?)?"
    zone_suffixes = ("-a", "-b", "-c", "-d", "-e", "-f")
    refused = {
        "network.subnetIds": "GKE doesn't support subnetIds, so set zones instead",
        "network.prefixDelegation": (
            "applies only to EKS, because on GKE, a pool's maxPods sets the size of its "
            "address range"
        ),
        "devicePlugin": "GKE runs its own device plugin on nodes without DRA; set devicePlugin to false",
        "drivers.dranet.version": (
            "applies only to EKS, because GKE manages its own DRANET; set dranet to true"
        ),
        "reserved": "GKE doesn't allow custom kubelet reservations "
        "(docs.cloud.google.com/kubernetes-engine/docs/how-to/node-system-config); use "
        "daemonPods",
        "image": (
            "applies only to EKS; GKE nodes run the Container-Optimized OS version for their "
            "Kubernetes version"
        ),
        "localStorage": "applies only to EKS; on GKE, set localSsds to use local disks as the "
        "node's ephemeral storage",
        "schedule": "GKE doesn't support scheduled node counts; use autoscaler gke, which removes unused "
        "nodes (docs.cloud.google.com/kubernetes-engine/docs/concepts/cluster-autoscaler)",
    }

    # GKE's own autoscaler predicts the devices of a node in a pool with DRA_DRIVER, so a claim can
    # scale up an empty pool.
    autoscalers = {"none": False, "gke": True}

    capacities = {
        "on-demand": "on-demand",
        "spot": "spot",
        "flex-start": "flex-start",
        "queued": "queued",
        "reservation": "a reservation",
    }
    judged_purchases = ("on-demand", "spot", "reservation", "flex-start", "queued")
    default_zones = 3
    secure_boot = "nodeConfig.shieldedInstanceConfig.enableSecureBoot"
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
    reservation_meaning = (
        "the name of a reservation (format: NAME or projects/PROJECT/reservations/NAME)"
    )
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
    # docs.cloud.google.com/kubernetes-engine/docs/how-to/allocate-network-resources-dra
    network_label_since = "1.34.1-gke.1829001"

    # Google's managed driver includes its device plugin, so a DaemonSet installs the driver in the
    # folder that Container-Optimized OS allows.
    driver_root = "/home/kubernetes/bin/nvidia"
    installs_driver = False
    metrics_collector = "google"  # managed Prometheus, which the GkeCluster component enables
    supports_mig = False
    unsupported_gates = ("DynamicMIG", "TimeSlicingSettings", "MPSSupport", "ConsumableShares")
    # The operator's driver image doesn't have a build for COS 121 and later: NVIDIA/gpu-operator
    # issue 1623; docs.nvidia.com, “NVIDIA GPU Operator with Google GKE”: the operator supports its
    # driver manager only on Ubuntu.
    image_titles = {IMAGE: "Container-Optimized OS", "COS": "Container-Optimized OS"}
    images_without_operator_driver = (IMAGE, "COS")
    driver_source = (
        "docs.cloud.google.com/kubernetes-engine/docs/how-to/set-up-dra: no time-sharing, MIG, or "
        "MPS"
    )
    critical_pods_need_quota = True
    dated_facts = ("zones",)
    fact_sources = ("gcp", "gke")

    provider = "pulumi:providers:gcp"
    cluster = pulumi_resources.CLUSTER
    pool = pulumi_resources.POOL

    # GKE guide, "Node taints": managed components
    tolerated_by_system = ("CriticalAddonsOnly", "components.gke.io/gke-managed-components")
    node_network = pulumi_resources.NODE_NETWORK
    # GKE guide, "Harden workload isolation with GKE Sandbox"
    runtime_classes = ("gvisor",)
    identity = pulumi_resources.IDENTITY
    federated_accounts = pulumi_resources.FEDERATED_ACCOUNTS

    volume_drivers = pulumi_resources.VOLUME_DRIVERS
    default_storage_class = "standard-rwo"
    disk_keys = pulumi_resources.DISK_KEYS

    def labels(self, nodes: NodeOrigin) -> tuple[NodeLabel, ...]:
        """Return the labels of a pool. The last labels tell GKE which drivers the nodes have.

        Sources: docs.cloud.google.com/kubernetes-engine/docs/how-to/set-up-dra and
        …/allocate-network-resources-dra.
        """
        labels = super().labels(nodes)
        # GKE's plugin reads its own settings, not the labels of NVIDIA's chart
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
        if has_tpus(nodes.machine):
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
                    "GKE's DRANET doesn't publish network interfaces on these nodes",
                ),
            )
        return labels

    def added_labels(self, nodes: NodeOrigin) -> dict[str, str]:
        labels = dict[str, str]()  # Pulumi adds a suffix to the name gke-nodepool
        if nodes.capacity == "spot":
            labels["cloud.google.com/gke-spot"] = "true"
        accelerator = nodes.machine.accelerator if nodes.machine and nodes.has_gpus else None
        if accelerator is not None and accelerator.gke_type is not None:
            labels |= {
                self.accelerator_label: accelerator.gke_type,
                "cloud.google.com/gke-gpu": "true",
            }
        return labels | (plugin_labels(nodes.plugin) if nodes.plugin is not None else {})

    possible_taints = (ARM_TAINT, QUEUED_TAINT, TPU_TAINT)
    # docs.cloud.google.com/kubernetes-engine/docs/how-to/gpus (“Run GPUs in Standard node pools”)
    taints_new_gpu_pools = True

    def added_taints(self, nodes: NodeOrigin) -> tuple[Taint, ...]:
        """Return the taints of Arm nodes, and of nodes for ProvisioningRequests.

        Sources:
        docs.cloud.google.com/kubernetes-engine/docs/how-to/prepare-arm-workloads-for-deployment;
        …/docs/how-to/provisioningrequest.
        """
        taints: tuple[Taint, ...] = (
            (ARM_TAINT,) if nodes.machine and nodes.machine.arch == "arm64" else ()
        )
        taints += (TPU_TAINT,) if has_tpus(nodes.machine) else ()
        return (*taints, QUEUED_TAINT) if nodes.capacity == "queued" else taints

    def image_labels(self, machine: Machine) -> dict[str, str]:
        return {
            "cloud.google.com/machine-family": machine.family,
            "cloud.google.com/gke-os-distribution": "cos",
            "cloud.google.com/gke-container-runtime": "containerd",
        }

    def boot_disk_types(self, instance_type: str) -> tuple[str, ...]:
        return boot_disks(instance_type)

    def attaches_disk(self, instance_type: str, disk_type: str) -> bool:
        return attaches_volume(instance_type, disk_type)

    def local_disks_fault(self, instance_type: str, count: int) -> str:
        bundled = bundled_ssds(instance_type)
        return "" if count == bundled else local_ssds_fault(instance_type, count)

    def count_step(self, zones: int, *, autoscaled: bool) -> CountStep:
        if autoscaled or zones < 2:
            return CountStep()
        reason = (
            "without an autoscaler, GKE creates the same number of nodes in each of the "
            f"pool's {zones} zones"
        )
        return CountStep(nodes=zones, reason=reason, fix="set only one zone for the pool")

    def reservation_fault(self, reservation: str) -> RejectedValue | None:
        if "/reservationBlocks/" in reservation and not reservation.startswith("projects/"):
            return RejectedValue(
                f"the path \"{reservation}\" doesn't include the project, so GKE can't find the "
                "reservation block (404)",
                "use the full path: projects/PROJECT/reservations/NAME/reservationBlocks/BLOCK",
            )
        return super().reservation_fault(reservation)

    def capacity_assumptions(self, kind: str) -> tuple[str, ...]:
        if kind not in LENT:
            return ()
        when = (
            "when capacity is available"
            if kind == "flex-start"
            else "only for pods that belong to a ProvisioningRequest (which Kueue creates)"
        )
        return (f"GKE starts its nodes {when}, and removes each node after at most seven days",)

    def pool_faults(self, pool: PoolSettings) -> Iterator[Fault]:
        yield from super().pool_faults(pool)
        if pool.capacity.kind in LENT:
            kind = pool.capacity.kind
            if pool.autoscaler != "gke":
                yield "capacity", f"{kind} nodes need an autoscaler; set autoscaler to gke"
            if pool.min_nodes:
                yield (
                    "count",
                    (
                        f"GKE creates {kind} nodes only for pending pods, so the pool can't have a "
                        "minimum; set count.min to 0"
                    ),
                )
        if pool.machine is not None and not pool.is_served and attachment(pool.machine) is None:
            yield "machine", f"{pool.machine.name} doesn't have an NVIDIA GPU; {GPU_EXAMPLE}"
        if pool.machine is not None and pool.local_ssds is not None:
            fault = local_ssds_fault(pool.machine.instance_type, pool.local_ssds)
            yield from [("localSsds", fault)] if fault else []

    def subnet_addresses(self, machine: Machine, settings: AllocatableSettings, pods: int) -> int:
        return 1

    def pod_range_addresses(self, settings: AllocatableSettings) -> int:
        return addresses_of_node(settings)

    def allocatable(
        self, machine: Machine, vcpus: int, memory_mib: int, settings: AllocatableSettings
    ) -> Allocatable:
        return allocatable_resources(machine, vcpus, memory_mib, settings)


CLOUD = Gke()
