"""The Pulumi resources of GKE: clusters, pools, networks, identities, and volumes."""

from __future__ import annotations

from dra_planner.catalog import Machine
from dra_planner.clouds.gke.labels import NETWORK_DRIVER, SANDBOX_TAINT
from dra_planner.clouds.protocol.identities import (
    FederatedAccounts,
    GrantResource,
    IdentityResource,
)
from dra_planner.clouds.protocol.maintenance import MaintenanceLimits
from dra_planner.clouds.protocol.node_networks import (
    AddressRanges,
    Gateway,
    NetworkFirewall,
    NodeNetwork,
    OwnDefaultRoute,
    WebhookPorts,
)
from dra_planner.clouds.protocol.resources import (
    AttachedGpus,
    BoughtCapacity,
    ClusterResource,
    CountLimits,
    FastNetwork,
    NamedPodRange,
    PoolResource,
    SurgeSetting,
)
from dra_planner.clouds.protocol.storage import DiskKeys, VolumeDriver

IMAGE = "COS_CONTAINERD"


def _networks_of(machine: Machine) -> str:
    if machine.rdma_networks:
        return f"{machine.rdma_networks} RDMA interfaces"
    if machine.additional_networks:
        return f"{machine.additional_networks} interfaces for {machine.network_performance}"
    return ""


CLUSTER = ClusterResource(
    token="gcp:container/cluster:Cluster",
    version="minMasterVersion",
    region="location",
    zones="nodeLocations",
    pools="nodePools",
    # hashicorp/terraform-provider-google:website/docs/r/container_cluster.html.markdown (node_pool)
    inner_pools=(
        0,
        "Adding, removing, or changing a pool in this list replaces the whole cluster",
    ),
    version_is_floor=True,
    dataplane=("datapathProvider", "ADVANCED_DATAPATH"),
    dataplane_default="LEGACY_DATAPATH",
    managed="enableAutopilot",
    network_policies=(
        ("datapathProvider", "ADVANCED_DATAPATH"),
        ("networkPolicy.enabled", "true"),
    ),
    pod_range="ipAllocationPolicy.clusterIpv4CidrBlock",
    # docs.cloud.google.com/kubernetes-engine/docs/how-to/flexible-pod-cidr
    named_pod_range=NamedPodRange(
        of_cluster="ipAllocationPolicy.clusterSecondaryRangeName",
        of_pool="networkConfig.podRange",
        ranges="secondaryIpRanges",
        name="rangeName",
        addresses="ipCidrRange",
        more="ipAllocationPolicy.additionalPodRangesConfig",
    ),
    max_pods="defaultMaxPodsPerNode",
    first_pool="removeDefaultNodePool",
    first_pool_settings=("nodeConfig", "initialNodeCount"),
    # GKE guide, "Use node auto-provisioning": limits count nodes of all pools
    autoscaler_limits=("clusterAutoscaling.resourceLimits", "resourceType", "maximum"),
    # docs.cloud.google.com/kubernetes-engine: "Configure maintenance windows and exclusions" (92
    # days, blocks of 4 hours), and release notes of June 2026 (90 days); read 2026-11-29
    maintenance=MaintenanceLimits(
        window="maintenancePolicy.recurringWindow",
        hours=48,
        days=92,
        block=4,
        exclusions="maintenancePolicy.maintenanceExclusions",
        scope="exclusionOptions.scope",
        longest={"NO_UPGRADES": 90},
    ),
    own_nodes=(("enableAutopilot", "true"), ("clusterAutoscaling.enabled", "true")),
)
POOL = PoolResource(
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
    aliases=(
        ("nodeConfig.bootDisk.diskType", "nodeConfig.diskType"),
        ("nodeConfig.bootDisk.sizeGb", "nodeConfig.diskSizeGb"),
    ),
    local_disks=(
        "nodeConfig.localSsdCount",
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
        machine=(
            "gcp:compute/reservation:Reservation",
            "specificReservation.instanceProperties.machineType",
        ),
        size="specificReservation.count",
        by_name="specificReservationRequired",
        names="nodeConfig.reservationAffinity.values",
        surge=SurgeSetting(
            setting="upgradeSettings.maxSurge",
            default="1",
            starts_none=("0",),
            fix="set upgradeSettings.maxSurge to 0 and maxUnavailable to 1",
            strategy=("upgradeSettings.strategy", "SURGE"),
        ),
    ),
    # hashicorp/terraform-provider-google:website/docs/r/container_node_pool.html.markdown
    fixed_count="nodeCount",
    # docs.cloud.google.com/kubernetes-engine/docs/how-to/timesharing-gpus
    one_unit=(
        "nodeConfig.guestAccelerators",
        "gpuSharingConfig.gpuSharingStrategy",
        "TIME_SHARING",
    ),
    shared_gpus=("nodeConfig.guestAccelerators", ("gpuSharingConfig", "gpuPartitionSize")),
    # GKE guide, "Harden workload isolation with GKE Sandbox"
    tainting=tuple(
        (f"nodeConfig.sandboxConfig.{key}", "gvisor", SANDBOX_TAINT)
        for key in ("sandboxType", "type")
    ),
    # GKE guide, "Node upgrade strategies": 20 nodes at a time
    upgrade_sum=(("upgradeSettings.maxSurge", "upgradeSettings.maxUnavailable"), 20),
    network_profile="networkConfig.acceleratorNetworkProfile",
    fast_network=FastNetwork(
        of_machine=_networks_of,
        settings=(
            "networkConfig.acceleratorNetworkProfile",
            "networkConfig.additionalNodeNetworkConfigs",
        ),
        networks="networkConfig.additionalNodeNetworkConfigs",
        fix='either set networkConfig.acceleratorNetworkProfile to "auto" and add the node label '
        f"{NETWORK_DRIVER}=true, or set networkConfig.additionalNodeNetworkConfigs",
    ),
    # GoogleCloudPlatform/cluster-toolkit:examples/gke-a4x@10470803: one policy for each domain
    nvlink_placement="placementPolicy.policyName",
)
NODE_NETWORK = NodeNetwork(
    # VPC guide, "Subnets": unusable addresses
    addresses=AddressRanges(
        of_cluster=(
            ("ipAllocationPolicy.clusterIpv4CidrBlock", "pod", ""),
            ("ipAllocationPolicy.servicesIpv4CidrBlock", "service", ""),
            ("privateClusterConfig.masterIpv4CidrBlock", "control plane", ""),
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
        private_pool="networkConfig.enablePrivateNodes",
        network="network",
        network_token="gcp:compute/network:Network",
        token="gcp:compute/routerNat:RouterNat",
        mirror="pkg.dev",
        title="Cloud NAT",
        fix="declare a RouterNat in the network, or copy the images to Artifact Registry",
        listed=("sourceSubnetworkIpRangesToNat", "LIST_OF_SUBNETWORKS", "subnetworks"),
        subnet="subnetwork",
        # GKE guide, "Creating a private cluster" (subnets with Private Google Access)
        private_access=("privateIpGoogleAccess", "Private Google Access"),
    ),
    # hashicorp/terraform-provider-google:website/docs/r/compute_network.html.markdown
    # (delete_default_routes_on_create)
    # docs.cloud.google.com/kubernetes-engine/docs/how-to/private-clusters (add firewall rules)
    webhook_ports=WebhookPorts(
        private="privateClusterConfig.enablePrivateNodes",
        open=(443, 10250),
        firewall="gcp:compute/firewall:Firewall",
        allowed="allows",
    ),
    own_default_route=OwnDefaultRoute(
        used_by="network",
        deleted="deleteDefaultRoutesOnCreate",
        route="gcp:compute/route:Route",
        destination="destRange",
    ),
    # GKE guide, "Automatically created firewall rules": nodes need outbound traffic to the control
    # plane; VPC guide, "VPC firewall rules": the implied egress rule has the lowest priority
    firewall=NetworkFirewall(
        token="gcp:compute/firewall:Firewall",
        network="network",
        direction=("direction", "EGRESS"),
        denied="denies",
        allowed="allows",
        destinations="destinationRanges",
        priority=("priority", 1000),
        is_off="disabled",
        targets=("targetTags", "targetServiceAccounts"),
        tags="nodeConfig.tags",
    ),
)
IDENTITY = IdentityResource(
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
    names={
        "container.defaultNodeServiceAccount": "roles/container.defaultNodeServiceAccount",
        "artifactregistry.reader": "roles/artifactregistry.reader",
    },
)
# GKE guide, "Authenticate to Google Cloud APIs from GKE workloads", and errors in
# terraform-google-modules/terraform-google-kubernetes-engine issue 916 (no pool)
FEDERATED_ACCOUNTS = FederatedAccounts(
    token="gcp:serviceaccount/iAMMember:IAMMember",
    kind="IAM member",
    subject="member",
    pattern=r"\.svc\.id\.goog\[(?P<namespace>[^/\]]+)/(?P<name>[^/\]]+)\]",
    identity="serviceAccountId",
    annotation="iam.gke.io/gcp-service-account",
    grants=(
        "gcp:serviceaccount/iAMMember:IAMMember",
        "gcp:serviceaccount/iAMBinding:IAMBinding",
        "gcp:serviceaccount/iAMPolicy:IAMPolicy",
    ),
    pool=("workloadIdentityConfig", ".svc.id.goog"),
)
# GKE guides, "Using the Compute Engine persistent disk CSI driver" and "Access Filestore
# instances with the Filestore CSI driver"
VOLUME_DRIVERS = (
    VolumeDriver(
        provisioner="pd.csi.storage.gke.io",
        zone_key="topology.gke.io/zone",
        classes=("standard-rwo", "premium-rwo", "standard"),
        immediate=("standard",),
        # GKE guide, "Using the Compute Engine persistent disk CSI driver"
        disk_type="type",
        disk_types={
            "standard-rwo": "pd-balanced",
            "premium-rwo": "pd-ssd",
            "standard": "pd-standard",
        },
        switch=(
            "addonsConfig.gcePersistentDiskCsiDriverConfig.enabled",
            True,
            True,
        ),
    ),
    VolumeDriver(
        provisioner="filestore.csi.storage.gke.io",
        zonal=False,
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
        zonal=False,
        switch=("addonsConfig.gcsFuseCsiDriverConfig.enabled", True, False),
    ),
    # docs.cloud.google.com/secret-manager/docs/secret-manager-managed-csi-component
    VolumeDriver(
        provisioner="secrets-store-gke.csi.k8s.io",
        zonal=False,
        switch=("secretManagerConfig.enabled", True, False),
    ),
    VolumeDriver(
        provisioner="secrets-store.csi.k8s.io", zonal=False, addon="secrets-store-csi-driver"
    ),
)
# GKE guide, "Use customer-managed encryption keys": the Compute Engine service agent
DISK_KEYS = DiskKeys(
    used_by=(
        ("gcp:container/nodePool:NodePool", "nodeConfig.bootDiskKmsKey"),
        (
            "gcp:container/cluster:Cluster",
            "clusterAutoscaling.autoProvisioningDefaults.bootDiskKmsKey",
        ),
    ),
    tokens=("gcp:kms/cryptoKey:CryptoKey",),
    grants=(
        ("gcp:kms/cryptoKeyIAMMember:CryptoKeyIAMMember", "cryptoKeyId"),
        ("gcp:kms/cryptoKeyIAMBinding:CryptoKeyIAMBinding", "cryptoKeyId"),
        ("gcp:kms/keyRingIAMMember:KeyRingIAMMember", "keyRingId"),
        ("gcp:kms/keyRingIAMBinding:KeyRingIAMBinding", "keyRingId"),
    ),
    grantees=("member", "members"),
    policy=("", "@compute-system."),
    identity="the Compute Engine service agent",
    fix="grant the service agent roles/cloudkms.cryptoKeyEncrypterDecrypter on the key",
)
