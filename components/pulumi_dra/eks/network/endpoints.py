"""VPC endpoints of AWS services, which nodes without internet access use."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pulumi
import pulumi_aws as aws
from msgspec import Struct

from dra_planner.clouds import repetition_fault
from pulumi_dra.inputs.reader import InputReader

# Services that nodes, pods with Pod Identity, and load balancers need in a cluster without internet
# access (EKS user guide, “Deploy private clusters with limited internet access” and “Set up the
# Amazon EKS Pod Identity Agent”). For S3, the network has a gateway endpoint.
NEEDED = ("ec2", "ecr.api", "ecr.dkr", "eks", "eks-auth", "elasticloadbalancing", "logs", "sts")


IN_CHINA = frozenset(
    {
        "account",
        "application-autoscaling",
        "appmesh-envoy-management",
        "athena",
        "autoscaling",
        "backup",
        "batch",
        "cassandra",
        "cloudcontrolapi",
        "cloudformation",
        "codedeploy-commands-secure",
        "databrew",
        "dms",
        "ebs",
        "ec2",
        "ecr.api",
        "ecr.dkr",
        "eks",
        "elasticache",
        "elasticbeanstalk",
        "elasticfilesystem",
        "elasticfilesystem-fips",
        "emr-containers",
        "execute-api",
        "fsx",
        "imagebuilder",
        "iot.data",
        "kinesis-streams",
        "lambda",
        "license-manager",
        "monitoring",
        "polly",
        "rds",
        "redshift",
        "redshift-data",
        "sagemaker.api",
        "sagemaker.featurestore-runtime",
        "sagemaker.runtime",
        "securityhub",
        "servicecatalog",
        "sms",
        "sqs",
        "states",
        "sts",
        "sync-states",
        "synthetics",
        "transcribe",
        "transcribestreaming",
        "transfer",
        "workspaces",
        "xray",
    }
)
"""Services whose endpoints in China are called cn.com.amazonaws.…. Other names are the same as in
other regions (aws/aws-cdk pull requests 16139 and 25333, which list them; eksctl-io/eksctl issues
2568 and 3081).
"""


def service_name(region: str, service: str) -> str:
    """Return the name of a service's endpoint in a region: com.amazonaws.us-east-1.ecr.api."""
    head = (
        "cn.com.amazonaws" if region.startswith("cn-") and service in IN_CHINA else "com.amazonaws"
    )
    return f"{head}.{region}.{service}"


class WayOut(Struct, frozen=True, kw_only=True):
    """Outbound access of nodes."""

    nat_gateways: bool
    single_nat_gateway: bool
    interface_endpoints: list[str]  # those given

    @property
    def services(self) -> list[str]:
        """Services that get an endpoint: the given ones and, without NAT gateways, the required
        ones.
        """
        return sorted({*self.interface_endpoints, *(() if self.nat_gateways else NEEDED)})


def read_way_out(read: InputReader) -> WayOut:
    """Return the checked inputs for outbound access."""
    way_out = WayOut(
        nat_gateways=read.flag("nat_gateways", True),
        single_nat_gateway=read.flag("single_nat_gateway", False),
        interface_endpoints=read.texts(
            "interface_endpoints",
            pattern=r"[a-z0-9-]+(\.[a-z0-9-]+)*",
            meaning="the last part of a service name, such as ecr.api, ssm, or sqs",
        ),
    )
    if way_out.single_nat_gateway and not way_out.nat_gateways:
        read.refuse("single_nat_gateway", "applies only to a network with nat_gateways")
    if fault := repetition_fault(way_out.interface_endpoints):
        read.refuse("interface_endpoints", fault)
    if "s3" in way_out.interface_endpoints:
        read.refuse("interface_endpoints", "contains s3, which already has a gateway endpoint")
    return way_out


def declare_endpoints(
    name: str,
    services: Sequence[str],
    vpc: aws.ec2.Vpc,
    cidr: str,
    subnet_ids: Sequence[pulumi.Input[str]],
    named: Callable[[str], dict[str, pulumi.Input[str]]],
    options: Callable[[], pulumi.ResourceOptions],
) -> list[pulumi.Resource]:
    """Declare an endpoint of each service in every subnet, with a security group that admits the
    VPC over TLS.
    """
    if not services:
        return []
    group = aws.ec2.SecurityGroup(
        f"{name}-endpoints",
        description="Clients of the endpoints of AWS services",
        vpc_id=vpc.id,
        ingress=[
            {
                "description": "TLS from the VPC",
                "protocol": "tcp",
                "from_port": 443,
                "to_port": 443,
                "cidr_blocks": [cidr],
            }
        ],
        tags=named("endpoints"),
        opts=options(),
    )
    return [
        aws.ec2.VpcEndpoint(
            f"{name}-endpoint-{service}",
            vpc_id=vpc.id,
            service_name=vpc.arn.apply(lambda arn, of=service: service_name(arn.split(":")[3], of)),
            vpc_endpoint_type="Interface",
            private_dns_enabled=True,
            subnet_ids=list(subnet_ids),
            security_group_ids=[group.id],
            tags=named(f"endpoint-{service}"),
            opts=options(),
        )
        for service in services
    ]
