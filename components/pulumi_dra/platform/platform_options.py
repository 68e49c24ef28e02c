"""What DraPlatform takes beside the fleet; `make docs` writes this of the components' inputs."""

# No `from __future__ import annotations` here: Pulumi's schema analyzer reads the annotations.
from typing import NotRequired, TypedDict

import pulumi

from pulumi_dra.dra.nvidia.driver_inputs import WebhookTls
from pulumi_dra.dra.releases.driver_tolerations import DriverToleration
from pulumi_dra.inputs.access_entry import AccessEntry
from pulumi_dra.inputs.maintenance import MaintenanceExclusion, MaintenanceWindow
from pulumi_dra.inputs.node_repair import NodeRepairLimits


class ClusterOptions(TypedDict):
    """What a fleet does not say about a cluster."""

    cluster_name: NotRequired[str]
    """AKS: Name of the cluster. Default: one that Pulumi makes. EKS: Name of the cluster. Default: one that Pulumi
    makes, so that a replacement can stand beside the old cluster, and a log group that EKS makes and keeps. With a name
    of one's own that group is declared too: it ends what it keeps and goes after the cluster. GKE: Name of the cluster;
    of one that is taken over, the one it has. Default: one that Pulumi makes, so that a replacement can stand beside
    the old cluster."""
    service_cidr: NotRequired[str]
    """AKS: Range of the services; another one replaces the cluster. Default AKS's own, 10.0.0.0/16, which the network
    of an existing subnet must not overlap. EKS: Range of the services, a /12 to a /24, beside those of the network;
    another one replaces the cluster. Default EKS' own: 10.100.0.0/16 or 172.20.0.0/16. GKE: Range of the services in a
    new network. Default 10.8.0.0/20."""
    grant_key_use: NotRequired[bool]
    """AKS: With secrets_kms_key or disk_encryption_set_id: whether the cluster's identity is given the role Key Vault
    Crypto User on the vault, and Reader on the set. False where it has them, or where access policies rule the vault.
    Default true. EKS: With disk_kms_key: whether EC2 Auto Scaling, which starts the nodes, is granted the use of the
    key. False where the policy of the key does. Default true. GKE: With either key: whether Google's service agents are
    given the role on it that they need, which stays when the cluster goes. False where they have it. Default true."""
    pods_cidr: NotRequired[str]
    """AKS: Range of the pods, a /24 for each node; another one replaces the cluster. Default AKS's own, 10.244.0.0/16.
    GKE: Range of the pods in a new network, of which each node gets a /24. Default 10.4.0.0/14: 1024 nodes."""
    maintenance_start: NotRequired[str]
    """AKS: When it begins, in UTC (03:00, the default); it takes four hours. GKE: Start of the daily maintenance window
    of four hours, in UTC. Default: 03:00."""
    log_retention_days: NotRequired[int]
    """AKS: How many days a new workspace keeps logs, 30 to 730. Default 90. EKS: With cluster_name: how many days the
    control plane's logs are kept. Default 365."""
    disk_kms_key: NotRequired[pulumi.Input[str]]
    """EKS: Key that encrypts the root volumes of system nodes; the account must have had an Auto Scaling group, whose
    service-linked role uses the key. Default: the account's key for EBS. GKE: Cloud KMS key that encrypts the boot
    disks of system nodes. Default: Google's own key."""
    storage_drivers: NotRequired[list[str]]
    """EKS: Add-ons that make and mount volumes: ebs, efs, fsx, each with a role of its own. Their pods run on GPU nodes
    too: a fleet names them in daemonPods. Default none. GKE: Drivers that GKE runs beside that of Persistent Disk and
    Hyperdisk, which is always there: filestore, gcs-fuse, lustre. Default none."""
    resource_group_name: NotRequired[pulumi.Input[str]]
    """AKS: Existing resource group. Default: a new one."""
    dns_prefix: NotRequired[str]
    """AKS: How the API server's name begins; another one replaces the cluster. Default: made of the component's
    name."""
    node_resource_group: NotRequired[str]
    """AKS: Name of the resource group that AKS makes for nodes; another one replaces the cluster. Default: made of the
    names of group and component."""
    keep_pools: NotRequired[bool]
    """AKS: With cluster_name: whether the cluster is taken over, so that its pools, and whatever else it has that is
    not an input here, stay as they are, and the system nodes become a pool of their own beside them. Default false."""
    identity_id: NotRequired[pulumi.Input[str]]
    """AKS: Existing identity of the cluster, with identity_principal_id; it has the role Network Contributor on the
    subnet. Default: a new one, which is given that role."""
    identity_principal_id: NotRequired[pulumi.Input[str]]
    """AKS: Principal of identity_id."""
    outbound_type: NotRequired[str]
    """AKS: With subnet_id: how nodes go out, loadBalancer (default, Azure's), userAssignedNATGateway,
    userDefinedRouting or none; another one replaces the cluster. A new network has a NAT gateway."""
    admin_group_object_ids: NotRequired[list[str]]
    """AKS: Groups in Entra ID that administer the cluster. Default: who first creates it, alone."""
    deployer_type: NotRequired[str]
    """AKS: Without groups: what first creates the cluster is in Entra ID, User (default) or ServicePrincipal."""
    kubelogin: NotRequired[str]
    """AKS: How the kubeconfig gets a token from Entra ID: azurecli (default), devicecode, interactive, msi, spn or
    workloadidentity."""
    upgrade_channel: NotRequired[str]
    """AKS: What AKS upgrades by itself: patch (default), node-image or none. Never the minor, on which plans depend."""
    node_os_channel: NotRequired[str]
    """AKS: Automatic upgrades of node images: SecurityPatch (default), which keeps the GPU driver of the image,
    NodeImage, which brings a new image and driver every week, Unmanaged, or None. With upgrade_channel node-image:
    NodeImage."""
    autoscaler_profile: NotRequired[dict[str, pulumi.Input[str]]]
    """AKS: Settings of the cluster autoscaler, such as expander or scale-down-unneeded-time. Default: Azure's own."""
    maintenance_day: NotRequired[str]
    """AKS: Day of the week on which AKS upgrades. Default Sunday."""
    secrets_key_vault_id: NotRequired[pulumi.Input[str]]
    """AKS: Id of the vault of secrets_kms_key, which roles are given on; needed unless grant_key_use is false."""
    disk_encryption_set_id: NotRequired[pulumi.Input[str]]
    """AKS: Id of a disk encryption set with a key of one's own, in the cluster's region, for the disks of nodes and
    volumes; another one replaces the cluster. Default: Azure's own key."""
    encryption_at_host: NotRequired[bool]
    """AKS: Whether the hosts of system nodes encrypt disks and caches, for which the subscription needs the feature
    Microsoft.Compute/EncryptionAtHost. Default true."""
    log_workspace_id: NotRequired[pulumi.Input[str]]
    """AKS: Existing Log Analytics workspace for audit logs and Defender. Default: a new one."""
    defender: NotRequired[bool]
    """AKS: Whether Microsoft Defender watches the nodes; it costs by core. Default true."""
    cluster_role_arn: NotRequired[pulumi.Input[str]]
    """EKS: Role of the control plane, which a cluster that is taken over keeps: another would replace it. Default: a
    new one."""
    vpc_cidr: NotRequired[str]
    """EKS: Address range of a new network, a /16 to a /20. Default 10.0.0.0/16."""
    single_nat_gateway: NotRequired[bool]
    """EKS: One NAT gateway for all zones of a new network instead of one in each. Default false."""
    nat_gateways: NotRequired[bool]
    """EKS: Whether nodes of a new network have a way to the internet. False: AWS is reached by `interface_endpoints`
    alone, and every image must come from a registry that nodes reach (ECR). Default true."""
    interface_endpoints: NotRequired[list[str]]
    """EKS: AWS services that get an endpoint in a new network, by the last part of their names (ssm, sqs, autoscaling).
    Without NAT gateways those that EKS nodes need come by themselves. Default none."""
    access_entries: NotRequired[list[AccessEntry]]
    """EKS: Who else may use the cluster: IAM roles or users with one of EKS' policies, in namespaces or everywhere, or
    with groups that RBAC names. Default none."""
    control_plane_tier: NotRequired[str]
    """EKS: Size of the control plane that is always there: standard (default), tier-xl, tier-2xl, tier-4xl or tier-8xl,
    at a price of its own."""
    kubeconfig_role_arn: NotRequired[pulumi.Input[str]]
    """EKS: IAM role that the kubeconfig takes. Default: the one that the default provider assumes (aws:assumeRoles);
    with a provider of one's own none."""
    kubeconfig_profile: NotRequired[str]
    """EKS: Profile of the AWS CLI that the kubeconfig names. Default: that of the default provider (aws:profile)."""
    addon_settings: NotRequired[dict[str, str]]
    """EKS: Settings of the same add-ons as JSON, by name: coredns: '{"replicaCount": 3}'. EKS has a schema for each
    (`aws eks describe-addon-configuration`). What network_policy and prefix_delegation say stays. Default none."""
    network_policy: NotRequired[bool]
    """EKS: Whether the VPC CNI enforces NetworkPolicy. Default true."""
    node_monitoring: NotRequired[bool]
    """EKS: Whether the add-on eks-node-monitoring-agent tells broken GPUs, which pools with node_repair are repaired
    by. Its pods run on GPU nodes too: a fleet names them in daemonPods. Default: where a pool has node_repair."""
    metrics_server: NotRequired[bool]
    """EKS: Whether the add-on metrics-server answers `kubectl top` and HorizontalPodAutoscalers. Default false."""
    permissions_boundary_arn: NotRequired[pulumi.Input[str]]
    """EKS: Policy that bounds every role that is made, where an account has roles made with one alone. Default none."""
    node_policy_arns: NotRequired[list[pulumi.Input[str]]]
    """EKS: Further policies of the nodes' role, beside the two that a node needs: AmazonSSMManagedInstanceCore for a
    way in by Session Manager. Default none."""
    subnet_tags: NotRequired[dict[str, pulumi.Input[str]]]
    """EKS: Further tags on the private subnets of a new network, by which other tools find them
    (karpenter.sh/discovery). Default none."""
    support_type: NotRequired[str]
    """EKS: What happens at the end of a version's standard support: EXTENDED (a higher price for a year) or STANDARD
    (EKS upgrades the cluster). Default: EKS', which is EXTENDED."""
    zonal_shift: NotRequired[bool]
    """EKS: Whether traffic may be shifted away from a zone that fails, by hand or by AWS; node repair stops meanwhile.
    Default false."""
    dns_endpoint: NotRequired[bool]
    """GKE: Whether the API server is reached by its DNS name from outside the network too: IAM decides (permission
    container.clusters.connect), no network does, and the kubeconfig names it. Default false."""
    global_access: NotRequired[bool]
    """GKE: Whether the private endpoint is reached from other regions of the network too. Default false."""
    release_channel: NotRequired[str]
    """GKE: Release channel: RAPID, REGULAR (default), STABLE or EXTENDED; or none, for a version that stays as it is
    pinned and for pools with auto_upgrade false, which channels do not allow."""
    maintenance_exclusions: NotRequired[list[MaintenanceExclusion]]
    """GKE: Times in which GKE upgrades nothing, for GPU pools that are busy or on a reservation."""
    maintenance_window: NotRequired[MaintenanceWindow]
    """GKE: The same by rules: weekends, or the first days of a month. Default: every day, by maintenance_start."""
    control_plane_logs: NotRequired[list[str]]
    """GKE: Control plane components whose logs GKE collects: APISERVER, SCHEDULER, CONTROLLER_MANAGER. Default:
    SCHEDULER, which explains pending claims."""
    imported: NotRequired[bool]
    """GKE: Set to true if the cluster was imported, so its first pool stays as it is. Default: false."""
    node_local_dns: NotRequired[bool]
    """GKE: Whether every node has a cache of the name service. Its pods run on GPU nodes too: a fleet names them in
    daemonPods. Another value makes the nodes anew. Default false."""
    cloud_dns: NotRequired[bool]
    """GKE: Whether Cloud DNS answers names of the cluster's services, instead of kube-dns in it. Default false."""
    monitoring_components: NotRequired[list[str]]
    """GKE: Whose metrics GKE collects beside the system's: POD, KUBELET, DCGM, JOBSET and others of its API. DCGM is
    GKE's own exporter; Google describes it for drivers that GKE installs. Default none."""
    nodes_cidr: NotRequired[str]
    """GKE: Range of the nodes in a new network. Default 10.0.0.0/20: 4092 nodes."""
    network_id: NotRequired[pulumi.Input[str]]
    """GKE: Existing network; with subnetwork_id, pods_range_name and services_range_name. No network is made then."""
    subnetwork_id: NotRequired[pulumi.Input[str]]
    """GKE: Existing subnet."""
    pods_range_name: NotRequired[pulumi.Input[str]]
    """GKE: Name of the subnet's secondary range for pods."""
    services_range_name: NotRequired[pulumi.Input[str]]
    """GKE: Name of the subnet's secondary range for services."""
    security_group: NotRequired[str]
    """GKE: Google group whose members and subgroups RBAC may name (gke-security-groups@example.com); or none, so that
    it is on record that roles are bound to single accounts. Needed there."""


class PoolOptions(TypedDict):
    """What a fleet does not say about a pool."""

    name: str
    """Which pool of the fleet."""
    cpu_manager_policy: NotRequired[str]
    """AKS: Kubelet CPU manager policy: none or static. Fixed when the pool is created. Default: Azure's own, none. EKS:
    static: Guaranteed pods with whole CPUs have them for themselves; or none (default). Another one on a node that runs
    needs a new node, which the launch template sees to. GKE: static: Guaranteed pods with whole CPUs have them for
    themselves; or none (default). Another one makes nodes anew, as an upgrade does."""
    topology_manager_policy: NotRequired[str]
    """AKS: Kubelet topology manager policy: none or best-effort. Fixed when the pool is created. Default: none. EKS and
    GKE: With static CPUs: best-effort, those of one NUMA node where it can be; or none (default). Stricter ones let
    kubelet turn down pods that were placed."""
    labels: NotRequired[dict[str, pulumi.Input[str]]]
    """Further labels of the nodes."""
    max_unavailable: NotRequired[int]
    """AKS and GKE: How many nodes an upgrade takes away at once. Default 1; 0 with max_surge. EKS: How many nodes an
    update replaces at once, 1 to 100. Default 1."""
    sysctls: NotRequired[dict[str, str]]
    """AKS: Kernel parameters, such as net.core.somaxconn. Fixed when the pool is created. Default: Azure's own. GKE:
    Parameters of the kernel that GKE lets be set (net.core.somaxconn: "2048"). Others make nodes anew, as an upgrade
    does. Default: GKE's."""
    max_surge: NotRequired[int]
    """AKS and GKE: How many nodes more than the pool has an upgrade may start. Default 0, for a full pool has no
    room."""
    disk_iops: NotRequired[int]
    """EKS: Operations of the root volume in a second, 3000 to 80000, 500 for each GiB at most. Default 3000. GKE:
    Operations of a boot disk in a second, where that is hyperdisk-balanced: 3000 to 160000, 500 for each GiB at most.
    Default: Google's, by size."""
    disk_throughput: NotRequired[int]
    """EKS: Throughput of the root volume in MiB a second, 125 to 2000, 1 for each 4 operations at most. Default 125.
    GKE: Throughput of the same in MiB a second, 140 to 2400: an operation for each 4 to 256 KiB. Default: Google's."""
    disk_kms_key: NotRequired[pulumi.Input[str]]
    """EKS: Key that encrypts the root volume. Default: the account's key for EBS. GKE: Cloud KMS key that encrypts the
    boot disk. Default: Google's own key."""
    grant_key_use: NotRequired[bool]
    """EKS: With disk_kms_key: whether EC2 Auto Scaling, which starts the nodes, is granted the use of the key. False
    where the policy of the key does. Default true. GKE: With disk_kms_key: whether Compute Engine's service agent is
    given the role on it that it needs, which stays when the pool goes. False where it has it. Default true."""
    grant_reservation_use: NotRequired[bool]
    """AKS: With reservation_group_id: whether the cluster's identity is given the role Contributor on the group, which
    it needs. False where it has it. Default true."""
    image: NotRequired[str]
    """AKS: Node image: Ubuntu (default) or AzureLinux. Both bring the GPU driver."""
    snapshot_id: NotRequired[pulumi.Input[str]]
    """AKS: Node pool snapshot whose node image the pool starts with, which pins the image and its GPU driver. Default:
    the newest image when the pool is created."""
    pod_max_pids: NotRequired[int]
    """AKS: Maximum number of processes in a pod. Fixed when the pool is created. Default: Azure's own."""
    os_disk_type: NotRequired[str]
    """AKS: OS disk: Managed (default), or Ephemeral on the machine's own cache or temporary disk."""
    kubelet_disk_type: NotRequired[str]
    """AKS: Disk for images, logs, and emptyDir volumes: OS or Temporary (the machine's own NVMe or SSD). Default:
    OS."""
    fips: NotRequired[bool]
    """AKS: Enable FIPS 140-2 images. Fixed when the pool is created. Default: false."""
    pod_subnet_id: NotRequired[pulumi.Input[str]]
    """AKS: Subnet of the pods, for clusters with Azure CNI Pod Subnet. Default: pods use the overlay network."""
    node_soak_minutes: NotRequired[int]
    """AKS: Minutes that an upgrade waits after each new node, 0 to 30. Default: 0."""
    encryption_at_host: NotRequired[bool]
    """AKS: Whether the host encrypts disks and caches, for which the subscription needs the feature
    Microsoft.Compute/EncryptionAtHost. Default true."""
    drain_timeout_minutes: NotRequired[int]
    """AKS: How long an upgrade waits for the pods of a node. Default 30."""
    release_version: NotRequired[str]
    """EKS: Release of the image, 1.34.2-20260115, of the nodes' Kubernetes version: change both together. A later one
    rolls the nodes; there is no way back. Default: the newest one when the pool is made or its version changes."""
    efa: NotRequired[bool]
    """EKS: Whether every network card carries EFA. Default: where the fleet has DRANET and the machine has EFA."""
    security_group_ids: NotRequired[list[pulumi.Input[str]]]
    """EKS: Further security groups of the nodes; with them cluster_security_group_id, which EKS then adds no longer."""
    boot_script: NotRequired[str]
    """EKS: Shell script, "#!/bin/bash" first, that runs on the first boot of each machine before it joins: proxies,
    certificates, mirrors of registries. It is in the launch template, so no place for secrets; another one rolls the
    nodes. Default none."""
    placement_group: NotRequired[bool]
    """EKS: Whether nodes are placed close together, which needs subnets of one zone. Default false."""
    update_strategy: NotRequired[str]
    """EKS: How nodes are replaced in an update: MINIMAL (default), old ones first, for a full pool has no room; or
    DEFAULT, new ones first, which needs machines to be had."""
    force_update: NotRequired[bool]
    """EKS: Whether an update goes on when a disruption budget keeps a pod on its node for 15 minutes. Default false."""
    node_repair: NotRequired[bool]
    """EKS: Whether EKS replaces or reboots nodes that are broken; that a GPU is, the cluster tells with
    node_monitoring. Default false."""
    repair_limits: NotRequired[NodeRepairLimits]
    """EKS: With node_repair: when EKS stops repairing, and what it does about single faults. Default: as EKS does."""
    location_policy: NotRequired[str]
    """GKE: How the autoscaler spreads nodes over zones: ANY (default, takes GPUs where there are some) or BALANCED.
    Flex-start and queued capacity need ANY."""
    max_run_seconds: NotRequired[int]
    """GKE: How long a flex-start node may run, up to seven days."""
    compact_placement: NotRequired[bool]
    """GKE: Whether nodes are placed close together, in one zone. Default false."""
    placement_policy: NotRequired[str]
    """GKE: Name of a resource policy of one's own, in the project and region, that places the nodes close together, in
    one zone: for a topology of a4x, or for several pools. Default: with compact_placement one that GKE makes."""
    host_maintenance: NotRequired[str]
    """GKE: When the hosts of the nodes are maintained: PERIODIC, in one window of some hours a month, or AS_NEEDED.
    Another one replaces the pool. Default: what Compute Engine has for the machine."""
    secure_boot: NotRequired[bool]
    """GKE: Whether nodes boot only signed code. Default true; the preloaded driver of Container-Optimized OS is signed,
    a driver of one's own may not be."""
    disk_type: NotRequired[str]
    """GKE: Type of the boot disk: pd-balanced, pd-ssd, pd-standard or hyperdisk-balanced, as the machine takes it.
    Default the balanced one of the machine's family: Hyperdisk where it takes no Persistent Disk (a3-ultragpu, a4, a4x,
    g4)."""
    auto_upgrade: NotRequired[bool]
    """GKE: Whether GKE upgrades the nodes. Default true, and false only in a cluster without a release channel; GPU
    nodes that are busy or on a reservation may want maintenance exclusions of the cluster instead."""
    node_version: NotRequired[str]
    """GKE: Version of the nodes, 1.35.1-gke.1616000 for example; with auto_upgrade false, where nobody else moves them
    on. A later one upgrades them as max_surge and max_unavailable say. Default: the control plane's when the pool is
    made."""
    image_streaming: NotRequired[bool]
    """GKE: Whether containers start while their images are still read from Artifact Registry. Default false."""


class DriverOptions(TypedDict):
    """What a fleet does not say about the DRA driver."""

    namespace: NotRequired[str]
    """Namespace to make for the driver. Default nvidia-dra-driver."""
    driver_root: NotRequired[str]
    """Folder of the NVIDIA driver on the nodes. Default: where the platform has it."""
    crd_manifests: NotRequired[str]
    """The chart's CustomResourceDefinitions, text of the files in its folder crds. Helm installs them with the first
    release and never again: give them where ComputeDomains are used and the driver was or will be upgraded."""
    network_policy: NotRequired[bool]
    """Whether the driver's pods get the chart's network policies; 25.12 and later. Default true where the chart has
    them."""
    webhook: NotRequired[bool]
    """Whether a webhook validates opaque configuration when a claim is created; needs cert-manager. Default false."""
    webhook_failure_policy: NotRequired[str]
    """What happens to claims while the webhook is down: Fail (default) or Ignore."""
    webhook_replicas: NotRequired[int]
    """Pods of the webhook. Default 1."""
    webhook_tls: NotRequired[WebhookTls]
    """Certificate of the webhook. Default: one that cert-manager signs itself."""
    own_slices_only: NotRequired[bool]
    """Whether an admission policy keeps each of the driver's pods to the ResourceSlices of its own node. Default
    true."""
    image_repository: NotRequired[str]
    """Image to run instead of the chart's, without a tag: a mirror."""
    image_digest: NotRequired[str]
    """Digest that pins the image (sha256:…)."""
    image_pull_secrets: NotRequired[list[str]]
    """Secrets in the driver's namespace to pull the image with."""
    priority_class: NotRequired[str]
    """Priority class of the driver's pods. Default system-node-critical."""
    tolerations: NotRequired[list[DriverToleration]]
    """Further taints of the nodes that the plugin tolerates, beside nvidia.com/gpu."""
    chart: NotRequired[str]
    """Chart to install instead of the published one: a path, an archive or an oci:// address."""
    keep_old_names: NotRequired[bool]
    """0.4 and later: whether objects are named as in 25.x, so that an upgrade across the chart's renaming updates the
    plugin in place. False gives the chart's new names; changing it replaces the release, the old one first. Default
    true."""
