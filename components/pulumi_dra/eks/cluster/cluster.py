"""An EKS cluster with DRA: private by default, encrypted, with explicit access and managed
add-ons.
"""

# No `from __future__ import annotations` in component modules: Pulumi's schema analyzer reads the
# annotations.
from collections.abc import Sequence
from typing import Any

import pulumi
import pulumi_aws as aws
from pulumi_aws.eks.outputs import ClusterIdentity

from dra_planner.clouds.eks import CLOUD
from pulumi_dra.child_options import Children
from pulumi_dra.eks.access.access_entries import declare_access_entries
from pulumi_dra.eks.access.administrators import declare_access
from pulumi_dra.eks.access.credentials import Credentials, configured_credentials
from pulumi_dra.eks.access.kubeconfig import eks_kubeconfig
from pulumi_dra.eks.cluster.addons import Addons
from pulumi_dra.eks.cluster.cluster_inputs import (
    EksClusterArgs,
    EksClusterInputs,
    read_cluster_inputs,
)
from pulumi_dra.eks.cluster.control_plane_logs import declare_control_plane_logs
from pulumi_dra.eks.cluster.system_nodes import declare_system_nodes
from pulumi_dra.eks.network.network import EksNetwork, EksNetworkArgs
from pulumi_dra.eks.network.zones import subnets_in
from pulumi_dra.eks.rights.key_grants import declare_volume_grant, existing_service_role
from pulumi_dra.eks.rights.keys import account_policy, declare_key
from pulumi_dra.eks.rights.roles import (
    CLUSTER_POLICIES,
    NODE_POLICIES,
    declare_partition,
    declare_role,
)
from pulumi_dra.inputs.reader import InputReader

# Settings that EKS applies only when it creates a cluster. An imported cluster can have other
# values (hashicorp/terraform-provider-aws issues 39058 and 35824).
AT_CREATION = ("bootstrapSelfManagedAddons", "accessConfig.bootstrapClusterCreatorAdminPermissions")
LOG_TYPES = ("api", "audit", "authenticator", "controllerManager", "scheduler")


class EksCluster(pulumi.ComponentResource):
    """An EKS cluster with its network, roles, add-ons, and system nodes, ready for GPU pools."""

    name: pulumi.Output[str]
    """Name of the cluster."""
    arn: pulumi.Output[str]
    """ARN of the cluster."""
    version: pulumi.Output[str]
    """Kubernetes version of the control plane."""
    endpoint: pulumi.Output[str]
    """Address of the API server."""
    certificate_authority: pulumi.Output[str]
    """CA certificate of the cluster, in base64."""
    service_cidr: pulumi.Output[str]
    """Service CIDR."""
    kubeconfig: pulumi.Output[dict[str, Any]]
    """Kubeconfig (secret), which runs the AWS CLI to get a token."""
    kubeconfig_json: pulumi.Output[str]
    """Kubeconfig as JSON text."""
    cluster_security_group_id: pulumi.Output[str]
    """Security group that EKS attaches to the control plane and all nodes."""
    node_role_arn: pulumi.Output[str]
    """IAM role of the nodes, which GPU pools can also use."""
    oidc_provider_arn: pulumi.Output[str]
    """ARN of the OIDC provider, for IAM roles for service accounts."""
    oidc_provider_url: pulumi.Output[str]
    """URL of the OIDC issuer."""
    vpc_id: pulumi.Output[str]
    """ID of the VPC."""
    subnet_ids: pulumi.Output[list[str]]
    """Private subnets of the nodes."""
    subnet_zones: pulumi.Output[list[str]]
    """Zone of each subnet, in the same order."""

    def __init__(
        self, name: str, args: EksClusterArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        read = InputReader("EksCluster", name, args, EksClusterArgs)
        inputs = read_cluster_inputs(read)
        read.finish()
        super().__init__("pulumi-dra:index:EksCluster", name, {}, opts)
        children = self._children = Children(self, opts)
        self._partition = partition = declare_partition(children)
        ways_out = self._declare_network(inputs)
        node_role, node_policies = self._declare_node_role(inputs)
        cluster = self._declare_cluster(inputs, ways_out)
        access = declare_access(name, cluster, inputs.admin_principal_arns, partition, children)
        declare_access_entries(name, cluster, inputs.access_entries, partition, children)
        issuer = cluster.identities.apply(_issuer)
        oidc = aws.iam.OpenIdConnectProvider(
            f"{name}-oidc",
            url=issuer,
            client_id_lists=["sts.amazonaws.com"],
            tags=inputs.tags,
            opts=children.options(),
        )
        requested = inputs.addons
        addons = Addons(
            name,
            cluster,
            requested.versions,
            requested.settings,
            children,
            inputs.tags,
            inputs.permissions_boundary_arn,
        )
        early = addons.declare_before_nodes(
            partition,
            network_policy=requested.network_policy,
            prefix_delegation=requested.prefix_delegation,
        )
        self._nodes_wait_for: list[pulumi.Resource] = [*node_policies, *early, *ways_out]
        system_nodes = self.system_nodes = self._declare_system_nodes(inputs, cluster, node_role)
        late = addons.declare_after_nodes(
            [system_nodes],
            partition,
            node_monitoring=requested.node_monitoring,
            metrics_server=requested.metrics_server,
            storage_drivers=requested.storage_drivers,
        )
        self._usable: list[pulumi.Resource] = [*access, system_nodes, *late]
        self.cluster_resource = cluster
        has_own_provider = bool(opts and (opts.provider or opts.providers))
        usual = Credentials() if has_own_provider else configured_credentials()
        self._set_outputs(cluster, node_role, oidc, issuer, inputs.credentials or usual)

    def _declare_node_role(
        self, inputs: EksClusterInputs
    ) -> tuple[aws.iam.Role, list[pulumi.Resource]]:
        """Return the role of the nodes, and the resources that nodes must wait for to have its
        permissions.
        """
        name, children = self._name, self._children
        role, policies = declare_role(
            f"{name}-node",
            "ec2.amazonaws.com",
            NODE_POLICIES,
            self._partition,
            children,
            inputs.tags,
            inputs.permissions_boundary_arn,
        )
        further = [
            aws.iam.RolePolicyAttachment(
                f"{name}-node-further-{index}",
                role=role.name,
                policy_arn=policy,
                opts=children.options(),
            )
            for index, policy in enumerate(inputs.node_policy_arns)
        ]
        return role, [*policies, *further]

    def _declare_system_nodes(
        self, inputs: EksClusterInputs, cluster: aws.eks.Cluster, node_role: aws.iam.Role
    ) -> aws.eks.NodeGroup:
        return declare_system_nodes(
            self._name,
            cluster,
            node_role,
            self.subnet_ids,
            machine=inputs.system_machine,
            count=inputs.system_count,
            tags=inputs.tags,
            keep_subnets=inputs.subnet_ids is None,
            disk_kms_key=inputs.disk_kms_key,
            children=self._children,
            depends_on=[*self._nodes_wait_for, *self._declare_grants(inputs)],
        )

    def _declare_network(self, inputs: EksClusterInputs) -> list[pulumi.Resource]:
        """Set the existing or new subnets, and return the outbound resources that nodes in new
        subnets need.
        """
        self._new_subnets: dict[str, aws.ec2.Subnet] = {}
        if inputs.subnet_ids is not None:
            self.subnet_ids = _texts(inputs.subnet_ids)
            self.subnet_zones = self._zones_of(self.subnet_ids)
            first = aws.ec2.get_subnet_output(
                id=_first(inputs.subnet_ids), opts=self._children.invoke_options()
            )
            self._network_vpc_id = first.vpc_id
            return []
        settings = EksNetworkArgs(
            zones=inputs.zones,
            vpc_cidr=inputs.vpc_cidr,
            nat_gateways=inputs.way_out.nat_gateways,
            single_nat_gateway=inputs.way_out.single_nat_gateway,
            interface_endpoints=inputs.way_out.interface_endpoints,
            tags=inputs.tags,
        )
        if inputs.subnet_tags:
            settings["subnet_tags"] = inputs.subnet_tags
        if inputs.permissions_boundary_arn is not None:
            settings["permissions_boundary_arn"] = inputs.permissions_boundary_arn
        if inputs.zone_count:
            settings["zone_count"] = inputs.zone_count
        network = EksNetwork(f"{self._name}-network", settings, opts=self._children.options())
        self.subnet_ids, self.subnet_zones = network.private_subnet_ids, network.zones
        self._network_vpc_id, self._new_subnets = network.vpc_id, network.private_subnets
        return network.egress

    def _declare_cluster(
        self, inputs: EksClusterInputs, ways_out: list[pulumi.Resource]
    ) -> aws.eks.Cluster:
        name, children = self._name, self._children
        role_arn, policies = self._declare_cluster_role(inputs)
        key_arn = self._declare_secrets_key(inputs, role_arn)
        logs = self._declare_logs(inputs)
        return aws.eks.Cluster(
            f"{name}-cluster",
            name=inputs.cluster_name or None,
            role_arn=role_arn,
            version=inputs.kubernetes_version,
            vpc_config=self._endpoint_access(inputs),
            access_config={
                "authentication_mode": "API",
                "bootstrap_cluster_creator_admin_permissions": False,
            },
            encryption_config={"provider": {"key_arn": key_arn}, "resources": ["secrets"]},
            enabled_cluster_log_types=list(LOG_TYPES),
            # The cluster has only the add-ons that are declared here. Otherwise, EKS would first
            # install unmanaged copies.
            bootstrap_self_managed_addons=False,
            deletion_protection=inputs.deletion_protection,
            kubernetes_network_config={"service_ipv4_cidr": inputs.service_cidr}
            if inputs.service_cidr
            else None,
            # "Off" is a value, too. The provider keeps an omitted upgrade policy. For an omitted
            # zonal shift, it sends an update without content, which EKS rejects
            # (hashicorp/terraform-provider-aws:internal/service/eks/cluster.go@00555dc5).
            control_plane_scaling_config={"tier": inputs.control_plane_tier}
            if inputs.control_plane_tier
            else None,
            upgrade_policy={"support_type": inputs.support_type} if inputs.support_type else None,
            zonal_shift_config=None
            if inputs.zonal_shift is None
            else {"enabled": inputs.zonal_shift},
            tags=inputs.tags,
            # While the cluster is being deleted, its control plane still removes network
            # interfaces, so the role and the network are deleted last.
            opts=children.options(
                depends_on=[*policies, *ways_out, *logs],
                # Two clusters can't have the same name, so a replacement is created only after the
                # old cluster is deleted.
                delete_before_replace=True if inputs.cluster_name else None,
                # The cloud rejects the deletion only after the pools and releases have been
                # deleted.
                protect=True if inputs.deletion_protection else None,
                # A cluster doesn't accept subnets in a zone that it didn't start with, or in
                # another VPC (EKS user guide, “Subnet requirements and considerations”). Therefore,
                # it keeps its subnets when a new network grows, and is replaced together with the
                # network.
                ignore_changes=[
                    *AT_CREATION,
                    *(["vpcConfig.subnetIds"] if inputs.subnet_ids is None else []),
                ],
                replacement_trigger=self._network_vpc_id,
            ),
        )

    def _declare_secrets_key(
        self, inputs: EksClusterInputs, role_arn: pulumi.Output[str]
    ) -> pulumi.Input[str]:
        """Return the existing or new key that encrypts Secrets."""
        if inputs.secrets_kms_key is not None:
            return inputs.secrets_kms_key
        return declare_key(
            f"{self._name}-secrets",
            f"Kubernetes secrets of {self._name}",
            role_arn,
            account_policy,
            self._children,
            inputs.tags,
        ).arn

    def _declare_logs(self, inputs: EksClusterInputs) -> list[pulumi.Resource]:
        """Declare the log group of a cluster whose name is known before EKS creates it."""
        if not inputs.cluster_name:
            return []
        days, children = inputs.log_retention_days, self._children
        return [
            declare_control_plane_logs(self._name, inputs.cluster_name, days, children, inputs.tags)
        ]

    def _endpoint_access(self, inputs: EksClusterInputs) -> aws.eks.ClusterVpcConfigArgsDict:
        """Return the subnets of the control plane, and the networks that can reach it."""
        access: aws.eks.ClusterVpcConfigArgsDict = {
            "subnet_ids": self._control_plane_subnets(inputs),
            "endpoint_private_access": True,
            "endpoint_public_access": bool(inputs.public_access_cidrs),
        }
        if inputs.public_access_cidrs:
            access["public_access_cidrs"] = list(inputs.public_access_cidrs)
        return access

    def _declare_cluster_role(
        self, inputs: EksClusterInputs
    ) -> tuple[pulumi.Output[str], list[pulumi.Resource]]:
        """Return the existing or new role of the control plane, and the policy attachments that a
        new role needs first.
        """
        if inputs.cluster_role_arn is not None:
            return pulumi.Output.from_input(inputs.cluster_role_arn), []
        role, policies = declare_role(
            f"{self._name}-cluster",
            "eks.amazonaws.com",
            CLUSTER_POLICIES,
            self._partition,
            self._children,
            inputs.tags,
            inputs.permissions_boundary_arn,
        )
        return role.arn, policies

    def _declare_grants(self, inputs: EksClusterInputs) -> list[pulumi.Resource]:
        """Return the grant for the system nodes' key. The role that starts the first nodes must
        already exist.
        """
        if inputs.disk_kms_key is None or not inputs.grant_key_use:
            return []
        role = existing_service_role(self._children)
        return [
            declare_volume_grant(
                f"{self._name}-system-volumes", inputs.disk_kms_key, role, self._children
            )
        ]

    def _set_outputs(
        self,
        cluster: aws.eks.Cluster,
        node_role: aws.iam.Role,
        oidc: aws.iam.OpenIdConnectProvider,
        issuer: pulumi.Output[str],
        credentials: Credentials,
    ) -> None:
        self.name, self.arn, self.endpoint = cluster.name, cluster.arn, cluster.endpoint
        self.version = cluster.version
        self.certificate_authority = cluster.certificate_authority.apply(
            lambda authority: authority.data or ""
        )
        network = cluster.kubernetes_network_config
        self.service_cidr = network.apply(lambda config: config.service_ipv4_cidr or "")
        parts = pulumi.Output.all(
            cluster.name,
            cluster.arn,
            cluster.endpoint,
            cluster.certificate_authority.data,
            credentials.role_arn,
            credentials.profile,
        )
        self.kubeconfig_json = pulumi.Output.secret(
            parts.apply(lambda known: eks_kubeconfig(*known))
        )
        self.kubeconfig = pulumi.Output.json_loads(self.kubeconfig_json)
        self.cluster_security_group_id = cluster.vpc_config.apply(
            lambda config: config.cluster_security_group_id or ""
        )
        self.vpc_id = cluster.vpc_config.apply(lambda config: config.vpc_id or "")
        self.node_role_arn = node_role.arn
        self.oidc_provider_arn, self.oidc_provider_url = oidc.arn, issuer
        self.register_outputs(
            {
                "name": self.name,
                "arn": self.arn,
                "version": self.version,
                "endpoint": self.endpoint,
                "certificate_authority": self.certificate_authority,
                "service_cidr": self.service_cidr,
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
        """The resources that must exist before anything runs in the cluster: access, system nodes,
        and add-ons.
        """
        return list(self._usable)

    @property
    def nodes_wait_for(self) -> list[pulumi.Resource]:
        """The resources that a node needs to join: role policies, pod network, and outbound
        access.
        """
        return list(self._nodes_wait_for)

    def subnets_in(self, zones: Sequence[str]) -> pulumi.Input[list[pulumi.Input[str]]]:
        """Return the subnets in `zones`, or all subnets if no zone is named.

        In a new network, each subnet is known once it exists, so creating another one doesn't
        affect existing pools. Raises ValueError if there is no subnet. In an existing network, this
        error occurs only when the zones of the subnets are known.
        """
        if self._new_subnets:
            chosen = subnets_in(zones, list(self._new_subnets), list(self._new_subnets))
            return [self._new_subnets[zone].id for zone in chosen]
        both = pulumi.Output.all(self.subnet_ids, self.subnet_zones)
        return both.apply(lambda known: list[pulumi.Input[str]](subnets_in(zones, *known)))

    def _control_plane_subnets(self, inputs: EksClusterInputs) -> pulumi.Output[list[str]]:
        """Return the control plane's subnets. EKS excludes Local Zones."""
        if not any(CLOUD.is_local_zone(zone) for zone in inputs.zones):
            return self.subnet_ids

        def regional(found: list[list[str]]) -> list[str]:
            subnets, zones = found
            return [
                subnet
                for subnet, zone in zip(subnets, zones, strict=True)
                if not CLOUD.is_local_zone(zone)
            ]

        return pulumi.Output.all(self.subnet_ids, self.subnet_zones).apply(regional)

    def _zones_of(self, subnet_ids: pulumi.Output[list[str]]) -> pulumi.Output[list[str]]:
        def look_up(ids: list[str]) -> pulumi.Output[list[str]]:
            found = [
                aws.ec2.get_subnet_output(id=id, opts=self._children.invoke_options()) for id in ids
            ]
            return pulumi.Output.all(*[subnet.availability_zone for subnet in found])

        return subnet_ids.apply(look_up)


def _texts(values: pulumi.Input[list[pulumi.Input[str]]]) -> pulumi.Output[list[str]]:
    """Return a list whose elements are all known once the list is known."""
    return pulumi.Output.from_input(values).apply(lambda items: pulumi.Output.all(*items))


def _first(values: pulumi.Input[list[pulumi.Input[str]]]) -> pulumi.Input[str]:
    """Return the first element of a list as soon as it's known, even if the others aren't."""
    if isinstance(values, list):
        return values[0]
    return pulumi.Output.from_input(values).apply(lambda items: items[0])


def _issuer(identities: Sequence[ClusterIdentity]) -> str:
    oidcs = identities[0].oidcs
    return (oidcs[0].issuer if oidcs else None) or ""
