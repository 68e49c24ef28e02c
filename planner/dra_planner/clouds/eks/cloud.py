"""Amazon EKS with managed node groups."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dra_planner.catalog import Machine
from dra_planner.clouds.eks import pod_identities, pulumi_resources
from dra_planner.clouds.eks.addresses import MOST_PODS, subnet_addresses_of_node
from dra_planner.clouds.eks.allocatable import (
    allocatable_resources,
    own_disks_gib,
)
from dra_planner.clouds.eks.bottlerocket import BOTTLEROCKET_REFUSAL, is_on, read_settings
from dra_planner.clouds.eks.capacity import CAPACITY_TYPES, KARPENTER, KARPENTER_CAPACITY_TYPES
from dra_planner.clouds.eks.image_parameters import image_of_parameter
from dra_planner.clouds.eks.network_interfaces import interface_faults
from dra_planner.clouds.protocol.allocatable import (
    Allocatable,
    AllocatableSettings,
    NodeImage,
)
from dra_planner.clouds.protocol.cloud import Cloud
from dra_planner.clouds.protocol.labels import NodeOrigin
from dra_planner.clouds.protocol.setting_faults import private_network_fault
from dra_planner.clouds.protocol.settings import WHOLE, ClusterSettings, Fault, PoolSettings
from dra_planner.errors import RejectedValue

ZONE_LETTERS = "abcdefg"  # letters at the end of a zone's name; no region has a letter after f


class Eks(Cloud):
    """Managed node groups with Amazon Linux 2023 images, which contain the NVIDIA driver but not a
    device plugin.
    """

    name = "eks"

    region_setting = "aws:region"
    sdk_extra = "aws"
    region_pattern = r"[a-z]+(-[a-z]+)+-\d+"
    region_example = "us-east-1"
    # The name of a Local Zone contains a city after the region: us-east-1-dfw-2a (AWS Local Zones
    # user guide).
    zone_pattern = rf"(?P<region>[a-z]+(?:-[a-z]+)+-\d+)(?P<city>-[a-z]{{3}}-\d)?[{ZONE_LETTERS}]"
    zone_suffixes = tuple(ZONE_LETTERS)
    zone_counts = range(2, 7)  # the control plane needs at least two zones

    # Cluster Autoscaler doesn't predict the devices of a node that doesn't exist yet, so it never
    # scales up an empty pool for a claim:
    # kubernetes/autoscaler:cluster-autoscaler/cloudprovider/aws (TemplateNodeInfo without slices).
    # Karpenter keeps static pools (spec.replicas) at their count, regardless of pods. Up to 1.14,
    # it ignores pods with claims
    # (aws/karpenter-provider-aws:website/content/en/docs/concepts/nodepools.md@1d927085).
    autoscalers = {"none": False, "cluster-autoscaler": False, KARPENTER: False}
    keep_counts = frozenset({KARPENTER})

    # "unsupported Kubernetes version": finos/compliant-financial-infrastructure issue 228
    version_pattern = r"1\.\d+"

    refused = {
        "localSsds": (
            "applies only to GKE; on EKS, set localStorage to use the machine's local disks"
        )
    }

    capacities = {
        "on-demand": "on-demand",
        "spot": "spot",
        "reservation": "a reservation",
        "capacity-block": "a capacity block",
    }
    spot = (("capacityType", "SPOT"),)
    reservation_pattern = "cr-[0-9a-f]+"
    reservation_meaning = "the ID of a reservation (format: cr-…)"
    pods_of_a_node = range(1, MOST_PODS + 1)
    system_machine = "m7i.large"
    gpu_images = {"amd64": "AL2023_x86_64_NVIDIA", "arm64": "AL2023_ARM_64_NVIDIA"}
    system_images = {"amd64": "AL2023_x86_64_STANDARD", "arm64": "AL2023_ARM_64_STANDARD"}
    # AMITypes in botocore's model of EKS (boto/botocore:botocore/data/eks/2017-11-01@0e6e2404)
    images_without_driver = (
        "AL2023_x86_64_STANDARD",
        "AL2023_ARM_64_STANDARD",
        "AL2023_x86_64_NEURON",
        "AL2_x86_64",
        "AL2_ARM_64",
        "BOTTLEROCKET_x86_64",
        "BOTTLEROCKET_ARM_64",
        "BOTTLEROCKET_x86_64_FIPS",
        "BOTTLEROCKET_ARM_64_FIPS",
        "WINDOWS_CORE_2019_x86_64",
        "WINDOWS_FULL_2019_x86_64",
        "WINDOWS_CORE_2022_x86_64",
        "WINDOWS_FULL_2022_x86_64",
        "WINDOWS_CORE_2025_x86_64",
        "WINDOWS_FULL_2025_x86_64",
    )
    images_with_device_plugin = ("BOTTLEROCKET_x86_64_NVIDIA", "BOTTLEROCKET_ARM_64_NVIDIA")
    # Amazon EKS user guide, platform versions: admission controllers
    tolerates_extended_resources = True

    # CreateNodegroup: keys of labels and taints have 1 to 63 characters, their domain included;
    # "Label cannot contain reserved prefixes [kubernetes.io/, k8s.io/, eks.amazonaws.com/]"
    # (aws/containers-roadmap, botocore's model).
    longest_key = 63
    takes_empty_label_values = False  # aws-controllers-k8s/community issue 2208
    reserved_domains = ("eks.amazonaws.com",)
    taint_effects = ("NO_SCHEDULE", "NO_EXECUTE", "PREFER_NO_SCHEDULE")
    addon_token = "aws:eks/addon:Addon"
    serverless_token = "aws:eks/fargateProfile:FargateProfile"
    commands = ("eksctl", "aws eks")
    unknown_labels = (
        "eks.amazonaws.com/",
        "k8s.io/cloud-provider-aws",
        "topology.k8s.aws/",
        "topology.ebs.csi.aws.com/",
    )
    pool_label = "eks.amazonaws.com/nodegroup"
    karpenter = "karpenter.k8s.aws"
    node_class = pulumi_resources.NODE_CLASS

    driver_root = "/"
    own_driver = "Bottlerocket's own DRA driver"
    dated_facts = ("eks-image", "eks-driver-units")
    fact_sources = ("aws", "eks")

    provider = "pulumi:providers:aws"
    cluster = pulumi_resources.CLUSTER
    pool = pulumi_resources.POOL

    node_network = pulumi_resources.NODE_NETWORK
    identity = pulumi_resources.IDENTITY
    node_admission = pulumi_resources.NODE_ADMISSION
    pod_identity = pod_identities.POD_IDENTITY
    federated_accounts = pod_identities.FEDERATED_ACCOUNTS
    addon_accounts = pod_identities.ADDON_ACCOUNTS
    volume_drivers = pulumi_resources.VOLUME_DRIVERS
    # Amazon EKS user guide, "Kubernetes versions", 1.30, stored copy read 2026-11-27: new clusters
    # no longer mark gp2 as the default
    default_storage_class = ""
    disk_keys = pulumi_resources.DISK_KEYS

    def added_labels(self, nodes: NodeOrigin) -> dict[str, str]:
        if nodes.autoscaler != KARPENTER:
            return {"eks.amazonaws.com/capacityType": CAPACITY_TYPES[nodes.capacity]}
        return {
            "karpenter.sh/nodepool": nodes.name,
            "karpenter.sh/capacity-type": KARPENTER_CAPACITY_TYPES[nodes.capacity],
            f"{self.karpenter}/ec2nodeclass": nodes.name,
        }

    def keeps_device_plugin(self, image: str, boot_script: str) -> bool | None:
        """Return whether Bottlerocket's settings leave its device plugin on, which is the default.

        Source: bottlerocket-os/bottlerocket-core-kit pull requests 914 and 1035.
        """
        settings = read_settings(boot_script)
        return None if settings is None else is_on(settings, "kubelet-device-plugins", default=True)

    def own_dra_driver(
        self, pool: Mapping[str, Any], image: str = "", boot_script: str = ""
    ) -> str:
        """Return Bottlerocket's setting for its DRA driver, or "".

        The driver runs if the setting is on, and the device plugin is off. Source:
        bottlerocket-os/bottlerocket-core-kit pull request 1035.
        """
        settings = (
            read_settings(boot_script) if image.startswith(self.images_with_device_plugin) else None
        )
        if settings is None or is_on(settings, "kubelet-device-plugins", default=True):
            return ""
        return (
            "settings.kubelet-dra-drivers.nvidia.enabled"
            if is_on(settings, "kubelet-dra-drivers")
            else ""
        )

    def interface_faults(
        self, interfaces: Sequence[Mapping[str, object]], machine: Machine | None
    ) -> Iterator[RejectedValue]:
        return interface_faults(interfaces, machine)

    def knows_network_interfaces(self, machine: Machine) -> bool:
        return machine.efa_interfaces is not None

    def subnet_addresses(
        self, machine: Machine, settings: AllocatableSettings, pods: int
    ) -> int | None:
        return subnet_addresses_of_node(machine, settings, pods)

    def pod_range_addresses(self, settings: AllocatableSettings) -> int:
        return 0

    def address_fault(self, cidr: str) -> str:
        """Return why EKS rejects a network ("The following CIDRs are invalid in
        publicAccessCidrs").

        Source: EKS user guide, “Cluster API server endpoint”: IPv4 clusters (which this project
        always creates) don't accept IPv6 networks.
        """
        if ":" in cidr:
            return (
                f"\"{cidr}\" isn't an IPv4 network, and IPv4 clusters on EKS don't accept "
                "IPv6 networks"
            )
        return private_network_fault(cidr)

    def cluster_faults(self, cluster: ClusterSettings) -> Iterator[Fault]:
        yield from super().cluster_faults(cluster)
        if len(cluster.subnet_ids) == 1:
            yield (
                "network.subnetIds",
                "must contain at least two subnets, because EKS needs two zones",
            )

    def pool_faults(self, pool: PoolSettings) -> Iterator[Fault]:
        yield from super().pool_faults(pool)
        if pool.autoscaler == KARPENTER and len(pool.zones) != 1:
            yield (
                "zones",
                "must contain only one zone, because Karpenter launches each node in the cheapest "
                "zone instead of spreading nodes; use one pool per zone",
            )
        if (
            "localStorage" in pool.set_keys
            and pool.machine is not None
            and not own_disks_gib(pool.machine)
        ):
            yield "localStorage", f"{pool.machine.name} doesn't have known local disks"

        if pool.image is not None:
            yield from (
                (f"image.{key}", fault) for key, fault in self.image_faults(pool.image, pool.mig)
            )

    def is_local_zone(self, zone: str) -> bool:
        """Return True for a Local Zone, which supports nodes, but not control planes or NAT
        gateways.

        Source: Amazon EKS user guide, “Launch low-latency EKS clusters with AWS Local Zones”.
        """
        found = re.fullmatch(self.zone_pattern, zone)
        return bool(found and found["city"])

    def family_fault(self, family: str) -> str:
        """Return why nodes can't boot images of a family, or "".

        The family "" means a custom image.
        """
        if family == "al2023":
            return ""
        if not family:
            return "is required; set it to al2023, the EKS image on which the image is based"
        return (
            BOTTLEROCKET_REFUSAL if family == "bottlerocket" else f'must be al2023, not "{family}"'
        )

    def image_faults(self, image: NodeImage, mig: str = "none") -> Iterator[Fault]:
        """Yield the problems of a custom image, each with its key (id, family, or driverRoot) and a
        sentence.
        """
        if image.id and (fault := self.image_id_fault(image.id)):
            yield "id", fault
        if fault := self.family_fault(image.family):
            yield "family", fault
        if image.driver_root and (fault := self.driver_root_fault(image.driver_root, mig)):
            yield "driverRoot", fault

    def image_id_fault(self, identifier: str) -> str:
        """Return why a value isn't an image ID, or ""."""
        known = re.fullmatch(r"ami-([0-9a-f]{8}|[0-9a-f]{17})", identifier)
        return (
            ""
            if known
            else f'"{identifier}" isn\'t a valid image ID (example: ami-0123456789abcdef0)'
        )

    def image_of_parameter(self, name: str) -> str | None:
        return image_of_parameter(name)

    def driver_root_fault(self, folder: str, mig: str = "none") -> str:
        """Return why the NVIDIA driver of an image can't be in a folder, or ""."""
        if not re.fullmatch(r"/[^\s]*", folder):
            return f'"{folder}" isn\'t an absolute path'
        if mig not in WHOLE and folder != self.driver_root:
            return (
                f"must be {self.driver_root} if mig is set, not {folder}, because the image's "
                "nvidia-smi creates the MIG devices before a node joins"
            )
        return ""

    def allocatable(
        self, machine: Machine, vcpus: int, memory_mib: int, settings: AllocatableSettings
    ) -> Allocatable:
        return allocatable_resources(machine, vcpus, memory_mib, settings)


CLOUD = Eks()
