"""The AWS resource types that do something particular.

What cannot change in place: for EKS clusters and node groups compared with the `ForceNew` and
`RequiresReplace` marks of hashicorp/terraform-provider-aws (internal/service/eks), on which the
real provider is built; for other types as the services' APIs allow, not compared line by line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from dra_sandbox.clouds.aws import (
    addons,
    beside_clusters,
    clusters,
    group_in_cluster,
    keys,
    launch_templates,
    node_groups,
    own_images,
    principals,
    queues,
    quotas,
    rolling,
    scaling_groups,
    schedules,
    subnets,
    values,
    zones_lost,
)
from dra_sandbox.clouds.rows import Facts, Output, Refusal, TypeRow, incremented, same_as
from dra_sandbox.clouds.wire import Value, Values


def _all_tags(facts: Facts) -> Value:
    return facts.inputs.get("tags") or {}


def _ec2(
    kind: str,
    prefix: str,
    *,
    outputs: Mapping[str, Output] | None = None,
    defaults: Mapping[str, Value] | None = None,
    replace: tuple[str, ...] = (),
    checks: tuple[Callable[[Values], str | None], ...] = (),
    refusals: tuple[Refusal, ...] = (),
    remembered: bool = False,
) -> TypeRow:
    """A row of EC2, whose identifiers carry a prefix and stand at the end of the ARN."""
    arn = f"arn:{{partition}}:ec2:{{region}}:{{account}}:{kind}/{prefix}-{{hex17}}"
    return TypeRow(
        id=f"{prefix}-{{hex17}}",
        outputs={"arn": arn, **(outputs or {})},
        defaults=defaults or {},
        replace=replace,
        checks=checks,
        refusals=refusals,
        remembered=remembered,
    )


COMMON = TypeRow(
    outputs={"ownerId": "{account}"}, known={"tagsAll": _all_tags, "region": "{region}"}
)

ROWS: Mapping[str, TypeRow] = {
    "aws:ec2/vpc:Vpc": _ec2(
        "vpc",
        "vpc",
        outputs={
            "defaultSecurityGroupId": "sg-{hex17}",
            "mainRouteTableId": "rtb-{hex17}",
            "defaultRouteTableId": "rtb-{hex17}",
            "defaultNetworkAclId": "acl-{hex17}",
            "dhcpOptionsId": "dopt-{hex17}",
            "enableNetworkAddressUsageMetrics": False,
        },
        defaults={"enableDnsSupport": True, "instanceTenancy": "default"},
        replace=("cidrBlock", "ipv4IpamPoolId", "ipv4NetmaskLength"),
        refusals=(subnets.has_no_security_groups,),
        remembered=True,
    ),
    "aws:ec2/subnet:Subnet": _ec2(
        "subnet",
        "subnet",
        outputs={"availabilityZone": "{region}a", "availabilityZoneId": "{region}-az1"},
        defaults={"assignIpv6AddressOnCreation": False, "mapPublicIpOnLaunch": False},
        replace=(
            "vpcId",
            "cidrBlock",
            "availabilityZone",
            "availabilityZoneId",
            "outpostArn",
            "ipv6Native",
        ),
        refusals=(subnets.has_no_interfaces, subnets.has_no_load_balancers),
        remembered=True,
    ),
    "aws:ec2/networkInterface:NetworkInterface": _ec2(
        "network-interface", "eni", replace=("subnetId",), remembered=True
    ),
    "aws:ec2/internetGateway:InternetGateway": _ec2(
        "internet-gateway", "igw", refusals=(subnets.has_no_public_addresses,)
    ),
    "aws:ec2/eip:Eip": TypeRow(
        id="eipalloc-{hex17}",
        outputs={
            "allocationId": "eipalloc-{hex17}",
            "publicIp": "203.0.113.{octet}",
            "publicDns": "ec2-203-0-113-{octet}.compute-1.amazonaws.com",
            "arn": "arn:{partition}:ec2:{region}:{account}:elastic-ip/eipalloc-{hex17}",
            "domain": "vpc",
        },
        replace=("domain", "networkBorderGroup", "publicIpv4Pool", "address"),
        allowed={"domain": frozenset({"vpc", "standard"})},
    ),
    "aws:ec2/natGateway:NatGateway": TypeRow(
        id="nat-{hex17}",
        outputs={
            "publicIp": "203.0.113.{octet}",
            "privateIp": "10.0.0.{octet}",
            "networkInterfaceId": "eni-{hex17}",
            "associationId": "eipassoc-{hex17}",
        },
        defaults={"connectivityType": "public"},
        replace=("allocationId", "connectivityType", "privateIp", "subnetId", "vpcId"),
        allowed={"connectivityType": values.CONNECTIVITY_TYPES},
        checks=(
            lambda inputs: (
                "allocationId is required for a public NAT gateway"
                if inputs.get("connectivityType", "public") == "public"
                and not inputs.get("allocationId")
                and inputs.get("availabilityMode", "zonal") == "zonal"
                else None
            ),
        ),
    ),
    "aws:ec2/vpcEndpoint:VpcEndpoint": _ec2(
        "vpc-endpoint",
        "vpce",
        replace=("serviceName", "serviceRegion", "vpcEndpointType", "vpcId"),
        checks=(principals.service_is_called_so,),
    ),
    "aws:ec2/routeTable:RouteTable": _ec2("route-table", "rtb", replace=("vpcId",)),
    "aws:ec2/route:Route": TypeRow(
        id="r-{routeTableId}{digits}",
        outputs={
            "origin": "CreateRoute",
            "state": "active",
            "instanceId": "",
            "instanceOwnerId": "",
        },
        replace=(
            "routeTableId",
            "destinationCidrBlock",
            "destinationIpv6CidrBlock",
            "destinationPrefixListId",
        ),
    ),
    "aws:ec2/routeTableAssociation:RouteTableAssociation": TypeRow(
        id="rtbassoc-{hex17}", replace=("subnetId", "gatewayId")
    ),
    "aws:ec2/securityGroup:SecurityGroup": _ec2(
        "security-group",
        "sg",
        defaults={"description": "Managed by Pulumi", "revokeRulesOnDelete": False},
        replace=("description", "vpcId", "namePrefix"),
        refusals=(subnets.has_no_interfaces,),
        remembered=True,
    ),
    "aws:ec2/securityGroupRule:SecurityGroupRule": TypeRow(
        id="sgrule-{digits}",
        outputs={"securityGroupRuleId": "sgr-{hex17}"},
        replace=(
            "type",
            "fromPort",
            "toPort",
            "protocol",
            "cidrBlocks",
            "ipv6CidrBlocks",
            "prefixListIds",
            "securityGroupId",
            "sourceSecurityGroupId",
            "self",
        ),
        allowed={"type": frozenset({"ingress", "egress"})},
    ),
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": _ec2(
        "security-group-rule",
        "sgr",
        outputs={"securityGroupRuleId": "sgr-{hex17}"},
        replace=("securityGroupId",),
    ),
    "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule": _ec2(
        "security-group-rule",
        "sgr",
        outputs={"securityGroupRuleId": "sgr-{hex17}"},
        replace=("securityGroupId",),
    ),
    "aws:ec2/placementGroup:PlacementGroup": TypeRow(
        id="{name}",
        outputs={
            "arn": "arn:{partition}:ec2:{region}:{account}:placement-group/{name}",
            "placementGroupId": "pg-{hex17}",
        },
        replace=("strategy", "partitionCount", "spreadLevel"),
        allowed={"strategy": values.PLACEMENT_STRATEGIES},
    ),
    "aws:ec2/launchTemplate:LaunchTemplate": TypeRow(
        id="lt-{hex17}",
        outputs={
            "arn": "arn:{partition}:ec2:{region}:{account}:launch-template/lt-{hex17}",
            "defaultVersion": 1,
        },
        every_time={"latestVersion": incremented("latestVersion")},
        replace=("namePrefix",),
        name_limit=128,
        allowed={
            "metadataOptions.httpTokens": values.HTTP_TOKENS,
            "metadataOptions.httpEndpoint": values.ENABLED_DISABLED,
            "metadataOptions.instanceMetadataTags": values.ENABLED_DISABLED,
            "blockDeviceMappings[*].ebs.volumeType": values.VOLUME_TYPES,
            "instanceMarketOptions.marketType": values.MARKET_TYPES,
            "capacityReservationSpecification.capacityReservationPreference": values.RESERVATION_PREFERENCES,
            "networkInterfaces[*].interfaceType": values.NETWORK_INTERFACE_TYPES,
            "tagSpecifications[*].resourceType": values.RESOURCE_TYPES_TAGGED,
            "placement.tenancy": values.TENANCIES,
        },
        checks=(
            launch_templates.interfaces_are_in_order,
            launch_templates.volumes_are_sold,
            launch_templates.reservation_is_meant,
            launch_templates.user_data_is_multipart,
        ),
        remembered=True,
    ),
    "aws:iam/role:Role": TypeRow(
        id="{name}",
        outputs={
            "arn": "arn:{partition}:iam::{account}:role/{name}",
            "uniqueId": "AROA{HEX32}",
            "createDate": "2026-01-01T00:00:00Z",
            "managedPolicyArns": [],
            "inlinePolicies": [],
        },
        defaults={"forceDetachPolicies": False, "maxSessionDuration": 3600, "path": "/"},
        replace=("path", "namePrefix"),
        name_limit=64,
        checks=(principals.tags_are_of_iam,),
    ),
    "aws:iam/policy:Policy": TypeRow(
        id="arn:{partition}:iam::{account}:policy/{name}",
        outputs={
            "arn": "arn:{partition}:iam::{account}:policy/{name}",
            "policyId": "ANPA{HEX32}",
            "attachmentCount": 0,
        },
        defaults={"path": "/"},
        replace=("description", "path", "namePrefix"),
        name_limit=128,
    ),
    "aws:iam/rolePolicy:RolePolicy": TypeRow(id="{role}:{name}", replace=("role", "namePrefix")),
    "aws:iam/rolePolicyAttachment:RolePolicyAttachment": TypeRow(
        id="{role}-{hex17}", replace=("role", "policyArn")
    ),
    "aws:iam/instanceProfile:InstanceProfile": TypeRow(
        id="{name}",
        outputs={
            "arn": "arn:{partition}:iam::{account}:instance-profile/{name}",
            "uniqueId": "AIPA{HEX32}",
            "createDate": "2026-01-01T00:00:00Z",
        },
        defaults={"path": "/"},
        replace=("path", "namePrefix"),
        name_limit=128,
    ),
    "aws:iam/openIdConnectProvider:OpenIdConnectProvider": TypeRow(
        id="arn:{partition}:iam::{account}:oidc-provider/{hex32}",
        outputs={
            "arn": lambda facts: facts.text(
                "arn:{partition}:iam::{account}:oidc-provider/"
                + str(facts.inputs.get("url", "")).removeprefix("https://")
            ),
            "thumbprintLists": ["9e99a48a9960b14926bb7f3b02e22da2b0ab7280"],
        },
        replace=("url",),
        sets=("clientIdLists",),
    ),
    "aws:kms/key:Key": TypeRow(
        id="{uuid}",
        outputs={
            "arn": "arn:{partition}:kms:{region}:{account}:key/{uuid}",
            "keyId": "{uuid}",
            "policy": "{{}}",
            "multiRegion": False,
            "rotationPeriodInDays": 365,
        },
        defaults={
            "isEnabled": True,
            "keyUsage": "ENCRYPT_DECRYPT",
            "customerMasterKeySpec": "SYMMETRIC_DEFAULT",
        },
        replace=(
            "customerMasterKeySpec",
            "keyUsage",
            "multiRegion",
            "customKeyStoreId",
            "xksKeyId",
        ),
        refusals=(keys.principal_exists,),
        remembered=True,
    ),
    "aws:kms/keyPolicy:KeyPolicy": TypeRow(
        id="{keyId}", replace=("keyId",), refusals=(keys.principal_exists,), remembered=True
    ),
    "aws:kms/grant:Grant": TypeRow(
        id="{keyId}:{hex32}",
        outputs={"grantId": "{hex32}", "grantToken": "{hex32}"},
        replace=(
            "constraints",
            "grantCreationTokens",
            "granteePrincipal",
            "keyId",
            "name",
            "operations",
        ),
        sets=("operations",),
        checks=(principals.key_is_no_alias,),
        refusals=(keys.principal_exists,),
        remembered=True,
    ),
    "aws:iam/serviceLinkedRole:ServiceLinkedRole": TypeRow(
        id="arn:{partition}:iam::{account}:role/aws-service-role/{awsServiceName}/{hex8}",
        replace=("awsServiceName", "customSuffix"),
        remembered=True,
    ),
    "aws:kms/alias:Alias": TypeRow(
        id="{name}",
        outputs={
            "arn": "arn:{partition}:kms:{region}:{account}:{name}",
            "targetKeyArn": "arn:{partition}:kms:{region}:{account}:key/{targetKeyId}",
        },
        replace=("namePrefix",),
    ),
    "aws:cloudwatch/logGroup:LogGroup": TypeRow(
        id="{name}",
        outputs={"arn": "arn:{partition}:logs:{region}:{account}:log-group:{name}"},
        defaults={"skipDestroy": False},
        replace=("namePrefix", "logGroupClass"),
        name_limit=512,
        refusals=(beside_clusters.group_is_new,),
        remembered=True,
    ),
    "aws:eks/cluster:Cluster": TypeRow(
        id="{name}",
        outputs={
            "arn": "arn:{partition}:eks:{region}:{account}:cluster/{name}",
            "endpoint": "https://{HEX32}.gr7.{region}.eks.amazonaws.com",
            "certificateAuthority": {"data": "{certificate}"},
            "identities": [
                {"oidcs": [{"issuer": "https://oidc.eks.{region}.amazonaws.com/id/{HEX32}"}]}
            ],
            "vpcConfig": {
                "clusterSecurityGroupId": "sg-{hex17}",
                "vpcId": "vpc-{hex17}",
                "endpointPrivateAccess": False,
                "endpointPublicAccess": True,
            },
            "kubernetesNetworkConfig": {"serviceIpv4Cidr": "172.20.0.0/16", "ipFamily": "ipv4"},
            "accessConfig": {"authenticationMode": "CONFIG_MAP"},
            "upgradePolicy": {"supportType": "EXTENDED"},
            "status": "ACTIVE",
            "platformVersion": "eks.1",
            "clusterId": "",
            "createdAt": "2026-01-01T00:00:00Z",
            "version": "1.34",
            "deletionProtection": False,
        },
        defaults={"bootstrapSelfManagedAddons": True},
        replace=(
            "roleArn",
            "bootstrapSelfManagedAddons",
            "accessConfig.bootstrapClusterCreatorAdminPermissions",
            "kubernetesNetworkConfig.ipFamily",
            "kubernetesNetworkConfig.serviceIpv4Cidr",
            "outpostConfig",
        ),
        when_removed=("encryptionConfig",),
        sets=(
            "computeConfig.nodePools",
            "enabledClusterLogTypes",
            "encryptionConfig.resources",
            "vpcConfig.publicAccessCidrs",
            "vpcConfig.securityGroupIds",
            "vpcConfig.subnetIds",
        ),
        name_limit=100,
        protected_by="deletionProtection",
        allowed={
            "accessConfig.authenticationMode": values.AUTHENTICATION_MODES,
            "enabledClusterLogTypes[*]": values.LOG_TYPES,
            "upgradePolicy.supportType": values.SUPPORT_TYPES,
            "controlPlaneScalingConfig.tier": values.CONTROL_PLANE_TIERS,
            "kubernetesNetworkConfig.ipFamily": values.IP_FAMILIES,
        },
        checks=(clusters.is_accepted,),
        returned=clusters.with_the_key_of_its_alias,
        refusals=(
            clusters.moves_by_one_minor,
            clusters.stays_in_its_zones,
            clusters.has_a_key_of_its_region,
            clusters.authenticates_as_before_or_by_more,
            clusters.has_no_groups_left,
        ),
        effects=(beside_clusters.come_and_go,),
        remembered=True,
    ),
    "aws:eks/nodeGroup:NodeGroup": TypeRow(
        id="{clusterName}:{nodeGroupName}",
        outputs={
            "arn": "arn:{partition}:eks:{region}:{account}:nodegroup/{clusterName}/{nodeGroupName}/{uuid}",
            "amiType": own_images.ami_type,
            "capacityType": "ON_DEMAND",
            "diskSize": lambda facts: 0 if facts.inputs.get("launchTemplate") else 20,
            "instanceTypes": lambda facts: (
                [] if facts.inputs.get("launchTemplate") else ["t3.medium"]
            ),
            "nodeGroupNamePrefix": "",
            "launchTemplate": lambda facts: None,
            "releaseVersion": group_in_cluster.release,
            "version": group_in_cluster.version,
            "status": "ACTIVE",
            "updateConfig": {"maxUnavailable": 1},
            "nodeRepairConfig": {"enabled": False},
            "resources": [
                {
                    "autoscalingGroups": [{"name": "eks-{nodeGroupName}-{uuid}"}],
                    "remoteAccessSecurityGroupId": "",
                }
            ],
        },
        name="nodeGroupName",
        name_limit=63,
        allowed={
            "amiType": values.AMI_TYPES,
            "capacityType": values.CAPACITY_TYPES,
            "taints[*].effect": values.TAINT_EFFECTS,
            "updateConfig.updateStrategy": values.UPDATE_STRATEGIES,
            "nodeRepairConfig.nodeRepairConfigOverrides[*].repairAction": values.REPAIR_ACTIONS,
        },
        checks=node_groups.CHECKS,
        returned=node_groups.with_a_number_for_its_template,
        refusals=(
            *node_groups.REFUSALS,
            *group_in_cluster.REFUSALS,
            *own_images.REFUSALS,
            keys.nodes_can_use_their_key,
            schedules.block_has_begun,
            zones_lost.has_machines,
            quotas.has_vcpus,
            *rolling.REFUSALS,
        ),
        effects=(own_images.registers, scaling_groups.has_tags_of_its_own),
        remembered=True,
    ),
    "aws:autoscaling/schedule:Schedule": TypeRow(
        # The real one is the action's name alone, which several groups may have; these are told
        # apart by it.
        id="{autoscalingGroupName}/{scheduledActionName}",
        outputs={
            "arn": "arn:{partition}:autoscaling:{region}:{account}:scheduledUpdateGroupAction:{uuid}",
            "startTime": schedules.first_start,
        },
        replace=("autoscalingGroupName", "scheduledActionName"),
        checks=(schedules.says_when, schedules.has_sizes_in_order),
        refusals=(schedules.begins_in_future, schedules.is_of_a_group),
        remembered=True,
    ),
    "aws:sqs/queue:Queue": TypeRow(
        id="https://sqs.{region}.amazonaws.com/{account}/{name}",
        outputs={
            "arn": "arn:{partition}:sqs:{region}:{account}:{name}",
            "url": "https://sqs.{region}.amazonaws.com/{account}/{name}",
        },
        defaults={"maxMessageSize": 262144, "receiveWaitTimeSeconds": 0, "delaySeconds": 0},
        replace=("fifoQueue", "namePrefix"),
        name_limit=80,
        checks=(queues.is_kept_for_a_time, queues.policy_is_json),
        remembered=True,
    ),
    "aws:sqs/queuePolicy:QueuePolicy": TypeRow(
        id="{queueUrl}",
        replace=("queueUrl",),
        checks=(queues.policy_is_json,),
        refusals=(queues.is_there,),
    ),
    "aws:cloudwatch/eventRule:EventRule": TypeRow(
        id="{name}",
        outputs={"arn": "arn:{partition}:events:{region}:{account}:rule/{name}"},
        defaults={"eventBusName": "default", "forceDestroy": False},
        replace=("eventBusName", "namePrefix"),
        name_limit=64,
        checks=(queues.rule_says_when,),
        remembered=True,
    ),
    "aws:cloudwatch/eventTarget:EventTarget": TypeRow(
        id="{rule}-{targetId}",
        outputs={"targetId": "terraform-{digits}"},
        defaults={"eventBusName": "default", "forceDestroy": False},
        replace=("eventBusName", "rule", "targetId"),
        refusals=(queues.is_of_a_rule,),
    ),
    "aws:eks/addon:Addon": TypeRow(
        id="{clusterName}:{addonName}",
        outputs={
            "arn": "arn:{partition}:eks:{region}:{account}:addon/{clusterName}/{addonName}/{uuid}",
            "addonVersion": addons.default_version,
            "configurationValues": "",
            "createdAt": "2026-01-01T00:00:00Z",
            "modifiedAt": "2026-01-01T00:00:00Z",
        },
        replace=("addonName", "clusterName", "namespaceConfig"),
        allowed={
            "resolveConflictsOnCreate": values.RESOLVE_CONFLICTS - {"PRESERVE"},
            "resolveConflictsOnUpdate": values.RESOLVE_CONFLICTS,
        },
        checks=(addons.has_a_name_and_a_version, addons.has_values_in_an_object),
        refusals=(addons.version_is_for_the_minor,),
        remembered=True,
    ),
    "aws:eks/accessEntry:AccessEntry": TypeRow(
        id="{clusterName}:{principalArn}",
        outputs={
            "accessEntryArn": "arn:{partition}:eks:{region}:{account}:access-entry/{clusterName}/{uuid}",
            "createdAt": "2026-01-01T00:00:00Z",
            "modifiedAt": "2026-01-01T00:00:00Z",
            "kubernetesGroups": [],
            "userName": same_as("principalArn", ""),
        },
        defaults={"type": "STANDARD"},
        replace=("clusterName", "principalArn", "type"),
        sets=("kubernetesGroups",),
        allowed={"type": values.ACCESS_ENTRY_TYPES},
        checks=(principals.is_a_role_or_user, principals.groups_are_not_of_kubernetes),
        refusals=(clusters.has_entries, clusters.is_the_only_entry),
        remembered=True,
    ),
    "aws:eks/accessPolicyAssociation:AccessPolicyAssociation": TypeRow(
        id="{clusterName}#{principalArn}#{policyArn}",
        outputs={"associatedAt": "2026-01-01T00:00:00Z", "modifiedAt": "2026-01-01T00:00:00Z"},
        replace=("accessScope", "clusterName", "policyArn", "principalArn"),
        sets=("accessScope.namespaces",),
        allowed={"accessScope.type": frozenset({"cluster", "namespace"})},
    ),
    "aws:eks/podIdentityAssociation:PodIdentityAssociation": TypeRow(
        id="a-{hex17}",
        outputs={
            "associationId": "a-{hex17}",
            "associationArn": "arn:{partition}:eks:{region}:{account}:podidentityassociation/{clusterName}/a-{hex17}",
            "externalId": "{uuid}",
        },
        replace=("clusterName", "namespace", "serviceAccount"),
        refusals=(clusters.is_the_only_association, clusters.has_room_for_an_association),
        remembered=True,
    ),
}
