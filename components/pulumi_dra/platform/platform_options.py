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
    """AKS: Name of the cluster. Default: a name that Pulumi generates. EKS: Name of the cluster. If
    you set a name, the component also creates the log group with a retention period, and deletes
    the log group after the cluster. Default: a name that Pulumi generates. Then the old and the new
    cluster can exist at the same time during a replacement, and EKS creates and keeps the log
    group. GKE: Name of the cluster. An imported cluster keeps its name. Default: a name that Pulumi
    generates, so that a replacement can exist at the same time as the old cluster."""
    service_cidr: NotRequired[str]
    """AKS: Service CIDR, which must not overlap the network of an existing subnet. Changing this
    value replaces the cluster. Default: AKS' 10.0.0.0/16. EKS: Service CIDR, /12 to /24, outside
    the address ranges of the network. Changing this value replaces the cluster. Default: EKS'
    10.100.0.0/16 or 172.20.0.0/16. GKE: Service CIDR of a new network. Default: 10.8.0.0/20."""
    grant_key_use: NotRequired[bool]
    """AKS: If secrets_kms_key or disk_encryption_set_id is set, grant the cluster's identity the
    Key Vault Crypto User role on the vault, and the Reader role on the disk encryption set. Set to
    false if the identity already has the roles, or if the vault uses access policies. Default:
    true. EKS: If disk_kms_key is set, allow EC2 Auto Scaling, which starts the nodes, to use the
    key. Set to false if the key policy already allows this. Default: true. GKE: If disk_kms_key or
    secrets_kms_key is set, grant Google's service agents the required role on the key. The role
    assignment remains after you delete the cluster. Set to false if the agents already have the
    role. Default: true."""
    pods_cidr: NotRequired[str]
    """AKS: Pod CIDR, with a /24 per node. Changing this value replaces the cluster. Default: AKS'
    10.244.0.0/16. GKE: Pod CIDR of a new network, with a /24 per node. Default: 10.4.0.0/14, for
    1024 nodes."""
    maintenance_start: NotRequired[str]
    """AKS: Start of the four-hour maintenance window in UTC. Default: 03:00. GKE: Start of the
    daily maintenance window of four hours, in UTC. Default: 03:00."""
    log_retention_days: NotRequired[int]
    """AKS: Number of days that a new workspace keeps logs, 30 to 730. Default: 90. EKS: Number of
    days to keep the control plane's logs. Used only with cluster_name. Default: 365."""
    disk_kms_key: NotRequired[pulumi.Input[str]]
    """EKS: Key that encrypts the root volumes of system nodes. The account must already have an
    Auto Scaling group, because the service-linked role of Auto Scaling uses the key. Default: the
    account's key for EBS. GKE: Cloud KMS key that encrypts the boot disks of system nodes. Default:
    Google's key."""
    storage_drivers: NotRequired[list[str]]
    """EKS: Add-ons that create and mount volumes: ebs, efs, fsx. Each add-on has its own role. The
    pods of these add-ons also run on GPU nodes, so add them to daemonPods in the fleet. Default:
    none. GKE: Additional storage drivers: filestore, gcs-fuse, lustre. The driver for Persistent
    Disk and Hyperdisk is always enabled. Default: none."""
    resource_group_name: NotRequired[pulumi.Input[str]]
    """AKS: Existing resource group. Default: a new resource group."""
    dns_prefix: NotRequired[str]
    """AKS: Prefix of the API server's DNS name. Changing this value replaces the cluster. Default:
    based on the name of the component."""
    node_resource_group: NotRequired[str]
    """AKS: Name of the resource group that AKS creates for nodes. Changing this value replaces the
    cluster. Default: based on the names of the resource group and the component."""
    keep_pools: NotRequired[bool]
    """AKS: Set to true, together with cluster_name, if you imported the cluster. The component then
    keeps the cluster's pools and all settings that aren't inputs here, and creates a separate pool
    for the system nodes. Default: false."""
    identity_id: NotRequired[pulumi.Input[str]]
    """AKS: Existing identity for the cluster, with the Network Contributor role on the subnet. Also
    set identity_principal_id. Default: a new identity with this role."""
    identity_principal_id: NotRequired[pulumi.Input[str]]
    """AKS: Principal ID of the identity in identity_id."""
    outbound_type: NotRequired[str]
    """AKS: Outbound path of nodes in the subnet in subnet_id: loadBalancer (default),
    userAssignedNATGateway, userDefinedRouting, or none. Changing this value replaces the cluster. A
    new network has a NAT gateway."""
    admin_group_object_ids: NotRequired[list[str]]
    """AKS: Entra ID groups that administer the cluster. Default: only the identity that creates the
    cluster."""
    deployer_type: NotRequired[str]
    """AKS: Type of the identity that creates the cluster, if admin_group_object_ids is empty: User
    (default) or ServicePrincipal."""
    kubelogin: NotRequired[str]
    """AKS: Login method that the kubeconfig uses to get a token from Entra ID: azurecli (default),
    devicecode, interactive, msi, spn, or workloadidentity."""
    upgrade_channel: NotRequired[str]
    """AKS: Automatic upgrades by AKS: patch (default), node-image, or none. These upgrades never
    change the minor version, because plans depend on the minor version."""
    node_os_channel: NotRequired[str]
    """AKS: Automatic upgrades of node images: SecurityPatch (default; keeps the image's GPU
    driver), NodeImage (a new image and driver every week), Unmanaged, or None. With upgrade_channel
    node-image, the only value is NodeImage."""
    autoscaler_profile: NotRequired[dict[str, pulumi.Input[str]]]
    """AKS: Settings of the cluster autoscaler, such as expander or scale-down-unneeded-time.
    Default: Azure's defaults."""
    maintenance_day: NotRequired[str]
    """AKS: Weekday of the maintenance window. Default: Sunday."""
    secrets_key_vault_id: NotRequired[pulumi.Input[str]]
    """AKS: ID of the vault that contains secrets_kms_key. The component assigns roles on this
    vault. Required unless grant_key_use is false."""
    disk_encryption_set_id: NotRequired[pulumi.Input[str]]
    """AKS: ID of a disk encryption set with your own key, in the cluster's region, for the disks of
    nodes and volumes. Changing this value replaces the cluster. Default: Azure's key."""
    encryption_at_host: NotRequired[bool]
    """AKS: Encrypt disks and caches of system nodes at the host. The subscription needs the
    Microsoft.Compute/EncryptionAtHost feature. Default: true."""
    log_workspace_id: NotRequired[pulumi.Input[str]]
    """AKS: Existing Log Analytics workspace for audit logs and Defender. Default: a new
    workspace."""
    defender: NotRequired[bool]
    """AKS: Enable Microsoft Defender on the nodes (billed per core). Default: true."""
    cluster_role_arn: NotRequired[pulumi.Input[str]]
    """EKS: IAM role of the control plane. For an imported cluster, set its current role, because
    changing the role replaces the cluster. Default: a new role."""
    vpc_cidr: NotRequired[str]
    """EKS: Address range of a new network, /16 to /20. Default: 10.0.0.0/16."""
    single_nat_gateway: NotRequired[bool]
    """EKS: Use one NAT gateway for all zones of a new network instead of one for each zone.
    Default: false."""
    nat_gateways: NotRequired[bool]
    """EKS: Provide internet access for nodes in a new network. If false, nodes reach AWS only
    through `interface_endpoints`, and all images must be in a registry that the nodes can reach
    (ECR). Default: true."""
    interface_endpoints: NotRequired[list[str]]
    """EKS: AWS services for which a new network has an endpoint, by the last part of the service
    name (ssm, sqs, autoscaling). Without NAT gateways, the component also adds the endpoints that
    EKS nodes need. Default: none."""
    access_entries: NotRequired[list[AccessEntry]]
    """EKS: Additional access to the cluster: IAM roles or users with an EKS access policy, in
    namespaces or everywhere, or with RBAC groups. Default: none."""
    control_plane_tier: NotRequired[str]
    """EKS: Provisioned size of the control plane: standard, tier-xl, tier-2xl, tier-4xl, or
    tier-8xl. Each tier has its own price. To go back to the standard tier, set standard, because
    the cluster keeps its tier if you remove this input. Default: standard in a new cluster."""
    kubeconfig_role_arn: NotRequired[pulumi.Input[str]]
    """EKS: IAM role that the kubeconfig assumes. Default: the role of the default provider
    (aws:assumeRoles), or none with an explicit provider."""
    kubeconfig_profile: NotRequired[str]
    """EKS: AWS CLI profile in the kubeconfig. Default: the profile of the default provider
    (aws:profile)."""
    addon_settings: NotRequired[dict[str, str]]
    """EKS: Settings of add-ons as JSON, by add-on name: coredns: '{"replicaCount": 3}'. `aws eks
    describe-addon-configuration` prints the schema of an add-on. network_policy and
    prefix_delegation take precedence. Default: none."""
    network_policy: NotRequired[bool]
    """EKS: Enforce NetworkPolicies with the VPC CNI. Default: true."""
    node_monitoring: NotRequired[bool]
    """EKS: Install the eks-node-monitoring-agent add-on, which reports broken GPUs, so that EKS can
    repair nodes in pools with node_repair. The agent's pods also run on GPU nodes, so add them to
    daemonPods in the fleet. Default: true if a pool has node_repair."""
    metrics_server: NotRequired[bool]
    """EKS: Install the metrics-server add-on, for `kubectl top` and HorizontalPodAutoscalers.
    Default: false."""
    permissions_boundary_arn: NotRequired[pulumi.Input[str]]
    """EKS: Permissions boundary of all created roles, for accounts that require one. Default:
    none."""
    node_policy_arns: NotRequired[list[pulumi.Input[str]]]
    """EKS: Additional policies for the node role, for example AmazonSSMManagedInstanceCore for
    access through Session Manager. The role always has the two policies that nodes need. Default:
    none."""
    subnet_tags: NotRequired[dict[str, pulumi.Input[str]]]
    """EKS: Additional tags on the private subnets of a new network, by which other tools can find
    the subnets (karpenter.sh/discovery). Default: none."""
    support_type: NotRequired[str]
    """EKS: Behavior at the end of a version's standard support: EXTENDED (support for one more year
    at a higher price) or STANDARD (EKS upgrades the cluster). To change the policy, set the other
    value, because the cluster keeps the current policy if you remove this input. Default: EXTENDED
    in a new cluster."""
    zonal_shift: NotRequired[bool]
    """EKS: Allow you and AWS to move traffic away from a failing zone. During a shift, EKS doesn't
    repair nodes. To disable zonal shift, set this input to false. EKS rejects an update that only
    removes the input. Default: false in a new cluster."""
    dns_endpoint: NotRequired[bool]
    """GKE: Enable the DNS endpoint of the API server, which clients outside the network can reach.
    Access is controlled by IAM (the container.clusters.connect permission) instead of network
    ranges, and the kubeconfig uses the DNS endpoint. Default: false."""
    global_access: NotRequired[bool]
    """GKE: Make the private endpoint reachable from other regions of the network. Default:
    false."""
    release_channel: NotRequired[str]
    """GKE: Release channel: RAPID, REGULAR (default), STABLE, or EXTENDED. To pin the version or to
    use pools with auto_upgrade false, set none, because release channels require automatic
    upgrades."""
    maintenance_exclusions: NotRequired[list[MaintenanceExclusion]]
    """GKE: Periods in which GKE doesn't upgrade, for example while GPU pools are busy."""
    maintenance_window: NotRequired[MaintenanceWindow]
    """GKE: Maintenance windows as a recurrence rule, for example every weekend or the first days of
    each month. Default: daily, at maintenance_start."""
    control_plane_logs: NotRequired[list[str]]
    """GKE: Control plane components whose logs GKE collects: APISERVER, SCHEDULER,
    CONTROLLER_MANAGER. Default: SCHEDULER, which explains pending claims."""
    imported: NotRequired[bool]
    """GKE: Set to true if you imported the cluster. The component then doesn't change the cluster's
    first pool. Default: false."""
    node_local_dns: NotRequired[bool]
    """GKE: Run a DNS cache on every node. The cache's pods also run on GPU nodes, so add them to
    daemonPods in the fleet. Changing this value replaces the nodes. Default: false."""
    cloud_dns: NotRequired[bool]
    """GKE: Use Cloud DNS instead of kube-dns. Default: false."""
    monitoring_components: NotRequired[list[str]]
    """GKE: Additional components from which GKE collects metrics: POD, KUBELET, DCGM, JOBSET, and
    other values in GKE's API. GKE always collects system metrics. DCGM is GKE's own exporter, which
    Google documents only for drivers that GKE installs. Default: none."""
    nodes_cidr: NotRequired[str]
    """GKE: Node CIDR of a new network. Default: 10.0.0.0/20, for 4092 nodes."""
    network_id: NotRequired[pulumi.Input[str]]
    """GKE: Existing network. Also set subnetwork_id, pods_range_name, and services_range_name.
    Default: a new network."""
    subnetwork_id: NotRequired[pulumi.Input[str]]
    """GKE: Existing subnet."""
    pods_range_name: NotRequired[pulumi.Input[str]]
    """GKE: Name of the subnet's secondary range for pods."""
    services_range_name: NotRequired[pulumi.Input[str]]
    """GKE: Name of the subnet's secondary range for services."""
    security_group: NotRequired[str]
    """GKE: Google group whose members and subgroups you can use in RBAC
    (gke-security-groups@example.com). Set none if you bind roles to individual accounts. Required
    on this cloud."""


class PoolOptions(TypedDict):
    """Pool options that aren't part of the fleet."""

    name: str
    """Name of the pool in the fleet."""
    cpu_manager_policy: NotRequired[str]
    """AKS: Kubelet CPU manager policy: none or static. You can't change this value later. Default:
    none. EKS: Kubelet CPU manager policy: static (exclusive CPUs for Guaranteed pods that request
    whole CPUs) or none (default). Changing this value creates a new launch template version and
    replaces the nodes. GKE: Kubelet CPU manager policy: static (exclusive CPUs for Guaranteed pods
    that request whole CPUs) or none (default). Changing this value replaces the nodes in the same
    way as an upgrade."""
    topology_manager_policy: NotRequired[str]
    """AKS: Kubelet topology manager policy: none or best-effort. You can't change this value later.
    Default: none. EKS and GKE: Kubelet topology manager policy, with cpu_manager_policy static:
    best-effort (prefers CPUs on one NUMA node) or none (default). Stricter policies aren't
    supported, because the kubelet would reject scheduled pods."""
    labels: NotRequired[dict[str, pulumi.Input[str]]]
    """Additional node labels."""
    max_unavailable: NotRequired[int]
    """AKS and GKE: Number of nodes that an upgrade can remove at the same time. Default: 1, or 0
    with max_surge. EKS: Number of nodes that an update replaces at the same time, 1 to 100.
    Default: 1."""
    sysctls: NotRequired[dict[str, str]]
    """AKS: Kernel parameters, such as net.core.somaxconn. You can't change these values later.
    Default: Azure's defaults. GKE: Kernel parameters that GKE allows (net.core.somaxconn: "2048").
    Changing these values replaces the nodes in the same way as an upgrade. Default: GKE's values.
    To remove parameters from an existing pool, set an empty mapping."""
    max_surge: NotRequired[int]
    """AKS and GKE: Number of additional nodes that an upgrade can start. Default: 0, because a full
    pool has no free capacity."""
    disk_iops: NotRequired[int]
    """EKS: IOPS of the root volume, 3000 to 80000, and at most 500 per GiB. Default: 3000. GKE:
    IOPS of a hyperdisk-balanced boot disk, 3000 to 160000, and at most 500 per GiB. Default:
    Google's value for the disk size. If you remove this input later, existing disks keep their
    IOPS."""
    disk_throughput: NotRequired[int]
    """EKS: Throughput of the root volume in MiB/s, 125 to 2000, and at most 1 per 4 IOPS. Default:
    125. GKE: Throughput of a hyperdisk-balanced boot disk in MiB/s, 140 to 2400, with one I/O
    operation per 4 to 256 KiB. Default: Google's value. If you remove this input later, existing
    disks keep their throughput."""
    disk_kms_key: NotRequired[pulumi.Input[str]]
    """EKS: Key that encrypts the root volume. Default: the account's key for EBS. GKE: Cloud KMS
    key that encrypts the boot disk. Default: Google's key."""
    grant_key_use: NotRequired[bool]
    """EKS: If disk_kms_key is set, allow EC2 Auto Scaling, which starts the nodes, to use the key.
    Set to false if the key policy already allows this. Default: true. GKE: If disk_kms_key is set,
    grant Compute Engine's service agent the required role on the key. The role assignment remains
    after you delete the pool. Set to false if the agent already has the role. Default: true."""
    grant_reservation_use: NotRequired[bool]
    """AKS: If reservation_group_id is set, grant the cluster's identity the required Contributor
    role on the group. Set to false if the identity already has the role. Default: true."""
    image: NotRequired[str]
    """AKS: Node image: Ubuntu (default) or AzureLinux. Both contain the GPU driver."""
    snapshot_id: NotRequired[pulumi.Input[str]]
    """AKS: Node pool snapshot from which the pool gets its initial node image. Use a snapshot to
    pin the image and its GPU driver. Default: the newest image when the pool is created."""
    pod_max_pids: NotRequired[int]
    """AKS: Maximum number of processes in a pod. You can't change this value later. Default:
    Azure's default."""
    os_disk_type: NotRequired[str]
    """AKS: OS disk: Managed (default), or Ephemeral on the machine's own cache or temporary
    disk."""
    kubelet_disk_type: NotRequired[str]
    """AKS: Disk for images, logs, and emptyDir volumes: OS or Temporary (the machine's own NVMe or
    SSD). Default: OS."""
    fips: NotRequired[bool]
    """AKS: Use FIPS 140-2 images. You can't change this value later. Default: false."""
    pod_subnet_id: NotRequired[pulumi.Input[str]]
    """AKS: Subnet of the pods, for clusters with Azure CNI Pod Subnet. Default: pods use the
    overlay network."""
    node_soak_minutes: NotRequired[int]
    """AKS: Number of minutes that an upgrade waits after each new node, 0 to 30. Default: 0."""
    encryption_at_host: NotRequired[bool]
    """AKS: Encrypt disks and caches at the host. The subscription needs the
    Microsoft.Compute/EncryptionAtHost feature. Default: true."""
    drain_timeout_minutes: NotRequired[int]
    """AKS: Number of minutes that an upgrade waits for a node to drain. Default: 30."""
    release_version: NotRequired[str]
    """EKS: Image version, for example 1.34.2-20260115. The image must match the nodes' Kubernetes
    version, so change both at the same time. A later version replaces the nodes. EKS doesn't
    support changing back to an earlier version. Default: the newest version when the pool is
    created or its Kubernetes version changes."""
    efa: NotRequired[bool]
    """EKS: Attach an EFA interface to each network card. Default: true if the fleet has DRANET and
    the machine type has EFA."""
    security_group_ids: NotRequired[list[pulumi.Input[str]]]
    """EKS: Additional security groups of the nodes. Also set cluster_security_group_id, because EKS
    doesn't attach the cluster's security group if you set this input."""
    boot_script: NotRequired[str]
    """EKS: Shell script, starting with "#!/bin/bash", that runs at the first boot of each instance
    before the node joins, for example for proxies, certificates, or registry mirrors. Don't include
    secrets, because the launch template contains the script as plain text. Changing this value
    replaces the nodes. Default: none."""
    placement_group: NotRequired[bool]
    """EKS: Place the nodes close together, which requires subnets in one zone. Default: false."""
    node_group_name: NotRequired[str]
    """EKS: Name of the node group, if you import the group. Changing this value replaces the group.
    Default: a generated name."""
    launch_template_name: NotRequired[str]
    """EKS: Name of the launch template, if you import the template with its node group. Changing
    this value replaces both. Default: a generated name."""
    update_strategy: NotRequired[str]
    """EKS: Order in which an update replaces nodes: MINIMAL (default, old nodes first, because a
    full pool has no free capacity) or DEFAULT (new nodes first, which needs additional
    machines)."""
    force_update: NotRequired[bool]
    """EKS: Continue an update even if a PodDisruptionBudget blocks an eviction for 15 minutes.
    Default: false."""
    node_repair: NotRequired[bool]
    """EKS: Allow EKS to replace or reboot broken nodes. To detect broken GPUs, enable
    node_monitoring in the cluster. Default: false."""
    repair_limits: NotRequired[NodeRepairLimits]
    """EKS: Limits for repairs, and actions for specific faults. Used only with node_repair.
    Default: EKS' limits."""
    location_policy: NotRequired[str]
    """GKE: Distribution of autoscaled nodes over zones: ANY (default; uses zones with available
    GPUs) or BALANCED (tries to spread nodes evenly). Flex-start and queued capacity require ANY."""
    node_pool_name: NotRequired[str]
    """GKE: Name of the node pool, if you import the pool. Changing this value replaces the pool.
    Default: a generated name."""
    max_run_seconds: NotRequired[int]
    """GKE: Maximum run time of a flex-start node in seconds, up to seven days."""
    compact_placement: NotRequired[bool]
    """GKE: Place the nodes close together in one zone. Default: false."""
    placement_policy: NotRequired[str]
    """GKE: Name of a resource policy in the same project and region that places the nodes close
    together in one zone, for example for an a4x topology or for several pools. Default: none or,
    with compact_placement, a policy that GKE creates."""
    host_maintenance: NotRequired[str]
    """GKE: Host maintenance: PERIODIC (one window of a few hours per month) or AS_NEEDED. Changing
    this value replaces the pool. Default: Compute Engine's default for the machine type."""
    secure_boot: NotRequired[bool]
    """GKE: Run only signed code at boot. The driver in Container-Optimized OS is signed, but other
    drivers might not be signed. Default: true."""
    disk_type: NotRequired[str]
    """GKE: Boot disk type: pd-balanced, pd-ssd, pd-standard, or hyperdisk-balanced, if the machine
    type supports it. Default: pd-balanced, or hyperdisk-balanced for machine families that don't
    support Persistent Disk (a3-ultragpu, a4, a4x, g4)."""
    auto_upgrade: NotRequired[bool]
    """GKE: Allow GKE to upgrade the nodes. Only clusters without a release channel support false.
    To protect busy GPU nodes or reservations, you can set maintenance exclusions for the cluster
    instead. Default: true."""
    node_version: NotRequired[str]
    """GKE: Node version, for example 1.35.1-gke.1616000. Set this input only with auto_upgrade
    false. A later version upgrades the nodes according to max_surge and max_unavailable. Default:
    the control plane's version when the pool is created."""
    image_streaming: NotRequired[bool]
    """GKE: Start containers before their images are completely downloaded from Artifact Registry.
    Default: false."""


class DriverOptions(TypedDict):
    """DRA driver options that aren't part of the fleet."""

    namespace: NotRequired[str]
    """Namespace to create for the driver. Default: nvidia-dra-driver."""
    driver_root: NotRequired[str]
    """Folder of the NVIDIA driver on the nodes. Default: the platform's folder."""
    crd_manifests: NotRequired[str]
    """Text of the CustomResourceDefinitions in the chart's crds folder. Helm installs these
    definitions only with the first installation. Therefore, set this input if you use
    ComputeDomains and upgrade the driver."""
    network_policy: NotRequired[bool]
    """Create the chart's network policies for the driver's pods. Requires 25.12 or later. Default:
    true if the chart supports them."""
    webhook: NotRequired[bool]
    """Install a webhook that validates opaque configuration when a claim is created. Requires
    cert-manager. Default: false."""
    webhook_failure_policy: NotRequired[str]
    """Effect on new claims while the webhook is unavailable: Fail (default, rejects the claims) or
    Ignore (accepts the claims)."""
    webhook_replicas: NotRequired[int]
    """Number of webhook pods. Default: 1."""
    webhook_tls: NotRequired[WebhookTls]
    """Certificate of the webhook. Default: a self-signed certificate from cert-manager."""
    own_slices_only: NotRequired[bool]
    """Create an admission policy that allows each driver pod to write only the ResourceSlices of
    its own node. Default: true."""
    image_repository: NotRequired[str]
    """Image repository, without a tag, to use instead of the chart's repository, for example a
    mirror."""
    image_digest: NotRequired[str]
    """Digest of the image (sha256:…)."""
    image_pull_secrets: NotRequired[list[str]]
    """Image pull secrets in the driver's namespace."""
    priority_class: NotRequired[str]
    """Priority class of the driver's pods. Default: system-node-critical."""
    tolerations: NotRequired[list[DriverToleration]]
    """Additional node taints that the plugin tolerates. The plugin always tolerates
    nvidia.com/gpu."""
    chart: NotRequired[str]
    """Chart to use instead of the published chart: a path, an archive, or an oci:// address."""
    keep_old_names: NotRequired[bool]
    """Keep the object names of 25.x in 0.4 and later, so that an upgrade to 0.4 updates the plugin
    in place. Set to false to use the chart's new names. Changing this value deletes the release and
    then installs it again. Default: true."""
