"""A VPC for a GKE cluster: private nodes, ranges for pods and services, and outbound traffic
through Cloud NAT.
"""

# No `from __future__ import annotations` in component modules: Pulumi's schema analyzer reads the
# annotations.
from typing import NotRequired, TypedDict

import pulumi

from dra_planner.clouds.gke import CLOUD
from pulumi_dra.child_options import Children
from pulumi_dra.gke.naming import COMPUTE_NAME
from pulumi_dra.gke.network.ranges import read_ranges
from pulumi_dra.inputs.reader import InputReader
from pulumi_dra.resource_names import fitting


class GkeNetworkArgs(TypedDict):
    """Inputs of GkeNetwork."""

    region: str
    """Region of the subnet, for example us-central1."""
    nodes_cidr: NotRequired[str]
    """Node CIDR. Default: 10.0.0.0/20, for 4092 nodes."""
    pods_cidr: NotRequired[str]
    """Pod CIDR, with a /24 per node. Default: 10.4.0.0/14, for 1024 nodes."""
    service_cidr: NotRequired[str]
    """Service CIDR. Default: 10.8.0.0/20."""
    flow_logs: NotRequired[bool]
    """Enable flow logs for the subnet. Default: true."""


class GkeNetwork(pulumi.ComponentResource):
    """A VPC with one subnet, and ranges for pods and services. Private nodes use NAT for outbound
    traffic.
    """

    network_id: pulumi.Output[str]
    """ID of the network."""
    subnetwork_id: pulumi.Output[str]
    """ID of the subnet."""
    pods_range_name: pulumi.Output[str]
    """Name of the range for pods."""
    services_range_name: pulumi.Output[str]
    """Name of the range for services."""

    def __init__(
        self, name: str, args: GkeNetworkArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        read = InputReader("GkeNetwork", name, args, GkeNetworkArgs)
        region = read.text("region", check=CLOUD.region_fault)
        ranges = read_ranges(read)
        flow_logs = read.flag("flow_logs", True)
        read.finish()
        # Importing this module takes seconds, and clusters in an existing network don't need it.
        from pulumi_gcp import compute

        super().__init__("pulumi-dra:index:GkeNetwork", name, {}, opts)
        options = Children(self, opts).options
        network = compute.Network(
            fitting(f"{name}-network", COMPUTE_NAME),
            auto_create_subnetworks=False,
            routing_mode="REGIONAL",
            opts=options(),
        )
        subnet = compute.Subnetwork(
            fitting(f"{name}-nodes", COMPUTE_NAME),
            network=network.id,
            region=region,
            ip_cidr_range=ranges.nodes_cidr,
            secondary_ip_ranges=[
                {"range_name": "pods", "ip_cidr_range": ranges.pods_cidr},
                {"range_name": "services", "ip_cidr_range": ranges.service_cidr},
            ],
            private_ip_google_access=True,
            log_config={"aggregation_interval": "INTERVAL_10_MIN", "flow_sampling": 0.1}
            if flow_logs
            else None,
            opts=options(),
        )
        # GKE creates firewall rules for the traffic that its nodes must accept. This rule denies
        # and logs all other inbound traffic.
        compute.Firewall(
            fitting(f"{name}-deny", COMPUTE_NAME),
            network=network.id,
            direction="INGRESS",
            priority=65534,
            denies=[{"protocol": "all"}],
            source_ranges=["0.0.0.0/0"],
            opts=options(),
        )
        self.egress: list[pulumi.Resource] = [self._declare_nat(network, subnet, region, options())]
        self.network_id, self.subnetwork_id = network.id, subnet.id
        self.pods_range_name = pulumi.Output.from_input("pods")
        self.services_range_name = pulumi.Output.from_input("services")
        self.register_outputs(
            {
                "network_id": self.network_id,
                "subnetwork_id": self.subnetwork_id,
                "pods_range_name": self.pods_range_name,
                "services_range_name": self.services_range_name,
            }
        )

    def _declare_nat(
        self,
        network: pulumi.CustomResource,
        subnet: pulumi.CustomResource,
        region: str,
        opts: pulumi.ResourceOptions,
    ) -> pulumi.Resource:
        """Declare the NAT of nodes, which have no public addresses."""
        from pulumi_gcp import compute

        name = self._name
        router = compute.Router(
            fitting(f"{name}-router", COMPUTE_NAME), network=network.id, region=region, opts=opts
        )
        return compute.RouterNat(
            fitting(f"{name}-nat", COMPUTE_NAME),
            router=router.name,
            region=region,
            nat_ip_allocate_option="AUTO_ONLY",
            source_subnetwork_ip_ranges_to_nat="LIST_OF_SUBNETWORKS",
            subnetworks=[{"name": subnet.id, "source_ip_ranges_to_nats": ["ALL_IP_RANGES"]}],
            log_config={"enable": True, "filter": "ERRORS_ONLY"},
            opts=opts,
        )
