"""A virtual network for an AKS cluster: one subnet for all zones, no public addresses, outbound
traffic through NAT.
"""

# No `from __future__ import annotations` in component modules: Pulumi's schema analyzer reads the
# annotations.
from typing import Any, NotRequired, TypedDict

import pulumi

from dra_planner.clouds.aks import CLOUD
from pulumi_dra.aks.address_ranges import NEW_NETWORK
from pulumi_dra.aks.naming import LABEL_NAME, NETWORK_PART_NAME, read_tags
from pulumi_dra.child_options import Children
from pulumi_dra.inputs.reader import InputReader
from pulumi_dra.resource_names import fitting

NODES_CIDR = "10.224.0.0/20"


class AksNetworkArgs(TypedDict):
    """Inputs of AksNetwork."""

    location: str
    """Region, for example eastus."""
    resource_group_name: pulumi.Input[str]
    """Resource group of the new network."""
    tags: NotRequired[dict[str, pulumi.Input[str]]]
    """Tags for all created resources."""


class AksNetwork(pulumi.ComponentResource):
    """A virtual network with a subnet for private nodes, and a NAT gateway for outbound traffic."""

    network_id: pulumi.Output[str]
    """ID of the virtual network."""
    subnet_id: pulumi.Output[str]
    """ID of the nodes' subnet."""
    egress_ip: pulumi.Output[str]
    """Public IP address for outbound traffic."""

    def __init__(
        self, name: str, args: AksNetworkArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        read = InputReader("AksNetwork", name, args, AksNetworkArgs)
        location = read.text("location", check=CLOUD.region_fault)
        group = read.required_identifier("resource_group_name")
        tags = read_tags(read)
        read.finish()
        super().__init__("pulumi-dra:index:AksNetwork", name, {}, opts)
        self._declare(
            name,
            {"resource_group_name": group, "location": location, "tags": tags},
            Children(self, opts),
        )
        self.register_outputs(
            {
                "network_id": self.network_id,
                "subnet_id": self.subnet_id,
                "egress_ip": self.egress_ip,
            }
        )

    def _declare(self, name: str, placed: dict[str, Any], children: Children) -> None:
        """Declare the resources, all `placed` in the same group and region, and set the outputs."""
        # Importing this module takes a second, and clusters in an existing subnet don't need it.
        from pulumi_azure_native import network

        options = children.options
        virtual = network.VirtualNetwork(
            fitting(f"{name}-network", LABEL_NAME),
            address_space={"address_prefixes": [NEW_NETWORK]},
            **placed,
            # The subnets are separate resources. If the network also listed them, an update would
            # delete them.
            opts=options(ignore_changes=["subnets"]),
        )
        address = network.PublicIPAddress(
            fitting(f"{name}-egress", NETWORK_PART_NAME),
            public_ip_allocation_method="Static",
            sku={"name": "Standard"},
            **placed,
            opts=options(),
        )
        gateway = network.NatGateway(
            fitting(f"{name}-nat", NETWORK_PART_NAME),
            sku={"name": "Standard"},
            public_ip_addresses=[{"id": address.id}],
            **placed,
            opts=options(replace_on_changes=["location"]),
        )
        # Without custom rules, Azure's rules apply, which block all inbound traffic from outside
        # the network. AKS adds rules only to its own security group, which is attached to the
        # network interfaces of the nodes.
        filters = network.NetworkSecurityGroup(
            fitting(f"{name}-filters", NETWORK_PART_NAME),
            **placed,
            opts=options(replace_on_changes=["location"]),
        )
        subnet = network.Subnet(
            fitting(f"{name}-nodes", LABEL_NAME),
            resource_group_name=placed["resource_group_name"],
            virtual_network_name=virtual.name,
            address_prefix=NODES_CIDR,
            nat_gateway={"id": gateway.id},
            network_security_group={"id": filters.id},
            default_outbound_access=False,
            private_endpoint_network_policies="Enabled",
            opts=options(),
        )
        self.network_id, self.subnet_id = virtual.id, subnet.id
        self.egress_ip = address.ip_address.apply(lambda known: known or "")
