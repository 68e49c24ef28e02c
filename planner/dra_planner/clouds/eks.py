"""Amazon EKS with managed node groups."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from dra_planner.catalog import Machine
from dra_planner.clouds.protocol.allocatable import (
    EVICTION_MIB,
    MIB,
    Allocatable,
    AllocatableSettings,
    NodeImage,
    disk_bytes,
    reserved_cpu_milli,
)
from dra_planner.clouds.protocol.cloud import WHOLE, Cloud, ClusterSettings, Fault, PoolSettings
from dra_planner.clouds.protocol.identities import GrantResource, IdentityResource, NodeAdmission
from dra_planner.clouds.protocol.labels import NodeOrigin
from dra_planner.clouds.protocol.node_networks import (
    AddressRanges,
    NodeNetwork,
    PublicEndpoint,
    SecurityGroups,
)
from dra_planner.clouds.protocol.resources import (
    BoughtCapacity,
    ClusterAddons,
    ClusterResource,
    CountLimits,
    FastNetwork,
    KarpenterNodeClass,
    MachineTemplate,
    PoolResource,
    SpreadGroup,
    SurgeSetting,
)
from dra_planner.clouds.protocol.setting_faults import private_network_fault
from dra_planner.clouds.protocol.storage import DiskKeys, VolumeDriver
from dra_planner.errors import CatalogError

IMAGE_MIB = 128  # cautious: the file system of a node with 80 GiB is 12 MiB smaller
MOST_PODS = 250
_PREFIX = 16  # addresses: prefixes of interfaces are /28
BOTTLEROCKET_REFUSAL = (
    "Bottlerocket isn't supported here, because its nodes read TOML settings at boot instead "
    "of nodeadm's. Its NVIDIA images run a device plugin unless "
    "kubelet-device-plugins.nvidia.enabled is false, and since September 2026 they have their "
    "own DRA driver; use al2023"
)
ZONE_LETTERS = "abcdefg"  # at the end of a zone's name; no region has gone beyond f
CAPACITY_TYPES = {
    "on-demand": "ON_DEMAND",
    "spot": "SPOT",
    "reservation": "ON_DEMAND",
    "capacity-block": "CAPACITY_BLOCK",
}
KARPENTER = "karpenter"
KARPENTER_CAPACITY_TYPES = {
    "on-demand": "on-demand",
    "spot": "spot",
    "reservation": "reserved",
    "capacity-block": "reserved",
}
"""aws/karpenter-provider-aws:website/content/en/docs/tasks/odcrs.md@1d927085: Capacity Blocks are
reserved too.
"""
_DEFAULTS = AllocatableSettings()


class Eks(Cloud):
    """Managed node groups of Amazon Linux 2023 images, which bring the NVIDIA driver and no device
    plugin.
    """

    name = "eks"

    region_setting = "aws:region"
    sdk_extra = "aws"
    region_pattern = r"[a-z]+(-[a-z]+)+-\d+"
    region_example = "us-east-1"
    # A Local Zone has a city after its region: us-east-1-dfw-2a (AWS Local Zones user guide).
    zone_pattern = rf"(?P<region>[a-z]+(?:-[a-z]+)+-\d+)(?P<city>-[a-z]{{3}}-\d)?[{ZONE_LETTERS}]"
    zone_suffixes = tuple(ZONE_LETTERS)
    zone_counts = range(2, 7)  # the control plane is in two zones at least

    # It does not predict the devices of a node that does not exist yet, so an empty pool is never
    # scaled up for a claim: kubernetes/autoscaler:cluster-autoscaler/cloudprovider/aws
    # (TemplateNodeInfo without slices). Karpenter keeps static pools (spec.replicas) at their count
    # and looks at no pod for them; pods with claims it ignores up to 1.14
    # (aws/karpenter-provider-aws:website/content/en/docs/concepts/nodepools.md@1d927085).
    autoscalers = {"none": False, "cluster-autoscaler": False, KARPENTER: False}
    keep_counts = frozenset({KARPENTER})

    # "unsupported Kubernetes version": finos/compliant-financial-infrastructure issue 228
    version_pattern = r"1\.\d+"

    refused = {
        "localSsds": "is only for GKE; on EKS, localStorage sets the use of the machine's local disks"
    }

    capacities = {
        "on-demand": "on-demand",
        "spot": "spot",
        "reservation": "a reservation",
        "capacity-block": "a capacity block",
    }
    spot = (("capacityType", "SPOT"),)
    reservation_pattern = "cr-[0-9a-f]+"
    reservation_meaning = "the id of a reservation (cr-…)"
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
    )
    images_with_device_plugin = ("BOTTLEROCKET_",)
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
    # aws/karpenter-provider-aws:website/content/en/docs/concepts/nodeclasses.md and
    # …/tasks/odcrs.md@1d927085
    node_class = KarpenterNodeClass(
        kind="EC2NodeClass",
        images="spec.amiSelectorTerms",
        family="spec.amiFamily",
        families=(("al2023", "AL2023_"), ("al2", "AL2_"), ("bottlerocket", "BOTTLEROCKET_")),
        boot_script="spec.userData",
        reservations="spec.capacityReservationSelectorTerms",
        reserved="reserved",
        reservation="aws:ec2/capacityReservation:CapacityReservation",
        reservation_machine="instanceType",
        bought=(
            "aws:ec2/capacityReservation:CapacityReservation",
            "aws:ec2/capacityBlockReservation:CapacityBlockReservation",
        ),
        targeted=("instanceMatchCriteria", "targeted"),
    )

    driver_root = "/"
    own_driver = "Bottlerocket's own DRA driver"
    dated_facts = ("eks-image", "eks-driver-units")
    fact_sources = ("aws", "eks")

    provider = "pulumi:providers:aws"
    cluster = ClusterResource(
        token="aws:eks/cluster:Cluster",
        version="version",
        region="region",
        own_nodes=(("computeConfig.enabled", "true"),),
        # docs.aws.amazon.com/eks/latest/APIReference/API_CreateCluster.html
        # (bootstrapSelfManagedAddons)
        addons=ClusterAddons(
            by_default="bootstrapSelfManagedAddons",
            managed="computeConfig.enabled",
            token="aws:eks/addon:Addon",
            name="addonName",
            needed={
                "vpc-cni": "its nodes never become ready",
                "coredns": "its pods can't resolve names",
            },
            settings="configurationValues",
            network_policies='"enableNetworkPolicy":"true"',
            replacements={"vpc-cni": ("cilium", "calico", "tigera", "antrea", "weave", "cni")},
        ),
    )
    pool = PoolResource(
        token="aws:eks/nodeGroup:NodeGroup",
        kind="node group",
        machine="instanceTypes",
        template=MachineTemplate(
            property="launchTemplate",
            token="aws:ec2/launchTemplate:LaunchTemplate",
            machine="instanceType",
            boot_script="userData",
            # EKS API reference, CreateNodegroup; EKS user guide, "Customize managed nodes with
            # launch templates"; terraform-aws-eks issues 1386 and 3459; rancher/eks-operator
            # issue 185
            image="imageId",
            custom_image="CUSTOM",
            instead=("diskSize", "remoteAccess"),
            not_in_pools=(("iamInstanceProfile", "nodeRoleArn"),),
            is_merged=True,
            disks="blockDeviceMappings",
            disk_name="deviceName",
            # Bottlerocket's containers are on its second disk
            root=(("AL2", "/dev/xvda"), ("BOTTLEROCKET_", "/dev/xvdb")),
            # EC2 user guide, "Placement strategies": seven instances in each zone
            spread=SpreadGroup(
                token="aws:ec2/placementGroup:PlacementGroup",
                used_by="placement",
                most_per_zone=7,
            ),
        ),
        labels="labels",
        taints="taints",
        image="amiType",
        version="version",
        release="releaseVersion",
        desired=("scalingConfig.desiredSize",),
        limits=(CountLimits(minimum="scalingConfig.minSize", maximum="scalingConfig.maxSize"),),
        cluster="clusterName",
        # docs.aws.amazon.com/eks/latest/userguide/capacity-blocks-mng.html
        bought=BoughtCapacity(
            marks=(("capacityType", "CAPACITY_BLOCK"),),
            template_marks=(("capacityReservationSpecification.capacityReservationTarget", ""),),
            tokens=(
                "aws:ec2/capacityReservation:CapacityReservation",
                "aws:ec2/capacityBlockReservation:CapacityBlockReservation",
            ),
            zone="availabilityZone",
            machine=("aws:ec2/capacityReservation:CapacityReservation", "instanceType"),
            template_name="capacityReservationSpecification.capacityReservationTarget.capacityReservationId",
            placement=("placementGroup",),  # of an Auto Scaling group
            template_placement=(
                "placement.groupName",
                "placement.groupId",
                "spec.placementGroupSelector",  # of Karpenter's node class
            ),
            own_placement="placementGroupArn",
            surge=SurgeSetting(
                setting="updateConfig.updateStrategy",
                default="DEFAULT",
                starts_none=("MINIMAL",),
                fix='set updateConfig.updateStrategy to "MINIMAL"',
            ),
        ),
        fast_network=FastNetwork(
            interfaces="networkInterfaces",
            kind=("interfaceType", "efa"),
            fix="add networkInterfaces with interfaceType efa to the launch template, one for each "
            "network card",
        ),
    )

    node_network = NodeNetwork(
        # The provider removes the egress rule that EC2 adds to new groups
        # (hashicorp/terraform-provider-aws:website/docs/r/security_group.html.markdown).
        groups=SecurityGroups(
            token="aws:ec2/securityGroup:SecurityGroup",
            egress="egress",
            used_by=("vpcSecurityGroupIds", "networkInterfaces"),
            interface_groups="securityGroups",
            rules=(
                ("aws:ec2/securityGroupRule:SecurityGroupRule", "type", "ingress"),
                ("aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule", "type", "ingress"),
            ),
            rule_group="securityGroupId",
        ),
        # EKS API reference, KubernetesNetworkConfigRequest; VPC user guide, "Subnet sizing"
        addresses=AddressRanges(
            of_cluster=(("kubernetesNetworkConfig.serviceIpv4Cidr", "services", ""),),
            token="aws:ec2/subnet:Subnet",
            used_by=("subnetIds", "vpcConfig"),
            ranges=("cidrBlock",),
            zone="availabilityZone",
            network="vpcId",
            network_token="aws:ec2/vpc:Vpc",
            network_ranges="cidrBlock",
            kept=5,
        ),
        # Amazon EKS user guide, “Cluster API server endpoint”
        endpoint=PublicEndpoint(
            private="vpcConfig.endpointPrivateAccess",
            allowed="vpcConfig.publicAccessCidrs",
            addresses=("aws:ec2/eip:Eip", "aws:ec2/natGateway:NatGateway"),
            fix="set vpcConfig.endpointPrivateAccess to true",
        ),
    )
    identity = IdentityResource(
        token="aws:iam/role:Role",
        kind="role",
        name="name",
        rights=("managedPolicyArns", "inlinePolicies"),
        trust="assumeRolePolicy",
        policy=("aws:iam/policy:Policy", "policy"),
        grants=(
            GrantResource(
                token="aws:iam/rolePolicyAttachment:RolePolicyAttachment",
                identity="role",
                rights="policyArn",
            ),
            GrantResource(
                token="aws:iam/policyAttachment:PolicyAttachment",
                identity="roles",
                rights="policyArn",
            ),
            GrantResource(
                token="aws:iam/rolePolicyAttachmentsExclusive:RolePolicyAttachmentsExclusive",
                identity="roleName",
                rights="policyArns",
            ),
            GrantResource(token="aws:iam/rolePolicy:RolePolicy", identity="role", rights="policy"),
        ),
        everything=("AdministratorAccess", "PowerUserAccess"),
        of_cloud="aws:policy/",
    )
    # Amazon EKS user guide, "Create access entries": node groups get theirs by themselves
    node_admission = NodeAdmission(
        token="aws:eks/accessEntry:AccessEntry",
        kind="type",
        kinds=("EC2_LINUX", "EC2"),
        required=("accessConfig.authenticationMode", "API"),
        groups="aws:autoscaling/group:Group",
        tag="kubernetes.io/cluster/",
    )
    # awsdocs/amazon-eks-user-guide:latest/ug/storage/{ebs,efs,fsx,s3}-csi.adoc, listed @26befcc
    volume_drivers = (
        VolumeDriver(provisioner="ebs.csi.aws.com", classes=("gp2",), addon="aws-ebs-csi-driver"),
        VolumeDriver(provisioner="kubernetes.io/aws-ebs", addon="aws-ebs-csi-driver"),
        VolumeDriver(provisioner="efs.csi.aws.com", addon="aws-efs-csi-driver"),
        VolumeDriver(provisioner="fsx.csi.aws.com", addon="aws-fsx-csi-driver"),
        VolumeDriver(provisioner="s3.csi.aws.com", addon="aws-mountpoint-s3-csi-driver"),
        VolumeDriver(
            provisioner="ebs.csi.eks.amazonaws.com",
            switch=("storageConfig.blockStorage.enabled", True, False),
        ),
    )
    # Amazon EC2 Auto Scaling user guide, "Required AWS KMS key policy for use with encrypted
    # volumes"
    disk_keys = DiskKeys(
        used_by=(("aws:ec2/launchTemplate:LaunchTemplate", "blockDeviceMappings"),),
        tokens=("aws:kms/key:Key",),
        grants=(("aws:kms/grant:Grant", "keyId"), ("aws:kms/keyPolicy:KeyPolicy", "keyId")),
        policy=("policy", "AWSServiceRoleForAutoScaling"),
        identity="Auto Scaling's service-linked role",
        fix="allow AWSServiceRoleForAutoScaling to use the key and create grants in its policy",
    )

    def added_labels(self, nodes: NodeOrigin) -> dict[str, str]:
        if nodes.autoscaler != KARPENTER:
            return {"eks.amazonaws.com/capacityType": CAPACITY_TYPES[nodes.capacity]}
        return {
            "karpenter.sh/nodepool": nodes.name,
            "karpenter.sh/capacity-type": KARPENTER_CAPACITY_TYPES[nodes.capacity],
            f"{self.karpenter}/ec2nodeclass": nodes.name,
        }

    def keeps_device_plugin(self, image: str, boot_script: str) -> bool | None:
        """Return whether Bottlerocket's settings leave its device plugin on, which they do by
        default.

        Source: bottlerocket-os/bottlerocket-core-kit pull requests 914 and 1035.
        """
        settings = _bottlerocket(boot_script)
        return (
            None if settings is None else _is_on(settings, "kubelet-device-plugins", default=True)
        )

    def own_dra_driver(
        self, pool: Mapping[str, Any], image: str = "", boot_script: str = ""
    ) -> str:
        """Return Bottlerocket's setting: its driver runs if it's on and the device plugin is off.

        Source: bottlerocket-os/bottlerocket-core-kit pull request 1035.
        """
        settings = (
            _bottlerocket(boot_script) if image.startswith(self.images_with_device_plugin) else None
        )
        if settings is None or _is_on(settings, "kubelet-device-plugins", default=True):
            return ""
        return (
            "settings.kubelet-dra-drivers.nvidia.enabled"
            if _is_on(settings, "kubelet-dra-drivers")
            else ""
        )

    def knows_network_interfaces(self, machine: Machine) -> bool:
        return machine.efa_interfaces is not None

    def subnet_addresses(
        self, machine: Machine, settings: AllocatableSettings, pods: int
    ) -> int | None:
        """Return what the VPC CNI takes by default: whole interfaces, or prefixes of 16, and one of
        them to spare.

        Sources: aws/amazon-vpc-cni-k8s:docs/eni-and-ip-target.md@0f77b52 (WARM_ENI_TARGET 1) and
        docs/prefix-and-ip-target.md@0259085 (WARM_PREFIX_TARGET 1, which the components set).
        """
        interfaces, each = machine.default_card_enis, machine.ipv4_per_eni
        if interfaces is None or each is None:
            return None
        slots = each - 1  # an interface has an address of its own
        if settings.prefix_delegation:
            prefixes = min(interfaces * slots, -(-pods // _PREFIX) + 1)
            return -(-prefixes // slots) + prefixes * _PREFIX
        return each * (min(interfaces, -(-pods // slots) + 1) if pods else 1)

    def pod_range_addresses(self, settings: AllocatableSettings) -> int:
        return 0

    def address_fault(self, cidr: str) -> str:
        """Return why EKS takes no such network ("The following CIDRs are invalid in
        publicAccessCidrs").

        Source: EKS user guide, “Cluster API server endpoint”: no IPv6 for a cluster of IPv4, which
        all of ours are.
        """
        if ":" in cidr:
            return f'"{cidr}" isn\'t an IPv4 network, which an IPv4 cluster on EKS requires'
        return private_network_fault(cidr)

    def cluster_faults(self, cluster: ClusterSettings) -> Iterator[Fault]:
        yield from super().cluster_faults(cluster)
        if len(cluster.subnet_ids) == 1:
            yield "network.subnetIds", "must name at least two subnets, because EKS needs two zones"

    def pool_faults(self, pool: PoolSettings) -> Iterator[Fault]:
        yield from super().pool_faults(pool)
        if pool.autoscaler == KARPENTER and len(pool.zones) != 1:
            yield (
                "zones",
                "must name one zone with autoscaler karpenter, which starts each node in the "
                "cheapest zone instead of spreading nodes; write a pool for each zone",
            )
        if "localStorage" in pool.asked and pool.machine is not None and not _own_gib(pool.machine):
            yield "localStorage", f"{pool.machine.name} has no known local disks"

        if pool.image is not None:
            yield from (
                (f"image.{key}", fault) for key, fault in self.image_faults(pool.image, pool.mig)
            )

    def is_local_zone(self, zone: str) -> bool:
        """Return True for a Local Zone, which holds nodes but neither control planes nor NAT
        gateways.

        Source: Amazon EKS user guide, “Launch low-latency EKS clusters with AWS Local Zones”.
        """
        found = re.fullmatch(self.zone_pattern, zone)
        return bool(found and found["city"])

    def family_fault(self, family: str) -> str:
        """Return why nodes can't boot images of a family, or "". "" as a family means a custom
        image.
        """
        if family == "al2023":
            return ""
        if not family:
            return "is missing: name the EKS image that it is based on, al2023"
        return (
            BOTTLEROCKET_REFUSAL if family == "bottlerocket" else f'must be al2023, not "{family}"'
        )

    def image_faults(self, image: NodeImage, mig: str = "none") -> Iterator[Fault]:
        """Yield faults of a custom image: the key (id, family, or driverRoot), and the sentence."""
        if image.id and (fault := self.image_id_fault(image.id)):
            yield "id", fault
        if fault := self.family_fault(image.family):
            yield "family", fault
        if image.driver_root and (fault := self.driver_root_fault(image.driver_root, mig)):
            yield "driverRoot", fault

    def image_id_fault(self, identifier: str) -> str:
        """Return why something is not the id of an image, or ""."""
        known = re.fullmatch(r"ami-([0-9a-f]{8}|[0-9a-f]{17})", identifier)
        return "" if known else f'"{identifier}" is not the id of an image (ami-0123456789abcdef0)'

    def driver_root_fault(self, folder: str, mig: str = "none") -> str:
        """Return why the NVIDIA driver of an image cannot be in a folder, or ""."""
        if not re.fullmatch(r"/[^\s]*", folder):
            return f'"{folder}" is not an absolute path'
        if mig not in WHOLE and folder != self.driver_root:
            return (
                f"{folder} can't be used with a MIG configuration, which the image's "
                f"nvidia-smi creates before a node joins: it must be {self.driver_root}"
            )
        return ""

    def allocatable(
        self, machine: Machine, vcpus: int, memory_mib: int, settings: AllocatableSettings
    ) -> Allocatable:
        """Return what nodeadm leaves.

        Sources: awslabs/amazon-eks-ami:nodeadm/internal/kubelet/{config,eni_max_pods}.go@81fec2e;
        aws/karpenter-provider-aws:pkg/providers/instancetype/types.go@1d92708 (what kernel and
        hypervisor keep).
        """
        pods, pods_sentence = max_pods(machine, settings)
        kept = -(-memory_mib * 75 // 1000) + (64 if machine.arch == "arm64" else 0)
        # nodeadm reserves by the maxPods that it works out itself, even where kubelet's
        # configuration sets another (of an image of one's own without EKS' cap, which is EKS' to
        # tell nodes)
        uncapped = settings.self_managed or settings.image is not None
        usual, _ = max_pods(machine, replace(settings, max_pods=None, self_managed=uncapped))
        kube_reserved = 11 * max(pods, usual) + 255
        spared = kept + 11 * abs(pods - usual)
        amounts = {
            "cpu": vcpus * 1000 - reserved_cpu_milli(vcpus),
            "memory": (memory_mib - kept - kube_reserved - EVICTION_MIB) * MIB,
            "pods": pods,
        }
        least, most = disk_bytes(settings, IMAGE_MIB, 1024), disk_bytes(settings, 0, 1024)
        storage = f"ephemeral storage is a root volume of {settings.disk_gib} GiB"
        if settings.local_storage == "raid0" and (own_gib := _own_gib(machine)):
            own = replace(settings, disk_gib=own_gib)
            # Cautious: how much the file system keeps for itself is published for no machine.
            least, most = disk_bytes(own, own_gib * 1024 // 50, 1024), disk_bytes(own, 0, 1024)
            storage = (
                f"ephemeral storage is one file system on the machine's local disks, {own_gib} GiB"
            )
        return Allocatable(
            {**amounts, "ephemeral-storage": least},
            {**amounts, "memory": amounts["memory"] + spared * MIB, "ephemeral-storage": most},
            (
                f"{_runs(settings.image)}; the kernel and hypervisor use 7.5 % of the memory "
                "(Karpenter's estimate, cautious for large machine types)",
                pods_sentence,
                storage,
            ),
        )


def max_pods(machine: Machine, settings: AllocatableSettings = _DEFAULTS) -> tuple[int, str]:
    """Return kubelet's maxPods, and the sentence that says why; the EKS user guide has the cap of
    managed node groups.

    Raises CatalogError for a setting that a managed node group refuses, or that leaves pods without
    addresses.
    """
    name = machine.name
    cap = 110 if (machine.vcpus or 0) < 30 else MOST_PODS
    by_interfaces = _addresses(machine, settings)
    how = "with" if settings.prefix_delegation else "without"
    if settings.max_pods is not None:
        if settings.max_pods > cap and not settings.self_managed:
            raise CatalogError(
                f"{name}: EKS managed node groups allow such a node at most {cap} pods, not "
                f"{settings.max_pods}",
                fix=f"set maxPods to {cap} or less",
            )
        if by_interfaces is not None and settings.max_pods > by_interfaces:
            other = "" if settings.prefix_delegation else ", or set network.prefixDelegation"
            raise CatalogError(
                f"{name} has addresses for {by_interfaces} pods {how} prefix delegation, not for "
                f"{settings.max_pods}",
                fix=f"set maxPods to {by_interfaces} or less{other}",
            )
        return settings.max_pods, f"{name}: {settings.max_pods} pods, as set"
    if by_interfaces is None:
        return 110, f"{name}: 110 pods, because its network interfaces are unknown"
    if by_interfaces <= cap or settings.self_managed:
        return (
            by_interfaces,
            f"{name}: {by_interfaces} pods (network interface limit, {how} prefix delegation)",
        )
    return cap, f"{name}: {cap} pods, the limit of EKS managed node groups"


def _runs(image: NodeImage | None) -> str:
    """Return which image nodes run, and what follows for what kubelet reserves."""
    if image is None:
        return "EKS nodes run the AL2023 NVIDIA image with nodeadm's reservations"
    return (
        f"nodes run the image {image.id}, which is assumed to match the fleet's Kubernetes "
        "version and the machine's processor, with root device /dev/xvda and the reservations "
        "of EKS' AL2023 NVIDIA image; it "
        + (
            f"has the NVIDIA driver in {image.driver_root}"
            if image.driver_root
            else "may have the NVIDIA driver"
        )
    )


def _bottlerocket(boot_script: str) -> Mapping[str, Any] | None:
    """Return Bottlerocket's settings at boot, None if the text has none that can be read."""
    try:
        found = tomllib.loads(boot_script).get("settings", {})
    except tomllib.TOMLDecodeError:
        return None
    return found if isinstance(found, dict) else None


def _is_on(settings: Mapping[str, Any], group: str, *, default: bool = False) -> bool:
    nvidia = (settings.get(group) or {}).get("nvidia") or {}
    return nvidia.get("enabled", default) in (True, "true")


def _own_gib(machine: Machine) -> int:
    """Return how much a machine's own disks hold, 0 where it has none that are known."""
    return (machine.local_disks or 0) * (machine.local_disk_gb or 0) * 10**9 // 2**30


def _addresses(machine: Machine, settings: AllocatableSettings) -> int | None:
    """Return how many pods the interfaces of the default card have addresses for, host-network pods
    included.
    """
    if machine.default_card_enis is None or machine.ipv4_per_eni is None:
        return None
    each = (machine.ipv4_per_eni - 1) * (_PREFIX if settings.prefix_delegation else 1)
    return machine.default_card_enis * each + 2


CLOUD = Eks()
