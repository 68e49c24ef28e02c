"""Inputs of EksCluster: what they are, and what is wrong with them."""

# No `from __future__ import annotations` in component modules: Pulumi's schema analyzer reads the annotations.
from dataclasses import dataclass
from typing import NotRequired, TypedDict

import pulumi

from pulumi_dra.cidrs import check_public_cidr
from pulumi_dra.eks.addons import ADDONS
from pulumi_dra.eks.address_plan import check_vpc_cidr
from pulumi_dra.eks.network import read_zones
from pulumi_dra.inputs import InputReader
from pulumi_dra.kubernetes_version import check_version


class EksClusterArgs(TypedDict):
    """Inputs of EksCluster."""

    kubernetes_version: str
    """Kubernetes version, "1.34" or later: DRA needs resource.k8s.io/v1."""
    public_access_cidrs: NotRequired[list[str]]
    """Networks that may reach the API server from outside (203.0.113.0/24). None: no public endpoint at all, and
    whoever runs `pulumi up` must be inside the network. The private endpoint is always there."""
    zone_count: NotRequired[int]
    """How many of the region's first zones, by name, a new network spans: 2 to 6. Default 2 where `zones` names
    none."""
    zones: NotRequired[list[str]]
    """Zones that a new network spans by name (us-east-1a), beside those of `zone_count`. A further one, or a greater
    count, adds subnets and leaves those that are there."""
    subnet_ids: NotRequired[list[pulumi.Input[str]]]
    """Existing private subnets in two zones or more, with a way out; no network is made then."""
    vpc_cidr: NotRequired[str]
    """Address range of a new network, a /16 to a /20. Default 10.0.0.0/16."""
    single_nat_gateway: NotRequired[bool]
    """One NAT gateway for all zones of a new network instead of one in each. Default false."""
    admin_principal_arns: NotRequired[list[pulumi.Input[str]]]
    """IAM roles or users that administer the cluster. Default: the one who first creates it, as an entry of its own
    that can be seen and removed. Name a role that whoever deploys can take."""
    kms_key_arn: NotRequired[pulumi.Input[str]]
    """Key that encrypts Kubernetes secrets. Default: a new one that rotates."""
    addon_versions: NotRequired[dict[str, str]]
    """Versions of the add-ons vpc-cni, kube-proxy, coredns and eks-pod-identity-agent: "v1.20.4-eksbuild.1", or
    "most-recent". Default: what EKS recommends for the Kubernetes version when the add-on is created."""
    network_policy: NotRequired[bool]
    """Whether the VPC CNI enforces NetworkPolicy. Default true."""
    system_machine: NotRequired[str]
    """Machine type of the nodes without GPUs. Default m7i.large."""
    system_count: NotRequired[int]
    """How many nodes without GPUs. Default 2."""
    deletion_protection: NotRequired[bool]
    """Whether EKS refuses to delete the cluster. Default false; `protect` in the resource options keeps Pulumi from
    deleting it."""
    tags: NotRequired[dict[str, pulumi.Input[str]]]
    """Tags on everything that takes tags."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EksClusterInputs:
    """The same, checked, with defaults filled in; None where the component makes its own."""

    kubernetes_version: str
    public_access_cidrs: list[str]
    zone_count: int
    zones: list[str]
    subnet_ids: pulumi.Input[list[pulumi.Input[str]]] | None
    vpc_cidr: str
    single_nat_gateway: bool
    admin_principal_arns: pulumi.Input[list[pulumi.Input[str]]] | None
    kms_key_arn: pulumi.Input[str] | None
    addon_versions: dict[str, pulumi.Input[str]]
    network_policy: bool
    system_machine: str
    system_count: int
    deletion_protection: bool
    tags: dict[str, pulumi.Input[str]]


def read_cluster_inputs(read: InputReader) -> EksClusterInputs:
    """Return the checked inputs; faults are noted in `read`."""
    subnet_ids = read.identifiers("subnet_ids")
    addon_versions = read.labels("addon_versions")
    for addon in addon_versions:
        if addon not in ADDONS:
            read.refuse(f"addon_versions.{addon}", f"is no add-on of this component; they are {', '.join(ADDONS)}")
    if read.has("subnet_ids"):
        for key in ("zone_count", "zones", "vpc_cidr", "single_nat_gateway"):
            if read.has(key):
                read.refuse(key, "is for a new network; subnet_ids name an existing one")
        if isinstance(subnet_ids, list) and len(subnet_ids) < 2:
            read.refuse("subnet_ids", "must name at least two subnets: EKS needs two zones")
    admins = read.identifiers("admin_principal_arns")
    zones, zone_count = read_zones(read)
    return EksClusterInputs(
        kubernetes_version=read.text("kubernetes_version", check=check_version),
        public_access_cidrs=read.texts("public_access_cidrs", check=check_public_cidr),
        zone_count=zone_count,
        zones=zones,
        subnet_ids=subnet_ids if read.has("subnet_ids") else None,
        vpc_cidr=read.text("vpc_cidr", "10.0.0.0/16", check=check_vpc_cidr),
        single_nat_gateway=read.flag("single_nat_gateway", False),
        admin_principal_arns=admins if read.has("admin_principal_arns") else None,
        kms_key_arn=read.identifier("kms_key_arn", pattern="arn:.+:kms:.+", meaning="the ARN of a KMS key"),
        addon_versions=addon_versions,
        network_policy=read.flag("network_policy", True),
        system_machine=read.text("system_machine", "m7i.large"),
        system_count=read.whole("system_count", 2, least=1, most=100),
        deletion_protection=read.flag("deletion_protection", False),
        tags=read.labels("tags"),
    )
