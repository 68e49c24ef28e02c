"""AWS networks: VPCs, subnets, routes, gateways, and security groups."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from dra_sandbox.clouds.aws import api_values, principals, subnets
from dra_sandbox.clouds.type_rows import Output, Refusal, TypeRow
from dra_sandbox.clouds.wire_values import Value, Values


def ec2_row(
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
    """Return a row for an EC2 resource type. Its identifiers have a prefix and are at the end of
    the ARN.
    """
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


ROWS: Mapping[str, TypeRow] = {
    "aws:ec2/vpc:Vpc": ec2_row(
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
    "aws:ec2/subnet:Subnet": ec2_row(
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
    "aws:ec2/networkInterface:NetworkInterface": ec2_row(
        "network-interface", "eni", replace=("subnetId",), remembered=True
    ),
    "aws:ec2/internetGateway:InternetGateway": ec2_row(
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
        allowed={"connectivityType": api_values.CONNECTIVITY_TYPES},
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
    "aws:ec2/vpcEndpoint:VpcEndpoint": ec2_row(
        "vpc-endpoint",
        "vpce",
        replace=("serviceName", "serviceRegion", "vpcEndpointType", "vpcId"),
        checks=(principals.service_is_called_so,),
    ),
    "aws:ec2/routeTable:RouteTable": ec2_row("route-table", "rtb", replace=("vpcId",)),
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
    "aws:ec2/securityGroup:SecurityGroup": ec2_row(
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
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": ec2_row(
        "security-group-rule",
        "sgr",
        outputs={"securityGroupRuleId": "sgr-{hex17}"},
        replace=("securityGroupId",),
    ),
    "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule": ec2_row(
        "security-group-rule",
        "sgr",
        outputs={"securityGroupRuleId": "sgr-{hex17}"},
        replace=("securityGroupId",),
    ),
}
