"""The IAM role of a service account's pods through EKS Pod Identity."""

from collections.abc import Mapping
from typing import Protocol

import pulumi
import pulumi_aws as aws

from pulumi_dra.child_options import Children
from pulumi_dra.eks.naming import ROLE_NAME
from pulumi_dra.eks.rights.roles import trust_policy
from pulumi_dra.resource_names import fitting


class _Inputs(Protocol):
    @property
    def cluster_name(self) -> pulumi.Input[str]: ...
    @property
    def permissions_boundary_arn(self) -> pulumi.Input[str] | None: ...
    @property
    def tags(self) -> Mapping[str, pulumi.Input[str]]: ...


def declare_pod_role(
    name: str,
    children: Children,
    inputs: _Inputs,
    account: tuple[str, str],
    policy: tuple[str, pulumi.Input[str]],
) -> tuple[aws.iam.Role, list[pulumi.Resource]]:
    """Return the role, and the resources that a pod must wait for, because it only gets credentials
    at start.

    `account` is the service account's namespace and name, and `policy` is the name and JSON of the
    role's policy.
    """
    own = children.outliving()
    role = aws.iam.Role(
        fitting(name, ROLE_NAME),
        assume_role_policy=trust_policy("pods.eks.amazonaws.com"),
        permissions_boundary=inputs.permissions_boundary_arn,
        tags=inputs.tags,
        opts=own.options(),
    )
    rights = aws.iam.RolePolicy(
        f"{name}-{policy[0]}", role=role.name, policy=policy[1], opts=own.options()
    )
    identity = aws.eks.PodIdentityAssociation(
        f"{name}-identity",
        cluster_name=inputs.cluster_name,
        namespace=account[0],
        service_account=account[1],
        role_arn=role.arn,
        tags=inputs.tags,
        opts=children.options(),
    )
    return role, [rights, identity]
