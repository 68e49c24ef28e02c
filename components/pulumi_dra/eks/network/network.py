"""A VPC for an EKS cluster: nodes in private subnets, outbound traffic through NAT, no inbound
access.
"""

# No `from __future__ import annotations` in component modules: Pulumi's schema analyzer reads the
# annotations.
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any, NotRequired, TypedDict, cast

import pulumi
import pulumi_aws as aws

from dra_planner.clouds import repetition_fault
from dra_planner.clouds.eks import CLOUD
from pulumi_dra.child_options import Children
from pulumi_dra.eks.naming import read_role_tags, read_tags
from pulumi_dra.eks.network.address_plan import ZoneAddresses, check_vpc_cidr, plan_addresses
from pulumi_dra.eks.network.endpoints import declare_endpoints, read_way_out
from pulumi_dra.eks.network.flow_logs import declare_flow_logs
from pulumi_dra.eks.network.zones import FEWEST, choose_zones, zones_are_named
from pulumi_dra.eks.rights.permissions_boundary import read_boundary
from pulumi_dra.inputs.reader import InputReader

# EKS can't place a control plane in these zones (EKS user guide, “Subnet requirements for
# clusters”).
ZONE_IDS_WITHOUT_EKS = ("use1-az3", "usw1-az2", "cac1-az3")


class EksNetworkArgs(TypedDict):
    """Inputs of EksNetwork."""

    zone_count: NotRequired[int]
    """Number of zones in the network, 2 to 6, starting with the region's first zones by name.
    Default: 2 if `zones` is empty.
    """
    zones: NotRequired[list[str]]
    """Names of the network's zones (us-east-1a), in addition to `zone_count`. Adding a zone or
    increasing the count adds subnets and doesn't change existing subnets.
    """
    vpc_cidr: NotRequired[str]
    """Address range for the VPC, /16 to /20. Default: 10.0.0.0/16."""
    single_nat_gateway: NotRequired[bool]
    """Use one NAT gateway for all zones instead of one for each zone. A single gateway costs less,
    but if its zone fails, the other zones lose internet access. The gateway is in the first zone of
    `zone_count` or, without `zone_count`, of `zones`. Default: false.
    """
    nat_gateways: NotRequired[bool]
    """Provide internet access for nodes. If false, the network doesn't have NAT gateways or public
    subnets. Nodes then reach AWS only through `interface_endpoints`, and all images must be in a
    registry that the nodes can reach (ECR). Default: true.
    """
    interface_endpoints: NotRequired[list[str]]
    """AWS services for which the private subnets have an endpoint, by the last part of the service
    name (ssm, autoscaling). Without NAT gateways, the component also adds the endpoints that EKS
    nodes need. Default: none.
    """
    flow_logs: NotRequired[bool]
    """Enable flow logs for the VPC, with one year of retention. Default: true."""
    permissions_boundary_arn: NotRequired[pulumi.Input[str]]
    """Permissions boundary of the flow log role, for accounts that require one. Default: none."""
    subnet_tags: NotRequired[dict[str, pulumi.Input[str]]]
    """Additional tags on the private subnets, by which other tools can find the subnets
    (karpenter.sh/discovery). Default: none.
    """
    tags: NotRequired[dict[str, pulumi.Input[str]]]
    """Tags for all taggable resources."""


class EksNetwork(pulumi.ComponentResource):
    """A VPC with a private and a public subnet in each zone. Nodes are in the private subnets and
    use NAT for outbound traffic.
    """

    vpc_id: pulumi.Output[str]
    """ID of the VPC."""
    private_subnet_ids: pulumi.Output[list[str]]
    """Subnets for nodes and for the control plane's network interfaces."""
    public_subnet_ids: pulumi.Output[list[str]]
    """Subnets of the NAT gateways and internet-facing load balancers."""
    zones: pulumi.Output[list[str]]
    """Zone of each private subnet, in the same order."""

    def __init__(
        self, name: str, args: EksNetworkArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        read = InputReader("EksNetwork", name, args, EksNetworkArgs)
        named, count = read_zones(read)
        cidr = read.text("vpc_cidr", "10.0.0.0/16", check=check_vpc_cidr)
        way_out = read_way_out(read)
        flow_logs = read.flag("flow_logs", True)
        boundary = read_boundary(read)
        tags, private_tags = read_role_tags(read), read_tags(read, "subnet_tags")
        read.finish()

        super().__init__("pulumi-dra:index:EksNetwork", name, {}, opts)
        self._children = Children(self, opts)
        self._tags, self._subnet_tags = (
            tags,
            {"private": private_tags, "public": dict[str, pulumi.Input[str]]()},
        )
        chosen = self._choose_zones(named, count)
        addresses = plan_addresses(cidr, sorted(chosen))
        vpc = aws.ec2.Vpc(
            f"{name}-vpc",
            cidr_block=cidr,
            enable_dns_hostnames=True,
            enable_dns_support=True,
            tags=self._named("vpc"),
            opts=self._children.options(),
        )
        # It has no rules, so a resource that doesn't name a security group gets no access.
        aws.ec2.DefaultSecurityGroup(
            f"{name}-default",
            vpc_id=vpc.id,
            tags=self._named("default"),
            opts=self._children.options(),
        )
        if flow_logs:
            declare_flow_logs(name, vpc, self._children, tags, boundary)
        public = self._declare_public_side(vpc, addresses) if way_out.nat_gateways else {}
        regional = [zone for zone in chosen if not CLOUD.is_local_zone(zone)]
        of_gateways = regional[:1] if way_out.single_nat_gateway else sorted(regional)
        gateways = self._declare_nat(public, of_gateways if way_out.nat_gateways else [])
        private = self._declare_private_side(vpc, addresses, gateways)
        inside = [subnet.id for subnet in private.values()]
        self._egress += declare_endpoints(
            name, way_out.services, vpc, cidr, inside, self._named, self._children.options
        )

        self.private_subnets = private
        self.vpc_id = vpc.id
        self.private_subnet_ids = pulumi.Output.all(*[subnet.id for subnet in private.values()])
        self.public_subnet_ids = pulumi.Output.all(*[subnet.id for subnet in public.values()])
        self.zones = pulumi.Output.from_input(list(addresses))
        self.register_outputs(
            {
                "vpc_id": self.vpc_id,
                "private_subnet_ids": self.private_subnet_ids,
                "public_subnet_ids": self.public_subnet_ids,
                "zones": self.zones,
            }
        )

    def _named(self, part: str, **more: str) -> dict[str, pulumi.Input[str]]:
        return {"Name": f"{self._name}-{part}", **more, **self._tags}

    def _choose_zones(self, named: list[str], count: int) -> list[str]:
        """Return the zones. Look them up in AWS only if some aren't named.

        The lookup is immediate instead of an output, because subnets are named after their zones.
        The SDK's function (`aws.get_availability_zones`) ignores the dependencies of the lookup, so
        the program doesn't use it (pulumi/pulumi:sdk/python/lib/pulumi/invoke.py@v3.272.0,
        `InvokeOptions.merge`).
        """
        if zones_are_named(named, count):
            return named
        found = pulumi.runtime.invoke(
            "aws:index/getAvailabilityZones:getAvailabilityZones",
            {
                "state": "available",
                "excludeZoneIds": list(ZONE_IDS_WITHOUT_EKS),
                "filters": [{"name": "opt-in-status", "values": ["opt-in-not-required"]}],
            },
            opts=self._children.invoke_options(version=version("pulumi_aws")),
        )
        # a provider that isn't configured yet doesn't return anything
        answer = cast(Mapping[str, Any], found.value or {})
        try:
            return choose_zones(named, count, answer.get("names") or [])
        except ValueError as error:
            raise pulumi.RunError(f'EksNetwork "{self._name}": {error}; set `zones`') from None

    def _subnet(
        self, side: str, zone: str, block: str, vpc: aws.ec2.Vpc, role: str
    ) -> aws.ec2.Subnet:
        return aws.ec2.Subnet(
            f"{self._name}-{side}-{zone}",
            vpc_id=vpc.id,
            availability_zone=zone,
            cidr_block=block,
            map_public_ip_on_launch=False,
            tags={
                **self._named(f"{side}-{zone}", **{f"kubernetes.io/role/{role}": "1"}),
                **self._subnet_tags[side],
            },
            opts=self._children.options(),
        )

    def _declare_public_side(
        self, vpc: aws.ec2.Vpc, addresses: dict[str, ZoneAddresses]
    ) -> dict[str, aws.ec2.Subnet]:
        name, options = self._name, self._children.options
        internet = aws.ec2.InternetGateway(
            f"{name}-internet", vpc_id=vpc.id, tags=self._named("internet"), opts=options()
        )
        table = aws.ec2.RouteTable(
            f"{name}-public", vpc_id=vpc.id, tags=self._named("public"), opts=options()
        )
        self._internet_route = aws.ec2.Route(
            f"{name}-public-internet",
            route_table_id=table.id,
            destination_cidr_block="0.0.0.0/0",
            gateway_id=internet.id,
            opts=options(),
        )
        subnets: dict[str, aws.ec2.Subnet] = {}
        for zone, blocks in addresses.items():
            subnets[zone] = self._subnet("public", zone, blocks.public, vpc, "elb")
            aws.ec2.RouteTableAssociation(
                f"{name}-public-{zone}",
                subnet_id=subnets[zone].id,
                route_table_id=table.id,
                opts=options(depends_on=[self._internet_route]),
            )
        return subnets

    def _declare_nat(
        self, public: dict[str, aws.ec2.Subnet], zones: list[str]
    ) -> dict[str, aws.ec2.NatGateway]:
        gateways: dict[str, aws.ec2.NatGateway] = {}
        for zone in zones:
            # An address can be released, and a gateway works, only while the VPC has an internet
            # gateway.
            options = self._children.options(depends_on=[self._internet_route])
            address = aws.ec2.Eip(
                f"{self._name}-nat-{zone}",
                domain="vpc",
                tags=self._named(f"nat-{zone}"),
                opts=options,
            )
            gateways[zone] = aws.ec2.NatGateway(
                f"{self._name}-nat-{zone}",
                allocation_id=address.allocation_id,
                subnet_id=public[zone].id,
                tags=self._named(f"nat-{zone}"),
                opts=options,
            )
        return gateways

    def _declare_private_side(
        self,
        vpc: aws.ec2.Vpc,
        addresses: dict[str, ZoneAddresses],
        gateways: dict[str, aws.ec2.NatGateway],
    ) -> dict[str, aws.ec2.Subnet]:
        name, options = self._name, self._children.options
        any_gateway = next(iter(gateways.values()), None)
        subnets: dict[str, aws.ec2.Subnet] = {}
        tables: list[aws.ec2.RouteTable] = []
        self._egress: list[pulumi.Resource] = []
        for zone, blocks in addresses.items():
            table = aws.ec2.RouteTable(
                f"{name}-private-{zone}",
                vpc_id=vpc.id,
                tags=self._named(f"private-{zone}"),
                opts=options(),
            )
            if gateway := gateways.get(zone, any_gateway):
                route = aws.ec2.Route(
                    f"{name}-private-{zone}-nat",
                    route_table_id=table.id,
                    destination_cidr_block="0.0.0.0/0",
                    nat_gateway_id=gateway.id,
                    opts=options(),
                )
                self._egress.append(route)
            subnets[zone] = self._subnet("private", zone, blocks.private, vpc, "internal-elb")
            association = aws.ec2.RouteTableAssociation(
                f"{name}-private-{zone}",
                subnet_id=subnets[zone].id,
                route_table_id=table.id,
                opts=options(),
            )
            tables.append(table)
            self._egress.append(association)
        aws.ec2.VpcEndpoint(
            # image layers come from S3 without passing through the NAT gateways and their charges
            f"{name}-s3",
            vpc_id=vpc.id,
            service_name=vpc.arn.apply(lambda arn: f"com.amazonaws.{arn.split(':')[3]}.s3"),
            vpc_endpoint_type="Gateway",
            route_table_ids=[table.id for table in tables],
            tags=self._named("s3"),
            opts=options(),
        )
        return subnets

    @property
    def egress(self) -> list[pulumi.Resource]:
        """The outbound resources that nodes need, created before the nodes and deleted
        after them.
        """
        return list(self._egress)


def read_zones(read: InputReader) -> tuple[list[str], int]:
    """Return `zones` and `zone_count`, which is 0 if all zones are named."""
    named = read.texts("zones", check=CLOUD.zone_fault)
    if problem := repetition_fault(named):
        read.refuse("zones", problem)
    counts = CLOUD.zone_counts
    count = read.whole("zone_count", FEWEST, least=counts[0], most=counts[-1])
    return named, count if read.has("zone_count") or not named else 0
