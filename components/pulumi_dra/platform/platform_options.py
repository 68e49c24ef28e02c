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
    """Cluster options that aren't part of the fleet."""

    cluster_name: NotRequired[str]
    """AKS: Name of the cluster. Default: a name that Pulumi generates. EKS: Name of the cluster.
    With a name, the component also creates the log group, with a retention, and deletes it after
    the cluster. Default: a name that Pulumi generates. A replacement can then exist at the same
    time as the old cluster, and EKS creates the log group and keeps it. GKE: Name of the cluster.
    An imported cluster keeps its name. Default: a name that Pulumi generates, so that a replacement
    can exist at the same time as the old cluster."""
    service_cidr: NotRequired[str]
    """AKS: Service CIDR. It must not overlap the network of an existing subnet. Changing it
    replaces the cluster. Default: AKS' 10.0.0.0/16. EKS: Service CIDR, /12 to /24, outside the
    address ranges of the network. Changing it replaces the cluster. Default: EKS' 10.100.0.0/16 or
    172.20.0.0/16. GKE: Service CIDR of a new network. Default: 10.8.0.0/20."""
    grant_key_use: NotRequired[bool]
    """AKS: With secrets_kms_key or disk_encryption_set_id: grant the cluster's identity the role
    Key Vault Crypto User on the vault, and Reader on the disk encryption set. Set to false if it
    already has the roles, or if the vault uses access policies. Default: true. EKS: With
    disk_kms_key: grant EC2 Auto Scaling, which starts the nodes, the use of the key. Set to false
    if the key policy already grants it. Default: true. GKE: With either key: grant Google's service
    agents the role that they need on it. The grant stays when the cluster is deleted. Set to false
    if they already have the role. Default: true."""
    pods_cidr: NotRequired[str]
    """AKS: Pod CIDR, with a /24 per node. Changing it replaces the cluster. Default: AKS'
    10.244.0.0/16. GKE: Pod CIDR of a new network, with a /24 per node. Default: 10.4.0.0/14, for
    1024 nodes."""
    maintenance_start: NotRequired[str]
    """AKS: Start of the four-hour maintenance window in UTC. Default: 03:00. GKE: Start of the
    daily maintenance window of four hours, in UTC. Default: 03:00."""
    log_retention_days: NotRequired[int]
    """AKS: Number of days for which a new workspace keeps logs, 30 to 730. Default: 90. EKS: With
    cluster_name: number of days for which the control plane's logs are kept. Default: 365."""
    disk_kms_key: NotRequired[pulumi.Input[str]]
    """EKS: Key that encrypts the root volumes of system nodes. The account must already have an
    Auto Scaling group, because its service-linked role uses the key. Default: the account's key for
    EBS. GKE: Cloud KMS key that encrypts the boot disks of system nodes. Default: Google's key."""
    storage_drivers: NotRequired[list[str]]
    """EKS: Add-ons that create and mount volumes: ebs, efs, fsx, each with its own role. Their pods
    also run on GPU nodes, so add them to daemonPods of the fleet. Default: none. GKE: Additional
    storage drivers that GKE runs: filestore, gcs-fuse, lustre. The driver for Persistent Disk and
    Hyperdisk always runs. Default: none."""
    resource_group_name: NotRequired[pulumi.Input[str]]
    """AKS: Existing resource group. Default: a new one."""
    dns_prefix: NotRequired[str]
    """AKS: Prefix of the API server's DNS name. Changing it replaces the cluster. Default: based on
    the name of the component."""
    node_resource_group: NotRequired[str]
    """AKS: Name of the resource group that AKS creates for nodes. Changing it replaces the cluster.
    Default: based on the names of the resource group and the component."""
    keep_pools: NotRequired[bool]
    """AKS: With cluster_name: set to true if the cluster was imported. Its pools and all settings
    that aren't inputs here stay unchanged, and the system nodes become a separate pool. Default:
    false."""
    identity_id: NotRequired[pulumi.Input[str]]
    """AKS: Existing identity of the cluster, with identity_principal_id. It needs the role Network
    Contributor on the subnet. Default: a new identity with that role."""
    identity_principal_id: NotRequired[pulumi.Input[str]]
    """AKS: Principal of identity_id."""
    outbound_type: NotRequired[str]
    """AKS: With subnet_id: outbound route of the nodes: loadBalancer (default),
    userAssignedNATGateway, userDefinedRouting, or none. Changing it replaces the cluster. A new
    network has a NAT gateway."""
    admin_group_object_ids: NotRequired[list[str]]
    """AKS: Entra ID groups that administer the cluster. Default: only the identity that first
    creates it."""
    deployer_type: NotRequired[str]
    """AKS: Without groups: type of the identity that first creates the cluster, User (default) or
    ServicePrincipal."""
    kubelogin: NotRequired[str]
    """AKS: Login method with which the kubeconfig gets a token from Entra ID: azurecli (default),
    devicecode, interactive, msi, spn, or workloadidentity."""
    upgrade_channel: NotRequired[str]
    """AKS: Automatic upgrades by AKS: patch (default), node-image, or none. They never change the
    minor version, because plans depend on it."""
    node_os_channel: NotRequired[str]
    """AKS: Automatic upgrades of node images: SecurityPatch (default), which keeps the GPU driver
    of the image, NodeImage, which brings a new image and driver every week, Unmanaged, or None.
    With upgrade_channel node-image: NodeImage."""
    autoscaler_profile: NotRequired[dict[str, pulumi.Input[str]]]
    """AKS: Settings of the cluster autoscaler, such as expander or scale-down-unneeded-time.
    Default: Azure's own."""
    maintenance_day: NotRequired[str]
    """AKS: Weekday of the maintenance window. Default: Sunday."""
    secrets_key_vault_id: NotRequired[pulumi.Input[str]]
    """AKS: ID of the vault of secrets_kms_key, to assign roles on it. Required unless grant_key_use
    is false."""
    disk_encryption_set_id: NotRequired[pulumi.Input[str]]
    """AKS: ID of a disk encryption set with your own key, in the cluster's region, for the disks of
    nodes and volumes. Changing it replaces the cluster. Default: Azure's key."""
    encryption_at_host: NotRequired[bool]
    """AKS: Encrypt disks and caches of system nodes at the host. The subscription needs the feature
    Microsoft.Compute/EncryptionAtHost. Default: true."""
    log_workspace_id: NotRequired[pulumi.Input[str]]
    """AKS: Existing Log Analytics workspace for audit logs and Defender. Default: a new one."""
    defender: NotRequired[bool]
    """AKS: Enable Microsoft Defender on the nodes (billed per core). Default: true."""
    cluster_role_arn: NotRequired[pulumi.Input[str]]
    """EKS: Role of the control plane. An imported cluster must keep its role, because another one
    replaces the cluster. Default: a new role."""
    vpc_cidr: NotRequired[str]
    """EKS: Address range of a new network, /16 to /20. Default: 10.0.0.0/16."""
    single_nat_gateway: NotRequired[bool]
    """EKS: Use one NAT gateway for all zones of a new network instead of one per zone. Default:
    false."""
    nat_gateways: NotRequired[bool]
    """EKS: Give nodes of a new network internet access. If false, nodes reach AWS only through
    `interface_endpoints`, and every image must come from a registry that they can reach (ECR).
    Default: true."""
    interface_endpoints: NotRequired[list[str]]
    """EKS: AWS services that get an endpoint in a new network, by the last part of their names
    (ssm, sqs, autoscaling). Without NAT gateways, the endpoints that EKS nodes need are added
    automatically. Default: none."""
    access_entries: NotRequired[list[AccessEntry]]
    """EKS: Additional access to the cluster: IAM roles or users with an EKS access policy, in
    namespaces or everywhere, or with RBAC groups. Default: none."""
    control_plane_tier: NotRequired[str]
    """EKS: Provisioned size of the control plane: standard, tier-xl, tier-2xl, tier-4xl, or
    tier-8xl. Each tier has its own price. If you remove it later, the cluster keeps its tier, so
    set it to standard instead. Default: standard in a new cluster."""
    kubeconfig_role_arn: NotRequired[pulumi.Input[str]]
    """EKS: IAM role that the kubeconfig assumes. Default: the role of the default provider
    (aws:assumeRoles), or none with an explicit provider."""
    kubeconfig_profile: NotRequired[str]
    """EKS: AWS CLI profile in the kubeconfig. Default: the profile of the default provider
    (aws:profile)."""
    addon_settings: NotRequired[dict[str, str]]
    """EKS: Settings of the add-ons as JSON, by name: coredns: '{"replicaCount": 3}'. `aws eks
    describe-addon-configuration` prints the schema of each. network_policy and prefix_delegation
    take precedence. Default: none."""
    network_policy: NotRequired[bool]
    """EKS: Enforce NetworkPolicies with the VPC CNI. Default: true."""
    node_monitoring: NotRequired[bool]
    """EKS: Install the add-on eks-node-monitoring-agent, which reports broken GPUs so that pools
    with node_repair repair them. Its pods also run on GPU nodes, so add them to daemonPods of the
    fleet. Default: true if a pool has node_repair."""
    metrics_server: NotRequired[bool]
    """EKS: Install the add-on metrics-server, for `kubectl top` and HorizontalPodAutoscalers.
    Default: false."""
    permissions_boundary_arn: NotRequired[pulumi.Input[str]]
    """EKS: Permissions boundary of all created roles, for accounts that require one. Default:
    none."""
    node_policy_arns: NotRequired[list[pulumi.Input[str]]]
    """EKS: Additional policies of the node role, for example AmazonSSMManagedInstanceCore for
    access through Session Manager. The two policies that a node needs are always attached. Default:
    none."""
    subnet_tags: NotRequired[dict[str, pulumi.Input[str]]]
    """EKS: Additional tags on the private subnets of a new network, so that other tools discover
    them (karpenter.sh/discovery). Default: none."""
    support_type: NotRequired[str]
    """EKS: Behavior at the end of a version's standard support: EXTENDED (support for one more year
    at a higher price) or STANDARD (EKS upgrades the cluster). If you remove it later, the cluster
    keeps its policy, so set the other value instead. Default: EXTENDED in a new cluster."""
    zonal_shift: NotRequired[bool]
    """EKS: Allow you and AWS to move traffic away from a failing zone. Node repair pauses
    meanwhile. To turn it off, set it to false: EKS rejects an update that only removes it. Default:
    false in a new cluster."""
    dns_endpoint: NotRequired[bool]
    """GKE: Make the API server reachable by its DNS name from outside the network. IAM controls
    access (permission container.clusters.connect) instead of networks, and the kubeconfig uses the
    name. Default: false."""
    global_access: NotRequired[bool]
    """GKE: Make the private endpoint reachable from other regions of the network. Default:
    false."""
    release_channel: NotRequired[str]
    """GKE: Release channel: RAPID, REGULAR (default), STABLE, or EXTENDED. Use none to pin the
    version, and for pools with auto_upgrade false, which channels don't allow."""
    maintenance_exclusions: NotRequired[list[MaintenanceExclusion]]
    """GKE: Times without GKE upgrades, for example for busy GPU pools or reservations."""
    maintenance_window: NotRequired[MaintenanceWindow]
    """GKE: Maintenance windows as a recurrence rule, for example weekends or the first days of a
    month. Default: daily, at maintenance_start."""
    control_plane_logs: NotRequired[list[str]]
    """GKE: Control plane components whose logs GKE collects: APISERVER, SCHEDULER,
    CONTROLLER_MANAGER. Default: SCHEDULER, which explains pending claims."""
    imported: NotRequired[bool]
    """GKE: Set to true if the cluster was imported, so its first pool stays as it is. Default:
    false."""
    node_local_dns: NotRequired[bool]
    """GKE: Run a DNS cache on every node. Its pods also run on GPU nodes, so add them to daemonPods
    of the fleet. Changing this value replaces the nodes. Default: false."""
    cloud_dns: NotRequired[bool]
    """GKE: Use Cloud DNS instead of kube-dns. Default: false."""
    monitoring_components: NotRequired[list[str]]
    """GKE: Additional components whose metrics GKE collects: POD, KUBELET, DCGM, JOBSET, and others
    of its API. System metrics are always collected. DCGM is GKE's own exporter, and Google
    documents it for drivers that GKE installs. Default: none."""
    nodes_cidr: NotRequired[str]
    """GKE: Node CIDR of a new network. Default: 10.0.0.0/20, for 4092 nodes."""
    network_id: NotRequired[pulumi.Input[str]]
    """GKE: Existing network, with subnetwork_id, pods_range_name, and services_range_name. Without
    it, the component creates a network."""
    subnetwork_id: NotRequired[pulumi.Input[str]]
    """GKE: Existing subnet."""
    pods_range_name: NotRequired[pulumi.Input[str]]
    """GKE: Name of the subnet's secondary range for pods."""
    services_range_name: NotRequired[pulumi.Input[str]]
    """GKE: Name of the subnet's secondary range for services."""
    security_group: NotRequired[str]
    """GKE: Google group whose members and subgroups RBAC can name
    (gke-security-groups@example.com), or none, to record the decision that roles are bound to
    single accounts. Needed there."""


class PoolOptions(TypedDict):
    """Pool options that aren't part of the fleet."""

    name: str
    """Which pool of the fleet."""
    cpu_manager_policy: NotRequired[str]
    """AKS: Kubelet CPU manager policy: none or static. Fixed when the pool is created. Default:
    Azure's own, none. EKS: Kubelet CPU manager policy: static (Guaranteed pods with whole CPUs get
    them exclusively) or none (default). Changing it replaces the nodes through the launch template.
    GKE: Kubelet CPU manager policy: static (Guaranteed pods with whole CPUs get them exclusively)
    or none (default). Changing it replaces the nodes, as an upgrade does."""
    topology_manager_policy: NotRequired[str]
    """AKS: Kubelet topology manager policy: none or best-effort. Fixed when the pool is created.
    Default: none. EKS and GKE: With static CPUs: best-effort (prefers CPUs of one NUMA node) or
    none (default). Stricter policies aren't supported, because kubelet would reject scheduled
    pods."""
    labels: NotRequired[dict[str, pulumi.Input[str]]]
    """Additional node labels."""
    max_unavailable: NotRequired[int]
    """AKS and GKE: Number of nodes that an upgrade can remove at once. Default: 1, or 0 with
    max_surge. EKS: Number of nodes that an update replaces at once, 1 to 100. Default: 1."""
    sysctls: NotRequired[dict[str, str]]
    """AKS: Kernel parameters, such as net.core.somaxconn. Fixed when the pool is created. Default:
    Azure's own. GKE: Kernel parameters that GKE allows (net.core.somaxconn: "2048"). Changing them
    replaces the nodes, as an upgrade does. Default: GKE's values. An empty mapping removes them,
    and omission keeps them."""
    max_surge: NotRequired[int]
    """AKS and GKE: Number of additional nodes that an upgrade can start. Default: 0, because a full
    pool has no free capacity."""
    disk_iops: NotRequired[int]
    """EKS: IOPS of the root volume, 3000 to 80000, and at most 500 per GiB. Default: 3000. GKE:
    IOPS of a hyperdisk-balanced boot disk, 3000 to 160000, and at most 500 per GiB. Default:
    Google's value for the size. If you remove it later, existing disks keep their speed."""
    disk_throughput: NotRequired[int]
    """EKS: Throughput of the root volume in MiB/s, 125 to 2000, and at most 1 per 4 IOPS. Default:
    125. GKE: Throughput of a hyperdisk-balanced boot disk in MiB/s, 140 to 2400, with one I/O
    operation per 4 to 256 KiB. Default: Google's value. If you remove it later, existing disks keep
    their speed."""
    disk_kms_key: NotRequired[pulumi.Input[str]]
    """EKS: Key that encrypts the root volume. Default: the account's key for EBS. GKE: Cloud KMS
    key that encrypts the boot disk. Default: Google's key."""
    grant_key_use: NotRequired[bool]
    """EKS: With disk_kms_key: grant EC2 Auto Scaling, which starts the nodes, the use of the key.
    Set to false if the key policy already grants it. Default: true. GKE: With disk_kms_key: grant
    Compute Engine's service agent the role that it needs on the key. The grant stays when the pool
    is deleted. Set to false if it already has the role. Default: true."""
    grant_reservation_use: NotRequired[bool]
    """AKS: With reservation_group_id: grant the cluster's identity the required role Contributor on
    the group. Set to false if it already has the role. Default: true."""
    image: NotRequired[str]
    """AKS: Node image: Ubuntu (default) or AzureLinux. Both contain the GPU driver."""
    snapshot_id: NotRequired[pulumi.Input[str]]
    """AKS: Node pool snapshot whose node image the pool starts with, which pins the image and its
    GPU driver. Default: the newest image when the pool is created."""
    pod_max_pids: NotRequired[int]
    """AKS: Maximum number of processes in a pod. Fixed when the pool is created. Default: Azure's
    own."""
    os_disk_type: NotRequired[str]
    """AKS: OS disk: Managed (default), or Ephemeral on the machine's own cache or temporary
    disk."""
    kubelet_disk_type: NotRequired[str]
    """AKS: Disk for images, logs, and emptyDir volumes: OS or Temporary (the machine's own NVMe or
    SSD). Default: OS."""
    fips: NotRequired[bool]
    """AKS: Enable FIPS 140-2 images. Fixed when the pool is created. Default: false."""
    pod_subnet_id: NotRequired[pulumi.Input[str]]
    """AKS: Subnet of the pods, for clusters with Azure CNI Pod Subnet. Default: pods use the
    overlay network."""
    node_soak_minutes: NotRequired[int]
    """AKS: Minutes that an upgrade waits after each new node, 0 to 30. Default: 0."""
    encryption_at_host: NotRequired[bool]
    """AKS: Encrypt disks and caches at the host. The subscription needs the feature
    Microsoft.Compute/EncryptionAtHost. Default: true."""
    drain_timeout_minutes: NotRequired[int]
    """AKS: Minutes that an upgrade waits for the pods of a node. Default: 30."""
    release_version: NotRequired[str]
    """EKS: Image version, 1.34.2-20260115. It must match the nodes' Kubernetes version, so change
    both together. A later version replaces the nodes, and you can't revert it. Default: the newest
    version when the pool is created or its Kubernetes version changes."""
    efa: NotRequired[bool]
    """EKS: Attach an EFA interface to every network card. Default: true if the fleet has DRANET and
    the machine type has EFA."""
    security_group_ids: NotRequired[list[pulumi.Input[str]]]
    """EKS: Additional security groups of the nodes. They require cluster_security_group_id, because
    EKS then doesn't attach it."""
    boot_script: NotRequired[str]
    """EKS: Shell script, starting with "#!/bin/bash", that runs at the first boot of each instance
    before the node joins, for example for proxies, certificates, or registry mirrors. Don't include
    secrets, because it's in the launch template. Changing it replaces the nodes. Default: none."""
    placement_group: NotRequired[bool]
    """EKS: Place the nodes close together, which requires subnets in one zone. Default: false."""
    node_group_name: NotRequired[str]
    """EKS: Name of the node group, for a group that you import. Changing it replaces the group.
    Default: a generated name."""
    launch_template_name: NotRequired[str]
    """EKS: Name of the launch template, for a template that you import with its node group.
    Changing it replaces both. Default: a generated name."""
    update_strategy: NotRequired[str]
    """EKS: Order in which an update replaces nodes: MINIMAL (default, old nodes first, because a
    full pool has no free capacity) or DEFAULT (new nodes first, which needs available machines)."""
    force_update: NotRequired[bool]
    """EKS: Continue an update if a PodDisruptionBudget blocks eviction for 15 minutes. Default:
    false."""
    node_repair: NotRequired[bool]
    """EKS: Let EKS replace or reboot broken nodes. To detect broken GPUs, enable node_monitoring of
    the cluster. Default: false."""
    repair_limits: NotRequired[NodeRepairLimits]
    """EKS: With node_repair: limits of repairs, and actions for single faults. Default: EKS'
    limits."""
    location_policy: NotRequired[str]
    """GKE: Distribution of autoscaled nodes over zones: ANY (default, uses zones with available
    GPUs) or BALANCED. Flex-start and queued capacity require ANY."""
    node_pool_name: NotRequired[str]
    """GKE: Name of the node pool, for a pool that you import. Changing it replaces the pool.
    Default: a generated name."""
    max_run_seconds: NotRequired[int]
    """GKE: Maximum run time of a flex-start node in seconds, up to seven days."""
    compact_placement: NotRequired[bool]
    """GKE: Place the nodes close together in one zone. Default: false."""
    placement_policy: NotRequired[str]
    """GKE: Name of a resource policy, in the same project and region, that places the nodes close
    together in one zone, for example for an a4x topology or for several pools. Default: with
    compact_placement, a policy that GKE creates."""
    host_maintenance: NotRequired[str]
    """GKE: Maintenance of the nodes' hosts: PERIODIC (one window of some hours per month) or
    AS_NEEDED. Changing it replaces the pool. Default: Compute Engine's default for the machine
    type."""
    secure_boot: NotRequired[bool]
    """GKE: Only boot signed code. The preloaded driver of Container-Optimized OS is signed, but
    other drivers may not be. Default: true."""
    disk_type: NotRequired[str]
    """GKE: Boot disk type: pd-balanced, pd-ssd, pd-standard, or hyperdisk-balanced, if the machine
    type supports it. Default: the balanced type of the machine family, which is Hyperdisk if it
    doesn't support Persistent Disk (a3-ultragpu, a4, a4x, g4)."""
    auto_upgrade: NotRequired[bool]
    """GKE: Let GKE upgrade the nodes. Only clusters without a release channel support false. For
    busy GPU nodes or reservations, you can use maintenance exclusions of the cluster instead.
    Default: true."""
    node_version: NotRequired[str]
    """GKE: Node version, for example 1.35.1-gke.1616000. Use it with auto_upgrade false. A later
    version upgrades the nodes according to max_surge and max_unavailable. Default: the control
    plane's version when the pool is created."""
    image_streaming: NotRequired[bool]
    """GKE: Start containers while their images are still being read from Artifact Registry.
    Default: false."""


class DriverOptions(TypedDict):
    """DRA driver options that aren't part of the fleet."""

    namespace: NotRequired[str]
    """Namespace to create for the driver. Default: nvidia-dra-driver."""
    driver_root: NotRequired[str]
    """Folder of the NVIDIA driver on the nodes. Default: the platform's folder."""
    crd_manifests: NotRequired[str]
    """Text of the CustomResourceDefinitions in the chart's folder crds. Helm only installs them
    with the first release, so set this if you use ComputeDomains and upgraded or will upgrade the
    driver."""
    network_policy: NotRequired[bool]
    """Create the chart's network policies for the driver's pods. Requires 25.12 or later. Default:
    true if the chart supports them."""
    webhook: NotRequired[bool]
    """Install a webhook that validates opaque configuration when a claim is created. Requires
    cert-manager. Default: false."""
    webhook_failure_policy: NotRequired[str]
    """Effect on claims if the webhook is unavailable: Fail (default) or Ignore."""
    webhook_replicas: NotRequired[int]
    """Number of webhook pods. Default: 1."""
    webhook_tls: NotRequired[WebhookTls]
    """Certificate of the webhook. Default: a certificate that cert-manager signs itself."""
    own_slices_only: NotRequired[bool]
    """Create an admission policy that lets each driver pod write only its node's ResourceSlices.
    Default: true."""
    image_repository: NotRequired[str]
    """Image repository, without a tag, to use instead of the chart's, for example a mirror."""
    image_digest: NotRequired[str]
    """Digest of the image (sha256:…)."""
    image_pull_secrets: NotRequired[list[str]]
    """Image pull secrets in the driver's namespace."""
    priority_class: NotRequired[str]
    """Priority class of the driver's pods. Default: system-node-critical."""
    tolerations: NotRequired[list[DriverToleration]]
    """Additional node taints that the plugin tolerates. It always tolerates nvidia.com/gpu."""
    chart: NotRequired[str]
    """Chart to use instead of the published one: a path, an archive, or an oci:// address."""
    keep_old_names: NotRequired[bool]
    """Keep the object names of 25.x in 0.4 and later, so that an upgrade across the chart's
    renaming updates the plugin in place. Set to false to use the chart's new names. Changing it
    replaces the release, old one first. Default: true."""
