"""A VPC's flow logs, in their own log group, with a role that can only write them."""

import json

import pulumi
import pulumi_aws as aws

from pulumi_dra.child_options import Children
from pulumi_dra.eks.naming import ROLE_NAME
from pulumi_dra.eks.rights.keys import declare_key, log_groups_policy
from pulumi_dra.eks.rights.roles import trust_policy
from pulumi_dra.resource_names import fitting

RETENTION_DAYS = 365
INTERVAL_SECONDS = 600
# Permissions that the service needs (VPC user guide, “IAM role for publishing flow logs to
# CloudWatch Logs”). The log group is declared here.
_ACTIONS = (
    "logs:CreateLogStream",
    "logs:DescribeLogGroups",
    "logs:DescribeLogStreams",
    "logs:PutLogEvents",
)


def write_policy(log_group_arn: str) -> str:
    """Return a policy as JSON that lets flow logs write to one group."""
    statement = {
        "Effect": "Allow",
        "Action": list(_ACTIONS),
        "Resource": [log_group_arn, f"{log_group_arn}:*"],
    }
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]}, sort_keys=True)


def declare_flow_logs(
    name: str,
    vpc: aws.ec2.Vpc,
    children: Children,
    tags: dict[str, pulumi.Input[str]],
    boundary: pulumi.Input[str] | None,
) -> aws.ec2.FlowLog:
    """Declare the log group with its key, the role, and the flow log.

    Accepted and rejected flows are aggregated over ten minutes.
    """
    options = children.options
    key = declare_key(
        f"{name}-flows", f"Flow logs of {name}", vpc.arn, log_groups_policy, children, tags
    )
    group = aws.cloudwatch.LogGroup(
        f"{name}-flows",
        retention_in_days=RETENTION_DAYS,
        kms_key_id=key.arn,
        tags=tags,
        opts=options(),
    )
    role = aws.iam.Role(
        fitting(f"{name}-flows", ROLE_NAME),
        assume_role_policy=trust_policy("vpc-flow-logs.amazonaws.com"),
        permissions_boundary=boundary,
        tags=tags,
        opts=options(),
    )
    policy = aws.iam.RolePolicy(
        f"{name}-flows", role=role.name, policy=group.arn.apply(write_policy), opts=options()
    )
    return aws.ec2.FlowLog(
        f"{name}-flows",
        vpc_id=vpc.id,
        traffic_type="ALL",
        log_destination=group.arn,
        iam_role_arn=role.arn,
        max_aggregation_interval=INTERVAL_SECONDS,
        tags=tags,
        opts=options(depends_on=[policy]),
    )
