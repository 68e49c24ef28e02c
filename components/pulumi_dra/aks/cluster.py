"""An AKS cluster that DRA can run on: Entra ID, workload identity, overlay network by Cilium, logs, no passwords."""

# No `from __future__ import annotations` in component modules: Pulumi's schema analyzer reads the annotations.
import re
from typing import Any

import pulumi
from pulumi_azure_native import authorization, containerservice, managedidentity, resources
from pulumi_azure_native.containerservice.outputs import ManagedClusterOIDCIssuerProfileResponse

from dra_planner.clouds import POOL
from dra_planner.clouds.aks import IMAGE, MAX_PODS
from pulumi_dra.aks.cluster_inputs import AksClusterArgs, AksClusterInputs, read_cluster_inputs
from pulumi_dra.aks.kubeconfig import aks_kubeconfig
from pulumi_dra.aks.logs import declare_logs, declare_workspace
from pulumi_dra.aks.network import AksNetwork
from pulumi_dra.aks.roles import CLUSTER_ADMIN, CRYPTO_USER, NETWORK_CONTRIBUTOR, declare_role
from pulumi_dra.children import Children
from pulumi_dra.inputs import InputReader
from pulumi_dra.names import fitting

SYSTEM_DISK_GIB = 128
LONGEST_NAME = 63
_WINDOWS = ("aksManagedAutoUpgradeSchedule", "aksManagedNodeOSUpgradeSchedule")


class AksCluster(pulumi.ComponentResource):
    """An AKS cluster with its network, identity, logs and system nodes, ready for GPU pools."""

    name: pulumi.Output[str]
    """Name of the cluster."""
    resource_group_name: pulumi.Output[str]
    """Resource group that it is in."""
    endpoint: pulumi.Output[str]
    """Address of the API server."""
    kubeconfig: pulumi.Output[dict[str, Any]]
    """Kubeconfig, secret: whoever uses it gets a token from kubelogin."""
    kubeconfig_json: pulumi.Output[str]
    """The same as JSON text."""
    subnet_id: pulumi.Output[str]
    """Subnet of the nodes, for GPU pools too."""
    principal_id: pulumi.Output[str]
    """Principal of the cluster's identity, which roles are given to."""
    oidc_issuer_url: pulumi.Output[str]
    """Issuer of the tokens of service accounts, for federated credentials."""

    def __init__(self, name: str, args: AksClusterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        read = InputReader("AksCluster", name, args, AksClusterArgs)
        inputs = read_cluster_inputs(read)
        read.finish()
        super().__init__("pulumi-dra:index:AksCluster", name, {}, opts)
        self._children = Children(self, opts)
        group = self._declare_group(inputs)
        subnet, egress = self._declare_network(inputs, group)
        identity = managedidentity.UserAssignedIdentity(
            f"{name}-identity",
            resource_group_name=group,
            location=inputs.location,
            tags=inputs.tags,
            opts=self._children.options(),
        )
        joins = declare_role(f"{name}-subnet", NETWORK_CONTRIBUTOR, subnet, identity.principal_id, self._children)
        workspace = inputs.log_workspace_id or declare_workspace(
            name, group, inputs.location, inputs.log_retention_days, inputs.tags, self._children
        )
        needs: list[pulumi.Resource] = [joins]
        if (vault := inputs.secrets_key_vault_id) is not None:
            needs.append(declare_role(f"{name}-key", CRYPTO_USER, vault, identity.principal_id, self._children))
        cluster = self._declare_cluster(inputs, group, subnet, egress, identity, workspace, needs)
        self._usable: list[pulumi.Resource] = [cluster, *self._declare_administration(inputs, cluster)]
        self._declare_windows(inputs, group, cluster)
        if inputs.deletion_protection:
            authorization.ManagementLockByScope(
                f"{name}-lock", scope=cluster.id, level="CanNotDelete", opts=self._children.options()
            )
        declare_logs(name, cluster, workspace, self._children)
        self.cluster_resource = cluster
        self._set_outputs(inputs, group, subnet, identity, cluster)

    def _declare_group(self, inputs: AksClusterInputs) -> pulumi.Output[str]:
        if inputs.resource_group_name is not None:
            return pulumi.Output.from_input(inputs.resource_group_name)
        made = resources.ResourceGroup(
            f"{self._name}-group", location=inputs.location, tags=inputs.tags, opts=self._children.options()
        )
        return made.name

    def _declare_network(
        self, inputs: AksClusterInputs, group: pulumi.Output[str]
    ) -> tuple[pulumi.Output[str], pulumi.Output[str] | None]:
        """Return the subnet, given or new, and the address that nodes of a new one go out by."""
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
        identity: managedidentity.UserAssignedIdentity,
        workspace: pulumi.Input[str],
        depends_on: list[pulumi.Resource],
    ) -> containerservice.ManagedCluster:
        return containerservice.ManagedCluster(
            fitting(f"{self._name}-cluster", LONGEST_NAME),
            resource_group_name=group,
            location=inputs.location,
            kubernetes_version=inputs.kubernetes_version,
            dns_prefix=re.sub(r"[^a-zA-Z0-9-]", "-", self._name)[:54].strip("-"),
            # AKS's own name may be too long for it, and a change of it replaces the cluster.
            node_resource_group=group.apply(lambda known: f"{known[: 79 - len(self._name) - 6]}-{self._name}-nodes"),
            # What AKS makes there is its own; a change by hand breaks the cluster.
            node_resource_group_profile={"restriction_level": "ReadOnly"},
            sku={"name": "Base", "tier": "Standard"},
            support_plan="KubernetesOfficial",
            identity={
                "type": containerservice.ResourceIdentityType.USER_ASSIGNED,
                "user_assigned_identities": [identity.id],
            },
            agent_pool_profiles=[self._system_pool(inputs, subnet)],
            disable_local_accounts=True,
            enable_rbac=True,
            aad_profile={
                "managed": True,
                "enable_azure_rbac": True,
                "admin_group_object_ids": inputs.admin_group_object_ids,
            },
            api_server_access_profile=_api_server_access(inputs.public_access_cidrs, egress),
            network_profile={
                "network_plugin": "azure",
                "network_plugin_mode": "overlay",
                "network_dataplane": "cilium",
                "network_policy": "cilium",
                "load_balancer_sku": "standard",
                "outbound_type": "loadBalancer" if egress is None else "userAssignedNATGateway",
            },
            auto_upgrade_profile={
                "upgrade_channel": inputs.upgrade_channel,
                "node_os_upgrade_channel": "None" if inputs.upgrade_channel == "none" else "NodeImage",
            },
            node_provisioning_profile={"mode": "Manual"},
            oidc_issuer_profile={"enabled": True},
            security_profile=_security(inputs, workspace),
            addon_profiles={
                "azurepolicy": {"enabled": True},
                "azureKeyvaultSecretsProvider": {"enabled": True, "config": {"enableSecretRotation": "true"}},
            },
            disk_encryption_set_id=inputs.disk_encryption_set_id,
            tags=inputs.tags,
            opts=self._children.options(depends_on=depends_on),
        )

    def _system_pool(
        self, inputs: AksClusterInputs, subnet: pulumi.Output[str]
    ) -> containerservice.ManagedClusterAgentPoolProfileArgsDict:
        return {
            "name": "system",
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
            # No taint CriticalAddonsOnly: controllers of drivers and whatever claims nothing run here too.
            "node_labels": {POOL: "system"},
            "upgrade_settings": {"max_surge": "1"},
        }

    def _declare_administration(
        self, inputs: AksClusterInputs, cluster: containerservice.ManagedCluster
    ) -> list[pulumi.Resource]:
        """Declare who may do anything in the cluster where no group is named: who first creates it."""
        if inputs.admin_group_object_ids:
            return []
        me = authorization.get_client_config_output(opts=self._children.invoke_options()).object_id
        admin = declare_role(
            f"{self._name}-admin", CLUSTER_ADMIN, cluster.id, me, self._children, principal_type=inputs.deployer_type
        )
        return [admin]

    def _declare_windows(
        self, inputs: AksClusterInputs, group: pulumi.Output[str], cluster: containerservice.ManagedCluster
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
                    "schedule": {"weekly": {"interval_weeks": 1, "day_of_week": inputs.maintenance_day}},
                },
                opts=self._children.options(),
            )

    def _set_outputs(
        self,
        inputs: AksClusterInputs,
        group: pulumi.Output[str],
        subnet: pulumi.Output[str],
        identity: managedidentity.UserAssignedIdentity,
        cluster: containerservice.ManagedCluster,
    ) -> None:
        self.name, self.resource_group_name, self.subnet_id = cluster.name, group, subnet
        self.principal_id = identity.principal_id
        self.endpoint = pulumi.Output.all(cluster.fqdn, cluster.private_fqdn).apply(
            lambda known: f"https://{(known[0] if inputs.public_access_cidrs else known[1]) or known[0]}"
        )
        self.oidc_issuer_url = cluster.oidc_issuer_profile.apply(_issuer)
        # "exec": without a token in it; with local accounts off Azure gives no other.
        credentials = containerservice.list_managed_cluster_user_credentials_output(
            resource_group_name=group,
            resource_name=cluster.name,
            format="exec",
            opts=self._children.invoke_options(),
        )
        text = credentials.apply(lambda found: aks_kubeconfig(found.kubeconfigs[0].value, inputs.kubelogin))
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
        """What must be there before anything runs in the cluster: system nodes, and the right to do so."""
        return list(self._usable)


def _issuer(profile: ManagedClusterOIDCIssuerProfileResponse | None) -> str:
    return (profile.issuer_url if profile else None) or ""


def _api_server_access(
    cidrs: list[str], egress: pulumi.Output[str] | None
) -> containerservice.ManagedClusterAPIServerAccessProfileArgsDict:
    """Return who reaches the API server: these networks and the nodes themselves, or only who is inside."""
    if not cidrs:
        return {"enable_private_cluster": True, "private_dns_zone": "system", "disable_run_command": True}
    # Nodes reach a public API server by the address that they go out by; a load balancer's AKS adds itself.
    own: list[pulumi.Input[str]] = [] if egress is None else [egress.apply(lambda address: f"{address}/32")]
    return {"authorized_ip_ranges": [*cidrs, *own], "disable_run_command": True}


def _security(
    inputs: AksClusterInputs, workspace: pulumi.Input[str]
) -> containerservice.ManagedClusterSecurityProfileArgsDict:
    profile: containerservice.ManagedClusterSecurityProfileArgsDict = {
        "workload_identity": {"enabled": True},
        "image_cleaner": {"enabled": True, "interval_hours": 168},
    }
    if inputs.secrets_kms_key is not None:
        # A private vault needs an API server inside the network: learn.microsoft.com/azure/aks/use-kms-etcd-encryption.
        profile["azure_key_vault_kms"] = {
            "enabled": True,
            "key_id": inputs.secrets_kms_key,
            "key_vault_network_access": "Public",
        }
    if inputs.defender:
        profile["defender"] = {
            "log_analytics_workspace_resource_id": workspace,
            "security_monitoring": {"enabled": True},
        }
    return profile
