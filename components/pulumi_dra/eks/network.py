"""A VPC for an EKS cluster: nodes in private subnets, a way out through NAT, nothing that lets the world in."""

# No `from __future__ import annotations` in component modules: Pulumi's schema analyzer reads the annotations.
from typing import NotRequired, TypedDict

import pulumi
import pulumi_aws as aws

from pulumi_dra.children import Children
from pulumi_dra.eks.address_plan import MAX_ZONES, check_vpc_cidr, plan_addresses
from pulumi_dra.eks.flow_logs import declare_flow_logs
from pulumi_dra.eks.zones import choose_zones
from pulumi_dra.inputs import InputReader

# EKS cannot place a control plane in these (EKS user guide, “Subnet requirements for clusters”).
ZONE_IDS_WITHOUT_EKS = ("use1-az3", "usw1-az2", "cac1-az3")


class EksNetworkArgs(TypedDict):
    """Inputs of EksNetwork."""

    zone_count: NotRequired[int]
    """How many availability zones the network spans, 2 to 6. Default 2."""
    zones: NotRequired[list[str]]
    """Zones that must be among them, by name (us-east-1a); the rest are the region's first ones."""
    cidr_block: NotRequired[str]
    """Address range of the VPC, a /16 to a /20. Default 10.0.0.0/16."""
    single_nat_gateway: NotRequired[bool]
    """One NAT gateway for all zones instead of one in each: cheaper, and a zone's failure cuts off the others.
    Default false."""
    flow_logs: NotRequired[bool]
    """Whether the VPC logs its flows, kept for a year. Default true."""
    tags: NotRequired[dict[str, pulumi.Input[str]]]
    """Tags on everything that takes tags."""


class EksNetwork(pulumi.ComponentResource):
    """A VPC with a private and a public subnet in each zone. Nodes live in the private ones and reach out by NAT."""

    vpc_id: pulumi.Output[str]
    """Id of the VPC."""
    private_subnet_ids: pulumi.Output[list[str]]
    """Subnets for nodes and for the control plane's network interfaces."""
    public_subnet_ids: pulumi.Output[list[str]]
    """Subnets of the NAT gateways, and of load balancers that face the internet."""
    zones: pulumi.Output[list[str]]
    """Zone of each private subnet, in the same order."""

    def __init__(self, name: str, args: EksNetworkArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        read = InputReader("EksNetwork", name, args, EksNetworkArgs)
        count = read.whole("zone_count", 2, least=2, most=MAX_ZONES)
        named = read.texts("zones", pattern=r"[a-z]{2}(-[a-z]+)+-\d[a-z]", meaning="an availability zone (us-east-1a)")
        cidr = read.text("cidr_block", "10.0.0.0/16", check=check_vpc_cidr)
        single_nat = read.flag("single_nat_gateway", False)
        flow_logs = read.flag("flow_logs", True)
        tags = read.labels("tags")
        if len(named) > count:
            read.refuse("zones", f"names {len(named)} zones, but zone_count is {count}")
        if len(set(named)) < len(named):
            read.refuse("zones", "names a zone twice")
        read.finish()

        super().__init__("pulumi-dra:index:EksNetwork", name, {}, opts)
        self._children = Children(self, opts)
        self._tags = tags
        zones = self._choose_zones(named, count)
        addresses = plan_addresses(cidr, count)
        vpc = aws.ec2.Vpc(
            f"{name}-vpc",
            cidr_block=cidr,
            enable_dns_hostnames=True,
            enable_dns_support=True,
            tags=self._named("vpc"),
            opts=self._children.options(),
        )
        # A default security group without rules: what forgets to name its own gets nothing.
        aws.ec2.DefaultSecurityGroup(
            f"{name}-default", vpc_id=vpc.id, tags=self._named("default"), opts=self._children.options()
        )
        if flow_logs:
            declare_flow_logs(name, vpc, self._children, tags)
        public = self._declare_public_side(vpc, zones, addresses.public)
        gateways = self._declare_nat(public, 1 if single_nat else count)
        private = self._declare_private_side(vpc, zones, addresses.private, gateways)

        self.vpc_id = vpc.id
        self.private_subnet_ids = pulumi.Output.all(*[subnet.id for subnet in private])
        self.public_subnet_ids = pulumi.Output.all(*[subnet.id for subnet in public])
        self.zones = pulumi.Output.all(*zones)
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

    def _choose_zones(self, named: list[str], count: int) -> list[pulumi.Input[str]]:
        """Return the zones in order of name; the cloud is asked only when some have no name."""
        if len(named) == count:
            return [*sorted(named)]
        available = aws.get_availability_zones_output(
            state="available",
            exclude_zone_ids=list(ZONE_IDS_WITHOUT_EKS),
            filters=[{"name": "opt-in-status", "values": ["opt-in-not-required"]}],
            opts=self._children.invoke_options(),
        )
        chosen = available.names.apply(lambda names: choose_zones(named, count, names))
        return [chosen.apply(lambda zones, at=at: zones[at]) for at in range(count)]

    def _declare_public_side(
        self, vpc: aws.ec2.Vpc, zones: list[pulumi.Input[str]], blocks: tuple[str, ...]
    ) -> list[aws.ec2.Subnet]:
        name, options = self._name, self._children.options
        internet = aws.ec2.InternetGateway(
            f"{name}-internet", vpc_id=vpc.id, tags=self._named("internet"), opts=options()
        )
        table = aws.ec2.RouteTable(f"{name}-public", vpc_id=vpc.id, tags=self._named("public"), opts=options())
        route = aws.ec2.Route(
            f"{name}-public-internet",
            route_table_id=table.id,
            destination_cidr_block="0.0.0.0/0",
            gateway_id=internet.id,
            opts=options(),
        )
        subnets: list[aws.ec2.Subnet] = []
        for index, (zone, block) in enumerate(zip(zones, blocks, strict=True)):
            subnet = aws.ec2.Subnet(
                f"{name}-public-{index}",
                vpc_id=vpc.id,
                availability_zone=zone,
                cidr_block=block,
                map_public_ip_on_launch=False,
                tags=self._named(f"public-{index}", **{"kubernetes.io/role/elb": "1"}),
                opts=options(),
            )
            aws.ec2.RouteTableAssociation(
                f"{name}-public-{index}", subnet_id=subnet.id, route_table_id=table.id, opts=options(depends_on=[route])
            )
            subnets.append(subnet)
        self._internet_route = route
        return subnets

    def _declare_nat(self, public: list[aws.ec2.Subnet], count: int) -> list[aws.ec2.NatGateway]:
        gateways: list[aws.ec2.NatGateway] = []
        for index, subnet in enumerate(public[:count]):
            # An address can be released, and a gateway can work, only while the VPC has its way to the internet.
            options = self._children.options(depends_on=[self._internet_route])
            address = aws.ec2.Eip(
                f"{self._name}-nat-{index}", domain="vpc", tags=self._named(f"nat-{index}"), opts=options
            )
            gateways.append(
                aws.ec2.NatGateway(
                    f"{self._name}-nat-{index}",
                    allocation_id=address.allocation_id,
                    subnet_id=subnet.id,
                    tags=self._named(f"nat-{index}"),
                    opts=options,
                )
            )
        return gateways

    def _declare_private_side(
        self,
        vpc: aws.ec2.Vpc,
        zones: list[pulumi.Input[str]],
        blocks: tuple[str, ...],
        gateways: list[aws.ec2.NatGateway],
    ) -> list[aws.ec2.Subnet]:
        name, options = self._name, self._children.options
        subnets: list[aws.ec2.Subnet] = []
        tables: list[aws.ec2.RouteTable] = []
        self._egress: list[pulumi.Resource] = []
        for index, (zone, block) in enumerate(zip(zones, blocks, strict=True)):
            table = aws.ec2.RouteTable(
                f"{name}-private-{index}", vpc_id=vpc.id, tags=self._named(f"private-{index}"), opts=options()
            )
            route = aws.ec2.Route(
                f"{name}-private-{index}-nat",
                route_table_id=table.id,
                destination_cidr_block="0.0.0.0/0",
                nat_gateway_id=gateways[index % len(gateways)].id,
                opts=options(),
            )
            subnet = aws.ec2.Subnet(
                f"{name}-private-{index}",
                vpc_id=vpc.id,
                availability_zone=zone,
                cidr_block=block,
                tags=self._named(f"private-{index}", **{"kubernetes.io/role/internal-elb": "1"}),
                opts=options(),
            )
            association = aws.ec2.RouteTableAssociation(
                f"{name}-private-{index}", subnet_id=subnet.id, route_table_id=table.id, opts=options()
            )
            subnets.append(subnet)
            tables.append(table)
            self._egress += [route, association]
        aws.ec2.VpcEndpoint(
            f"{name}-s3",  # image layers come from S3 without passing (and paying for) the NAT gateways
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
        """What nodes need to reach the internet; nodes must be created after it and deleted before it."""
        return list(self._egress)
