"""An EKS cluster that DRA can run on: private by default, encrypted, with explicit access and add-ons of its own."""

# No `from __future__ import annotations` in component modules: Pulumi's schema analyzer reads the annotations.
from collections.abc import Sequence
from typing import Any, NotRequired, TypedDict

import pulumi
import pulumi_aws as aws
from pulumi_aws.eks.outputs import ClusterIdentity

from pulumi_dra.children import Children
from pulumi_dra.cidrs import check_public_cidr
from pulumi_dra.eks.access import declare_access
from pulumi_dra.eks.addons import ADDONS, declare_addons_after_nodes, declare_addons_before_nodes
from pulumi_dra.eks.address_plan import MAX_ZONES, check_vpc_cidr
from pulumi_dra.eks.kubeconfig import eks_kubeconfig
from pulumi_dra.eks.network import EksNetwork
from pulumi_dra.eks.roles import CLUSTER_POLICIES, NODE_POLICIES, declare_role
from pulumi_dra.eks.system_nodes import declare_system_nodes
from pulumi_dra.inputs import InputReader
from pulumi_dra.kubernetes_version import check_version

LOG_TYPES = ("api", "audit", "authenticator", "controllerManager", "scheduler")


class EksClusterArgs(TypedDict):
    """Inputs of EksCluster."""

    kubernetes_version: str
    """Kubernetes version, "1.34" or later: DRA needs resource.k8s.io/v1."""
    public_access_cidrs: NotRequired[list[str]]
    """Networks that may reach the API server from outside (203.0.113.0/24). None: no public endpoint at all, and
    whoever runs `pulumi up` must be inside the network. The private endpoint is always there."""
    zone_count: NotRequired[int]
    """How many availability zones a new network spans, 2 to 6. Default 2."""
    zones: NotRequired[list[str]]
    """Zones that a new network must have, by name (us-east-1a); the rest are the region's first ones."""
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


class EksCluster(pulumi.ComponentResource):
    """An EKS cluster with its network, roles, add-ons and system nodes, ready for GPU pools."""

    name: pulumi.Output[str]
    """Name of the cluster."""
    arn: pulumi.Output[str]
    """ARN of the cluster."""
    version: pulumi.Output[str]
    """Kubernetes version of the control plane."""
    endpoint: pulumi.Output[str]
    """Address of the API server."""
    kubeconfig: pulumi.Output[dict[str, Any]]
    """Kubeconfig, secret: whoever uses it gets a token from the AWS CLI."""
    kubeconfig_json: pulumi.Output[str]
    """The same as JSON text."""
    cluster_security_group_id: pulumi.Output[str]
    """Security group that EKS puts on the control plane and on every node."""
    node_role_arn: pulumi.Output[str]
    """Role of the nodes, for GPU pools too."""
    oidc_provider_arn: pulumi.Output[str]
    """ARN of the OIDC provider, for IAM roles of service accounts."""
    oidc_provider_url: pulumi.Output[str]
    """URL of the OIDC issuer."""
    vpc_id: pulumi.Output[str]
    """Id of the VPC."""
    subnet_ids: pulumi.Output[list[str]]
    """Private subnets of the nodes."""
    subnet_zones: pulumi.Output[list[str]]
    """Zone of each of these subnets, in the same order."""

    def __init__(self, name: str, args: EksClusterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        read = InputReader("EksCluster", name, args, EksClusterArgs)
        version = read.text("kubernetes_version", check=check_version)
        cidrs = read.texts("public_access_cidrs", check=check_public_cidr)
        subnet_ids = read.identifiers("subnet_ids")
        zone_count = read.whole("zone_count", 2, least=2, most=MAX_ZONES)
        zones = read.texts("zones")
        vpc_cidr = read.text("vpc_cidr", "10.0.0.0/16", check=check_vpc_cidr)
        single_nat = read.flag("single_nat_gateway", False)
        admins = read.identifiers("admin_principal_arns")
        kms_key_arn = read.identifier("kms_key_arn", pattern="arn:.+:kms:.+", meaning="the ARN of a KMS key")
        addon_versions = read.labels("addon_versions")
        network_policy = read.flag("network_policy", True)
        system_machine = read.text("system_machine", "m7i.large")
        system_count = read.whole("system_count", 2, least=1, most=100)
        deletion_protection = read.flag("deletion_protection", False)
        tags = read.labels("tags")
        for addon in addon_versions:
            if addon not in ADDONS:
                read.refuse(f"addon_versions.{addon}", f"is no add-on of this component; they are {', '.join(ADDONS)}")
        if read.has("subnet_ids"):
            for key in ("zone_count", "zones", "vpc_cidr", "single_nat_gateway"):
                if read.has(key):
                    read.refuse(key, "is for a new network; subnet_ids name an existing one")
            if isinstance(subnet_ids, list) and len(subnet_ids) < 2:
                read.refuse("subnet_ids", "must name at least two subnets: EKS needs two zones")
        read.finish()

        super().__init__("pulumi-dra:index:EksCluster", name, {}, opts)
        children = self._children = Children(self, opts)
        options = children.options
        ways_out: list[pulumi.Resource] = []
        if read.has("subnet_ids"):
            self.subnet_ids = _texts(subnet_ids)
            self.subnet_zones = self._zones_of(self.subnet_ids)
        else:
            network = EksNetwork(
                f"{name}-network",
                {
                    "zone_count": zone_count,
                    "zones": zones,
                    "cidr_block": vpc_cidr,
                    "single_nat_gateway": single_nat,
                    "tags": tags,
                },
                opts=options(),
            )
            ways_out = network.egress
            self.subnet_ids, self.subnet_zones = network.private_subnet_ids, network.zones

        role, role_policies = declare_role(
            f"{name}-cluster", "eks.amazonaws.com", CLUSTER_POLICIES, self._children, tags
        )
        node_role, node_policies = declare_role(
            f"{name}-node", "ec2.amazonaws.com", NODE_POLICIES, self._children, tags
        )
        if kms_key_arn is None:
            kms_key_arn = aws.kms.Key(
                f"{name}-secrets",
                description=f"Kubernetes secrets of {name}",
                enable_key_rotation=True,
                tags=tags,
                opts=options(),
            ).arn
        vpc_config: aws.eks.ClusterVpcConfigArgsDict = {
            "subnet_ids": self.subnet_ids,
            "endpoint_private_access": True,
            "endpoint_public_access": bool(cidrs),
        }
        if cidrs:
            vpc_config["public_access_cidrs"] = cidrs
        cluster = aws.eks.Cluster(
            f"{name}-cluster",
            role_arn=role.arn,
            version=version,
            vpc_config=vpc_config,
            access_config={"authentication_mode": "API", "bootstrap_cluster_creator_admin_permissions": False},
            encryption_config={"provider": {"key_arn": kms_key_arn}, "resources": ["secrets"]},
            enabled_cluster_log_types=list(LOG_TYPES),
            # The add-ons below are the only ones: EKS would otherwise install unmanaged copies first.
            bootstrap_self_managed_addons=False,
            deletion_protection=deletion_protection,
            tags=tags,
            opts=options(depends_on=[*role_policies, *ways_out]),
        )
        access = declare_access(name, cluster, admins if read.has("admin_principal_arns") else None, children)
        issuer = cluster.identities.apply(_issuer)
        oidc = aws.iam.OpenIdConnectProvider(
            f"{name}-oidc", url=issuer, client_id_lists=["sts.amazonaws.com"], tags=tags, opts=options()
        )
        early = declare_addons_before_nodes(name, cluster, addon_versions, network_policy, children, tags)
        system_nodes = declare_system_nodes(
            name,
            cluster,
            node_role,
            self.subnet_ids,
            machine=system_machine,
            count=system_count,
            tags=tags,
            children=children,
            depends_on=[*node_policies, *early, *ways_out],
        )
        late = declare_addons_after_nodes(name, cluster, addon_versions, children, tags, [system_nodes])
        self._usable: list[pulumi.Resource] = [*access, system_nodes, *late]
        self._nodes_wait_for: list[pulumi.Resource] = [*node_policies, *early, *ways_out]

        self.name, self.arn, self.endpoint = cluster.name, cluster.arn, cluster.endpoint
        self.kubeconfig_json = pulumi.Output.secret(
            pulumi.Output.all(cluster.name, cluster.arn, cluster.endpoint, cluster.certificate_authority.data).apply(
                lambda parts: eks_kubeconfig(*parts)
            )
        )
        self.kubeconfig = pulumi.Output.json_loads(self.kubeconfig_json)
        self.cluster_security_group_id = cluster.vpc_config.apply(lambda config: config.cluster_security_group_id or "")
        self.node_role_arn = node_role.arn
        self.oidc_provider_arn, self.oidc_provider_url = oidc.arn, issuer
        self.vpc_id = cluster.vpc_config.apply(lambda config: config.vpc_id or "")
        self.cluster_resource, self.version = cluster, cluster.version
        self.register_outputs(
            {
                "name": self.name,
                "arn": self.arn,
                "version": self.version,
                "endpoint": self.endpoint,
                "kubeconfig": self.kubeconfig,
                "kubeconfig_json": self.kubeconfig_json,
                "cluster_security_group_id": self.cluster_security_group_id,
                "node_role_arn": self.node_role_arn,
                "oidc_provider_arn": self.oidc_provider_arn,
                "oidc_provider_url": self.oidc_provider_url,
                "vpc_id": self.vpc_id,
                "subnet_ids": self.subnet_ids,
                "subnet_zones": self.subnet_zones,
            }
        )

    @property
    def usable(self) -> list[pulumi.Resource]:
        """What must be there before anything runs in the cluster: access, system nodes, add-ons."""
        return list(self._usable)

    @property
    def nodes_wait_for(self) -> list[pulumi.Resource]:
        """What a node needs to join: its role's policies, a network for pods, a way out."""
        return list(self._nodes_wait_for)

    def _zones_of(self, subnet_ids: pulumi.Output[list[str]]) -> pulumi.Output[list[str]]:
        def look_up(ids: list[str]) -> pulumi.Output[list[str]]:
            found = [aws.ec2.get_subnet_output(id=id, opts=self._children.invoke_options()) for id in ids]
            return pulumi.Output.all(*[subnet.availability_zone for subnet in found])

        return subnet_ids.apply(look_up)


def _texts(values: pulumi.Input[list[pulumi.Input[str]]]) -> pulumi.Output[list[str]]:
    """Return a list whose elements are all known when it is."""
    return pulumi.Output.from_input(values).apply(lambda items: pulumi.Output.all(*items))


def _issuer(identities: Sequence[ClusterIdentity]) -> str:
    oidcs = identities[0].oidcs
    return (oidcs[0].issuer if oidcs else None) or ""
