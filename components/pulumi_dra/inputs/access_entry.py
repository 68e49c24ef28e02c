"""Who may use an EKS cluster. Apart from the cluster, because a platform for GKE has the shape too."""

# No `from __future__ import annotations` here: Pulumi's schema analyzer reads the annotations.
from typing import NotRequired, TypedDict

import pulumi


class AccessEntry(TypedDict):
    """What a role or user may do in the cluster."""

    name: str
    """Name of the entry among the program's resources: viewers."""
    principal_arn: pulumi.Input[str]
    """IAM role or user."""
    policy: NotRequired[str]
    """EKS' own policy: cluster-admin, admin, edit or view; or none (default), for groups alone."""
    namespaces: NotRequired[list[str]]
    """Namespaces that the policy is for. Default: the whole cluster; cluster-admin is for that alone."""
    kubernetes_groups: NotRequired[list[str]]
    """Groups that RoleBindings name."""
