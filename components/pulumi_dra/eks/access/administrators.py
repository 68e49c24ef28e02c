"""Administrators of an EKS cluster as visible access entries, instead of implicit admin rights of
the creator.
"""

from collections.abc import Sequence

import pulumi
import pulumi_aws as aws

from pulumi_dra.child_options import Children

ADMIN_POLICY = "eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy"


def declare_access(
    name: str,
    cluster: aws.eks.Cluster,
    principals: pulumi.Input[list[pulumi.Input[str]]] | None,
    partition: pulumi.Output[str],
    children: Children,
) -> list[pulumi.Resource]:
    """Declare one admin entry for each principal, or with None for the identity that creates the
    cluster.

    The creator's entry keeps its first principal. Otherwise, the next person who deploys would
    replace it.
    """
    if isinstance(principals, Sequence):
        entries = [
            _declare_entry(f"{name}-admin-{index}", cluster, principal, children.options())
            for index, principal in enumerate(principals)
        ]
    else:
        creator = _creator(children)
        entries = [
            _declare_entry(
                f"{name}-creator",
                cluster,
                creator,
                children.options(ignore_changes=["principalArn"]),
            )
        ]
    grants: list[pulumi.Resource] = []
    for entry_name, entry in entries:
        grants.append(
            aws.eks.AccessPolicyAssociation(
                entry_name,
                cluster_name=cluster.name,
                principal_arn=entry.principal_arn,
                policy_arn=partition.apply(lambda known: f"arn:{known}:{ADMIN_POLICY}"),
                access_scope={"type": "cluster"},
                opts=children.options(),
            )
        )
    return grants


def _creator(children: Children) -> pulumi.Output[str]:
    """Return the role (of an assumed-role session) or user that runs this program."""
    identity = aws.get_caller_identity_output(opts=children.invoke_options())
    session = aws.iam.get_session_context_output(arn=identity.arn, opts=children.invoke_options())
    return session.issuer_arn


def _declare_entry(
    name: str, cluster: aws.eks.Cluster, principal: pulumi.Input[str], opts: pulumi.ResourceOptions
) -> tuple[str, aws.eks.AccessEntry]:
    return name, aws.eks.AccessEntry(
        name, cluster_name=cluster.name, principal_arn=principal, type="STANDARD", opts=opts
    )
