"""IAM roles of a cluster: their trust policies and managed policies."""

import json
from collections.abc import Sequence

import pulumi
import pulumi_aws as aws

from pulumi_dra.child_options import Children
from pulumi_dra.eks.naming import ROLE_NAME
from pulumi_dra.resource_names import fitting

CLUSTER_POLICIES = ("AmazonEKSClusterPolicy",)
# A worker node joins the cluster and pulls images. The CNI assigns pod addresses, and has its own
# role.
NODE_POLICIES = ("AmazonEKSWorkerNodePolicy", "AmazonEC2ContainerRegistryPullOnly")
CNI_POLICIES = ("AmazonEKS_CNI_Policy",)

SERVICE_ACTIONS = {
    "eks.amazonaws.com": ["sts:AssumeRole", "sts:TagSession"],
    "ec2.amazonaws.com": ["sts:AssumeRole"],
    "pods.eks.amazonaws.com": ["sts:AssumeRole", "sts:TagSession"],
    "vpc-flow-logs.amazonaws.com": ["sts:AssumeRole"],
}


def trust_policy(service: str) -> str:
    """Return the JSON that lets an AWS service assume a role."""
    statement = {
        "Effect": "Allow",
        "Principal": {"Service": service},
        "Action": SERVICE_ACTIONS[service],
    }
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]}, sort_keys=True)


def policy_arn(partition: str, policy: str) -> str:
    """Return the ARN of an AWS managed policy in a partition (aws, aws-cn, aws-us-gov)."""
    return f"arn:{partition}:iam::aws:policy/{policy}"


def declare_partition(children: Children) -> pulumi.Output[str]:
    """Return the partition of the deployment region."""
    return aws.get_partition_output(opts=children.invoke_options()).partition


def declare_role(
    name: str,
    service: str,
    policies: Sequence[str],
    partition: pulumi.Output[str],
    children: Children,
    tags: dict[str, pulumi.Input[str]],
    boundary: pulumi.Input[str] | None = None,
) -> tuple[aws.iam.Role, list[pulumi.Resource]]:
    """Declare a role for a service. Return it and its attachments, which its users must
    wait for.
    """
    role = aws.iam.Role(
        fitting(name, ROLE_NAME),
        assume_role_policy=trust_policy(service),
        permissions_boundary=boundary,
        tags=tags,
        opts=children.options(),
    )
    attachments: list[pulumi.Resource] = [
        aws.iam.RolePolicyAttachment(
            f"{name}-{policy.rpartition('/')[2]}",
            role=role.name,
            policy_arn=partition.apply(lambda known, policy=policy: policy_arn(known, policy)),
            opts=children.options(),
        )
        for policy in policies
    ]
    return role, attachments
