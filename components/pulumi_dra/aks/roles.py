"""Roles of the cluster and its administrators, by ID, because names of built-in roles can change.

Source of the ids: learn.microsoft.com/azure/role-based-access-control/built-in-roles
(MicrosoftDocs/azure-docs:articles/role-based-access-control/built-in-roles.md@ac4ed7a). Who needs
which: Network Contributor on the subnet (learn.microsoft.com/azure/aks/configure-azure-cni),
Contributor on the capacity reservation group (…/aks/use-capacity-reservation-groups), read access
to the disk encryption set (…/aks/azure-disk-customer-managed-keys), Key Vault Crypto User
(…/aks/use-kms-etcd-encryption).
"""

import pulumi
from pulumi_azure_native import authorization

from pulumi_dra.child_options import Children

NETWORK_CONTRIBUTOR = "4d97b98b-1d4f-4787-a291-c67834d212e7"
CONTRIBUTOR = "b24988ac-6180-42a0-ab88-20f7382dd24c"
READER = "acdd72a7-3385-48ef-bd42-f606fba81ae7"
CRYPTO_USER = "12338af0-0e69-4776-bea7-57ae8d297424"  # Key Vault Crypto User: encrypts and decrypts
# Azure Kubernetes Service RBAC Cluster Admin
CLUSTER_ADMIN = "b1ff04bb-8a4e-4dc4-8eb5-8693973ce19b"


def declare_role(
    name: str,
    role: str,
    scope: pulumi.Input[str],
    principal: pulumi.Input[str],
    children: Children,
    *,
    principal_type: str = "ServicePrincipal",
) -> authorization.RoleAssignment:
    """Grant a principal a role on a scope. The request includes the principal's type, because Azure
    doesn't find a new principal immediately.
    """
    # The role's ID within the subscription of the scope.
    definition = pulumi.Output.from_input(scope).apply(lambda known: _definition(known, role))
    return authorization.RoleAssignment(
        name,
        scope=scope,
        role_definition_id=definition,
        principal_id=principal,
        principal_type=principal_type,
        opts=children.options(),
    )


def _definition(scope: str, role: str) -> str:
    subscription = "/".join(scope.split("/")[:3])
    return f"{subscription}/providers/Microsoft.Authorization/roleDefinitions/{role}"
