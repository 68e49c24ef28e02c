"""The Pulumi resources of EKS: clusters, pools, networks, identities, and volumes."""

from __future__ import annotations

from typing import Final

from dra_planner.catalog import Machine
from dra_planner.clouds.protocol.identities import (
    GrantResource,
    IdentityResource,
    NodeAdmission,
)
from dra_planner.clouds.protocol.node_networks import (
    AddressRanges,
    ControlPlaneGroups,
    DefaultRoutes,
    NodeNetwork,
    PublicEndpoint,
    SecurityGroups,
    ServiceEndpoints,
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
from dra_planner.clouds.protocol.storage import DiskKeys, VolumeDriver

# minimum number of interfaces; machine types with fewer interfaces are bought for their GPUs
_BOUGHT_FOR_EFA: Final = 4


def _efa_of(machine: Machine) -> str:
    interfaces = machine.efa_interfaces or 0
    return f"{interfaces} EFA interfaces" if interfaces >= _BOUGHT_FOR_EFA else ""


# aws/karpenter-provider-aws:website/content/en/docs/concepts/nodeclasses.md and
# …/tasks/odcrs.md@1d927085
NODE_CLASS = KarpenterNodeClass(
    kind="EC2NodeClass",
    # aws/karpenter-provider-aws:website/content/en/docs/troubleshooting.md (no subnets found)
    subnets=("spec.subnetSelectorTerms", "aws:ec2/subnet:Subnet"),
    tag="aws:ec2/tag:Tag",
    images="spec.amiSelectorTerms",
    image_names=r"amazon-eks-(gpu-|arm64-)?node-|bottlerocket-aws-k8s-",
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
CLUSTER = ClusterResource(
    token="aws:eks/cluster:Cluster",
    version="version",
    region="region",
    # awsdocs/amazon-eks-user-guide pull request 795
    subnets="vpcConfig.subnetIds",
    least_zones=2,
    own_nodes=(("computeConfig.enabled", "true"),),
    # docs.aws.amazon.com/eks/latest/APIReference/API_CreateCluster.html
    # (bootstrapSelfManagedAddons)
    addons=ClusterAddons(
        by_default="bootstrapSelfManagedAddons",
        managed="computeConfig.enabled",
        token="aws:eks/addon:Addon",
        name="addonName",
        needed={
            "vpc-cni": "nodes never become ready",
            "coredns": "pods can't resolve names",
        },
        settings="configurationValues",
        network_policies='"enableNetworkPolicy":"true"',
        replacements={"vpc-cni": ("cilium", "calico", "tigera", "antrea", "weave", "cni")},
    ),
)
POOL = PoolResource(
    token="aws:eks/nodeGroup:NodeGroup",
    kind="node group",
    machine="instanceTypes",
    template=MachineTemplate(
        property="launchTemplate",
        token="aws:ec2/launchTemplate:LaunchTemplate",
        machine="instanceType",
        boot_script="userData",
        # awslabs/amazon-eks-ami:nodeadm/doc/api.md, and bootstrap.sh of AL2 images
        joins=("node.eks.aws", "/etc/eks/bootstrap.sh"),
        # awslabs/amazon-eks-ami:nodeadm/internal/api/validate.go: the cluster's parts are required
        node_config=("kind: NodeConfig", "apiServerEndpoint", "certificateAuthority"),
        # EKS API reference, CreateNodegroup; EKS user guide, "Customize managed nodes with
        # launch templates"; terraform-aws-eks issues 1386 and 3459; rancher/eks-operator
        # issue 185
        image="imageId",
        custom_image="CUSTOM",
        instead=(
            ("diskSize", "ebs.volumeSize in blockDeviceMappings"),
            ("remoteAccess", "keyName and vpcSecurityGroupIds"),
        ),
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
        size="instanceCount",
        template_name="capacityReservationSpecification.capacityReservationTarget.capacityReservationId",
        placement=("placementGroup",),  # properties of an Auto Scaling group
        template_placement=(
            "placement.groupName",
            "placement.groupId",
            "spec.placementGroupSelector",  # properties of Karpenter's node class
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
        of_machine=_efa_of,
        kind=("interfaceType", "efa"),
        interface="EFA interface",
        most=lambda machine: machine.efa_interfaces,
        requested_as=r"(^|[./-])efa\b|^dra\.net$",
        fix="add networkInterfaces with interfaceType efa to the {}, one for each network card",
        templates=("launch template", "node class"),
    ),
)
NODE_NETWORK = NodeNetwork(
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
        ranges=("cidrBlocks", "cidrIpv4", "ipv6CidrBlocks", "cidrIpv6"),
        lists=("prefixListIds", "prefixListId"),
        ports=("fromPort", "toPort"),
        protocols=("protocol", "ipProtocol"),
        tcp=("-1", "all", "tcp", "6"),
    ),
    # Amazon EKS user guide, "View Amazon EKS security group requirements for clusters"
    control_plane=ControlPlaneGroups(
        of_cluster="vpcConfig",
        more_groups="vpcConfig.securityGroupIds",
        rules=(
            (
                "aws:ec2/securityGroupRule:SecurityGroupRule",
                "type",
                "ingress",
                ("sourceSecurityGroupId", "cidrBlocks", "ipv6CidrBlocks", "prefixListIds"),
            ),
            (
                "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule",
                "type",
                "",
                ("referencedSecurityGroupId", "cidrIpv4", "cidrIpv6", "prefixListId"),
            ),
        ),
        rule_group="securityGroupId",
        ingress="ingress",
    ),
    # VPC user guide, "NAT gateways": a private NAT gateway doesn't lead to the internet
    default_routes=DefaultRoutes(
        token="aws:ec2/routeTable:RouteTable",
        routes="routes",
        route=("aws:ec2/route:Route", "routeTableId"),
        destinations=("cidrBlock", "destinationCidrBlock"),
        association=(
            "aws:ec2/routeTableAssociation:RouteTableAssociation",
            "subnetId",
            "routeTableId",
        ),
        gateway=("natGatewayId", "aws:ec2/natGateway:NatGateway", "connectivityType", "private"),
        gateway_subnet="subnetId",
        internet=("gatewayId", "aws:ec2/internetGateway:InternetGateway", "igw-"),
        public=("mapPublicIpOnLaunch", "networkInterfaces", "associatePublicIpAddress"),
    ),
    # Amazon EKS user guide, "Deploy private clusters with limited internet access"
    endpoints=ServiceEndpoints(
        token="aws:ec2/vpcEndpoint:VpcEndpoint",
        network="vpcId",
        service="serviceName",
        needed=("ec2", "ecr.api", "ecr.dkr", "s3"),
        kind=("vpcEndpointType", "Gateway", "Gateway"),  # also the default
        tables="routeTableIds",
        route_token="aws:ec2/vpcEndpointRouteTableAssociation:VpcEndpointRouteTableAssociation",
        private_names="privateDnsEnabled",
        groups="securityGroupIds",
        default_tables=(
            "aws:ec2/defaultRouteTable:DefaultRouteTable",
            "aws:ec2/mainRouteTableAssociation:MainRouteTableAssociation",
        ),
        mirror=".dkr.ecr.",
    ),
    # EKS API reference, KubernetesNetworkConfigRequest; VPC user guide, "Subnet sizing"
    addresses=AddressRanges(
        of_cluster=(("kubernetesNetworkConfig.serviceIpv4Cidr", "service", ""),),
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
IDENTITY = IdentityResource(
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
    of_cloud=("aws:policy/",),
)
# Amazon EKS user guide, "Create access entries": EKS creates the entries of node groups itself
NODE_ADMISSION = NodeAdmission(
    token="aws:eks/accessEntry:AccessEntry",
    kind="type",
    kinds=("EC2_LINUX", "EC2"),
    required=("accessConfig.authenticationMode", "API"),
    groups="aws:autoscaling/group:Group",
    tag="kubernetes.io/cluster/",
    identity="principalArn",
    role=("launchTemplate", "iamInstanceProfile", "role"),
    pool_role="nodeRoleArn",
    association="aws:eks/accessPolicyAssociation:AccessPolicyAssociation",
    # awslabs/ai-on-eks issue 111
    node_class="spec.role",
)
# awsdocs/amazon-eks-user-guide:latest/ug/storage/{ebs,efs,fsx,s3}-csi.adoc, listed @26befcc
VOLUME_DRIVERS = (
    VolumeDriver(
        provisioner="ebs.csi.aws.com",
        zone_key="topology.ebs.csi.aws.com/zone",
        classes=("gp2",),
        addon="aws-ebs-csi-driver",
    ),
    VolumeDriver(provisioner="kubernetes.io/aws-ebs", addon="aws-ebs-csi-driver"),
    VolumeDriver(provisioner="efs.csi.aws.com", zonal=False, addon="aws-efs-csi-driver"),
    VolumeDriver(provisioner="fsx.csi.aws.com", zonal=False, addon="aws-fsx-csi-driver"),
    VolumeDriver(provisioner="s3.csi.aws.com", zonal=False, addon="aws-mountpoint-s3-csi-driver"),
    # part of the names of the chart and of EKS's add-on, aws-secrets-store-csi-driver-provider
    VolumeDriver(
        provisioner="secrets-store.csi.k8s.io", zonal=False, addon="secrets-store-csi-driver"
    ),
    VolumeDriver(
        provisioner="ebs.csi.eks.amazonaws.com",
        switch=("storageConfig.blockStorage.enabled", True, False),
    ),
)
# Amazon EC2 Auto Scaling user guide, "Required AWS KMS key policy for use with encrypted
# volumes"
DISK_KEYS = DiskKeys(
    used_by=(("aws:ec2/launchTemplate:LaunchTemplate", "blockDeviceMappings"),),
    tokens=("aws:kms/key:Key",),
    grants=(("aws:kms/grant:Grant", "keyId"), ("aws:kms/keyPolicy:KeyPolicy", "keyId")),
    grantees=("granteePrincipal", "policy"),
    policy=("policy", "AWSServiceRoleForAutoScaling"),
    identity="Auto Scaling's service-linked role",
    fix="in the key policy, allow AWSServiceRoleForAutoScaling to use the key and create grants",
)
