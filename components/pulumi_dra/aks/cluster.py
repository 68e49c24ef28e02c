"""An AKS cluster with DRA: Entra ID, workload identity, Cilium overlay network, logs, and no
passwords.
"""

# No `from __future__ import annotations` in component modules: Pulumi's schema analyzer reads the
# annotations.
import re
from typing import Any

import pulumi
from msgspec import Struct
from pulumi_azure_native import authorization, containerservice, managedidentity, resources
from pulumi_azure_native.containerservice.outputs import ManagedClusterOIDCIssuerProfileResponse

from dra_planner.clouds import POOL
from dra_planner.clouds.aks.allocatable import MAX_PODS
from dra_planner.clouds.aks.images import IMAGE
from pulumi_dra.aks.cluster_inputs import AksClusterArgs, AksClusterInputs, read_cluster_inputs
from pulumi_dra.aks.cluster_profiles import (
    LEFT_ALONE,
    addon_profiles,
    api_server_access,
    entra_profile,
    network_profile,
    security_profile,
)
from pulumi_dra.aks.kubeconfig import aks_kubeconfig
from pulumi_dra.aks.logs import declare_logs, declare_workspace
from pulumi_dra.aks.naming import CLUSTER_NAME, IDENTITY_NAME, LABEL_NAME, NODE_GROUP_NAME
from pulumi_dra.aks.network import AksNetwork
from pulumi_dra.aks.roles import (
    CLUSTER_ADMIN,
    CRYPTO_USER,
    NETWORK_CONTRIBUTOR,
    READER,
    declare_role,
)
from pulumi_dra.child_options import Children
from pulumi_dra.inputs.reader import InputReader
from pulumi_dra.resource_names import fitting, made_of

SYSTEM_DISK_GIB = 128
_WINDOWS = ("aksManagedAutoUpgradeSchedule", "aksManagedNodeOSUpgradeSchedule")


class Identity(Struct, frozen=True, kw_only=True):
    """The identity that the cluster uses."""

    id: pulumi.Output[str]
    principal_id: pulumi.Output[str]
    is_new: bool


class AksCluster(pulumi.ComponentResource):
    """An AKS cluster with its network, identity, logs, and system nodes, ready for GPU pools."""

    name: pulumi.Output[str]
    """Name of the cluster."""
    resource_group_name: pulumi.Output[str]
    """Resource group of the cluster."""
    endpoint: pulumi.Output[str]
    """Address of the API server."""
    kubeconfig: pulumi.Output[dict[str, Any]]
    """Kubeconfig (secret), which runs kubelogin to get a token."""
    kubeconfig_json: pulumi.Output[str]
    """Kubeconfig as JSON text."""
    subnet_id: pulumi.Output[str]
    """Subnet of the nodes, which GPU pools can also use."""
    principal_id: pulumi.Output[str]
    """Principal ID of the cluster's identity, for role assignments."""
    oidc_issuer_url: pulumi.Output[str]
    """Issuer of service account tokens, for federated credentials."""

    def __init__(
        self, name: str, args: AksClusterArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        read = InputReader("AksCluster", name, args, AksClusterArgs)
        inputs = read_cluster_inputs(read)
        read.finish()
        super().__init__("pulumi-dra:index:AksCluster", name, {}, opts)
        self._children = Children(self, opts)
        group = self._declare_group(inputs)
        subnet, egress = self._declare_network(inputs, group)
        identity = self._declare_identity(inputs, group)
        needs = self._declare_roles(inputs, identity, subnet)
        workspace = inputs.log_workspace_id or declare_workspace(
            name, group, inputs.location, inputs.log_retention_days, inputs.tags, self._children
        )
        cluster = self._declare_cluster(inputs, group, subnet, egress, identity, workspace, needs)
        self._usable: list[pulumi.Resource] = [
            cluster,
            *self._declare_administration(inputs, cluster),
            *self._declare_system_pool(inputs, group, subnet, cluster),
        ]
        self._declare_windows(inputs, group, cluster)
        declare_logs(name, cluster, workspace, self._children)
        self.cluster_resource = cluster
        self._set_outputs(inputs, group, subnet, identity, cluster)

    def _declare_group(self, inputs: AksClusterInputs) -> pulumi.Output[str]:
        if inputs.resource_group_name is not None:
            return pulumi.Output.from_input(inputs.resource_group_name)
        made = resources.ResourceGroup(
            fitting(f"{self._name}-group", LABEL_NAME),
            location=inputs.location,
            tags=inputs.tags,
            opts=self._children.options(),
        )
        return made.name

    def _declare_identity(self, inputs: AksClusterInputs, group: pulumi.Output[str]) -> Identity:
        """Return the existing identity for the cluster, or declare a new identity."""
        if inputs.identity_id is not None and inputs.identity_principal_id is not None:
            principal = pulumi.Output.from_input(inputs.identity_principal_id)
            return Identity(
                id=pulumi.Output.from_input(inputs.identity_id),
                principal_id=principal,
                is_new=False,
            )
        made = managedidentity.UserAssignedIdentity(
            fitting(f"{self._name}-identity", IDENTITY_NAME),
            resource_group_name=group,
            location=inputs.location,
            tags=inputs.tags,
            opts=self._children.options(),
        )
        return Identity(id=made.id, principal_id=made.principal_id, is_new=True)

    def _declare_roles(
        self, inputs: AksClusterInputs, identity: Identity, subnet: pulumi.Output[str]
    ) -> list[pulumi.Resource]:
        """Declare the roles that the identity needs before the cluster exists. An existing identity
        already has its role on the subnet.
        """
        wanted: list[tuple[str, str, pulumi.Input[str] | None]] = [
            ("subnet", NETWORK_CONTRIBUTOR, subnet if identity.is_new else None),
            ("key", CRYPTO_USER, inputs.secrets_key_vault_id),
            ("disks", READER, inputs.disk_encryption_set_id if inputs.grant_disk_set_use else None),
        ]
        return [
            declare_role(f"{self._name}-{what}", role, scope, identity.principal_id, self._children)
            for what, role, scope in wanted
            if scope is not None
        ]

    def _declare_network(
        self, inputs: AksClusterInputs, group: pulumi.Output[str]
    ) -> tuple[pulumi.Output[str], pulumi.Output[str] | None]:
        """Return the existing or new subnet, and the outbound IP address of nodes in a new
        network.
        """
        if inputs.subnet_id is not None:
            return pulumi.Output.from_input(inputs.subnet_id), None
        made = AksNetwork(
            f"{self._name}-network",
            {"location": inputs.location, "resource_group_name": group, "tags": inputs.tags},
            opts=self._children.options(),
        )
        return made.subnet_id, made.egress_ip

    def _declare_cluster(
        self,
        inputs: AksClusterInputs,
        group: pulumi.Output[str],
        subnet: pulumi.Output[str],
        egress: pulumi.Output[str] | None,
        identity: Identity,
        workspace: pulumi.Input[str],
        depends_on: list[pulumi.Resource],
    ) -> containerservice.ManagedCluster:
        system: Any = {"name": "system", **self._system_nodes(inputs, subnet)}
        return containerservice.ManagedCluster(
            fitting(f"{self._name}-cluster", CLUSTER_NAME),
            resource_group_name=group,
            resource_name_=inputs.cluster_name or None,
            location=inputs.location,
            kubernetes_version=inputs.kubernetes_version,
            dns_prefix=inputs.dns_prefix
            or re.sub(r"[^a-zA-Z0-9-]", "-", self._name)[:54].strip("-"),
            # The name that AKS generates can be too long, and changing the name replaces the
            # cluster.
            node_resource_group=inputs.node_resource_group
            or group.apply(lambda known: made_of(known, f"-{self._name}-nodes", NODE_GROUP_NAME)),
            # AKS manages the resources in this group, and manual changes break the cluster.
            node_resource_group_profile={"restriction_level": "ReadOnly"},
            sku={"name": "Base", "tier": "Standard"},
            support_plan="KubernetesOfficial",
            identity={
                "type": containerservice.ResourceIdentityType.USER_ASSIGNED,
                "user_assigned_identities": [identity.id],
            },
            agent_pool_profiles=None if inputs.keep_pools else [system],
            disable_local_accounts=True,
            enable_rbac=True,
            aad_profile=entra_profile(inputs.admin_group_object_ids),
            api_server_access_profile=api_server_access(inputs.public_access_cidrs, egress),
            network_profile=network_profile(inputs),
            auto_upgrade_profile={
                "upgrade_channel": inputs.upgrade_channel,
                "node_os_upgrade_channel": inputs.node_os_channel,
            },
            node_provisioning_profile={"mode": "Manual"},
            auto_scaler_profile=_autoscaler_profile(inputs.autoscaler_profile),
            oidc_issuer_profile={"enabled": True},
            security_profile=security_profile(inputs, workspace),
            addon_profiles=addon_profiles(),
            disk_encryption_set_id=inputs.disk_encryption_set_id,
            tags=inputs.tags,
            opts=self._children.options(
                depends_on=depends_on,
                ignore_changes=LEFT_ALONE if inputs.keep_pools else None,
                # Two clusters can't have the same name.
                delete_before_replace=True if inputs.cluster_name else None,
                # Azure offers only locks, which would also prevent Pulumi from replacing the
                # cluster's pools and roles.
                protect=True if inputs.deletion_protection else None,
            ),
        )

    def _declare_system_pool(
        self,
        inputs: AksClusterInputs,
        group: pulumi.Output[str],
        subnet: pulumi.Output[str],
        cluster: containerservice.ManagedCluster,
    ) -> list[pulumi.Resource]:
        """Declare the system nodes of an imported cluster, next to its own pools."""
        if not inputs.keep_pools:
            return []
        pool = containerservice.AgentPool(
            f"{self._name}-system",
            agent_pool_name="system",
            resource_group_name=group,
            resource_name_=cluster.name,
            orchestrator_version=inputs.kubernetes_version,
            opts=self._children.options(delete_before_replace=True),
            **self._system_nodes(inputs, subnet),
        )
        return [pool]

    def _system_nodes(self, inputs: AksClusterInputs, subnet: pulumi.Output[str]) -> dict[str, Any]:
        """Return the settings of the system nodes, named as in a pool inside a cluster and in a
        separate pool.
        """
        return {
            "mode": "System",
            "type": "VirtualMachineScaleSets",
            "count": inputs.system_count,
            "vm_size": inputs.system_machine,
            "os_type": "Linux",
            "os_sku": IMAGE,
            "os_disk_type": "Managed",
            "os_disk_size_gb": SYSTEM_DISK_GIB,
            "max_pods": MAX_PODS,
            "vnet_subnet_id": subnet,
            "availability_zones": inputs.system_zones or None,
            "enable_node_public_ip": False,
            "enable_encryption_at_host": inputs.encryption_at_host,
            # The taint CriticalAddonsOnly isn't set, because driver controllers and all pods
            # without claims run on these nodes.
            "node_labels": {POOL: "system"},
            "upgrade_settings": {"max_surge": "1"},
        }

    def _declare_administration(
        self, inputs: AksClusterInputs, cluster: containerservice.ManagedCluster
    ) -> list[pulumi.Resource]:
        """Grant cluster administration to the identity that first creates the cluster, if no group
        is named.
        """
        if inputs.admin_group_object_ids:
            return []
        me = authorization.get_client_config_output(opts=self._children.invoke_options()).object_id
        admin = declare_role(
            f"{self._name}-admin",
            CLUSTER_ADMIN,
            cluster.id,
            me,
            self._children,
            principal_type=inputs.deployer_type,
        )
        return [admin]

    def _declare_windows(
        self,
        inputs: AksClusterInputs,
        group: pulumi.Output[str],
        cluster: containerservice.ManagedCluster,
    ) -> None:
        """Declare when AKS may upgrade control plane and node images."""
        for window in _WINDOWS if inputs.upgrade_channel != "none" else ():
            containerservice.MaintenanceConfiguration(
                f"{self._name}-{window}",
                config_name=window,
                resource_group_name=group,
                resource_name_=cluster.name,
                maintenance_window={
                    "duration_hours": 4,
                    "start_time": inputs.maintenance_start,
                    "utc_offset": "+00:00",
                    "schedule": {
                        "weekly": {"interval_weeks": 1, "day_of_week": inputs.maintenance_day}
                    },
                },
                opts=self._children.options(),
            )

    def _set_outputs(
        self,
        inputs: AksClusterInputs,
        group: pulumi.Output[str],
        subnet: pulumi.Output[str],
        identity: Identity,
        cluster: containerservice.ManagedCluster,
    ) -> None:
        self.name, self.resource_group_name, self.subnet_id = cluster.name, group, subnet
        self.principal_id = identity.principal_id
        self.endpoint = pulumi.Output.all(cluster.fqdn, cluster.private_fqdn).apply(
            lambda known: (
                f"https://{(known[0] if inputs.public_access_cidrs else known[1]) or known[0]}"
            )
        )
        self.oidc_issuer_url = cluster.oidc_issuer_profile.apply(_issuer)
        # "exec": the kubeconfig doesn't contain a token. If local accounts are disabled, Azure
        # offers only this format.
        credentials = containerservice.list_managed_cluster_user_credentials_output(
            resource_group_name=group,
            resource_name=cluster.name,
            format="exec",
            opts=self._children.invoke_options(),
        )
        text = credentials.apply(
            lambda found: aks_kubeconfig(found.kubeconfigs[0].value, inputs.kubelogin)
        )
        self.kubeconfig_json = pulumi.Output.secret(text)
        self.kubeconfig = pulumi.Output.json_loads(self.kubeconfig_json)
        self.register_outputs(
            {
                "name": self.name,
                "resource_group_name": self.resource_group_name,
                "endpoint": self.endpoint,
                "kubeconfig": self.kubeconfig,
                "kubeconfig_json": self.kubeconfig_json,
                "subnet_id": self.subnet_id,
                "principal_id": self.principal_id,
                "oidc_issuer_url": self.oidc_issuer_url,
            }
        )

    @property
    def usable(self) -> list[pulumi.Resource]:
        """The resources that must exist before anything runs in the cluster: system nodes and
        permissions.
        """
        return list(self._usable)


def _issuer(profile: ManagedClusterOIDCIssuerProfileResponse | None) -> str:
    return (profile.issuer_url if profile else None) or ""


def _autoscaler_profile(
    settings: dict[str, pulumi.Input[str]],
) -> "containerservice.ManagedClusterPropertiesAutoScalerProfileArgsDict | None":
    """Return the cluster autoscaler's settings by the SDK's names, or None for Azure's defaults."""
    named: Any = {name.replace("-", "_"): value for name, value in settings.items()}
    return named or None
