"""Access to an EKS cluster. In a separate module, because a platform for GKE also has this type."""

# No `from __future__ import annotations` here: Pulumi's schema analyzer reads the annotations.
from typing import NotRequired, TypedDict

import pulumi


class AccessEntry(TypedDict):
    """Cluster permissions of a role or user."""

    name: str
    """Resource name of the entry in the program, for example viewers."""
    principal_arn: pulumi.Input[str]
    """IAM role or user."""
    policy: NotRequired[str]
    """EKS access policy: cluster-admin, admin, edit, or view. Default: none (the entry grants only
    the RBAC groups).
    """
    namespaces: NotRequired[list[str]]
    """Namespaces to which the policy applies. cluster-admin always applies to the whole cluster.
    Default: the whole cluster.
    """
    kubernetes_groups: NotRequired[list[str]]
    """Groups that you can use in RoleBindings."""
