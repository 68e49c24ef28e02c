"""The log group of a control plane whose cluster has a given name.

EKS writes to `/aws/eks/<cluster>/cluster` and creates that group, without a retention limit, if it
doesn't exist. The group can be declared first only if the cluster's name is known in advance.
"""

import pulumi
import pulumi_aws as aws

from pulumi_dra.child_options import Children
from pulumi_dra.eks.rights.keys import declare_key, log_groups_policy

# CloudWatch Logs API, PutRetentionPolicy.
RETENTION_DAYS = (
    1,
    3,
    5,
    7,
    14,
    30,
    60,
    90,
    120,
    150,
    180,
    365,
    400,
    545,
    731,
    1096,
    1827,
    2192,
    2557,
    2922,
    3288,
    3653,
)


def declare_control_plane_logs(
    name: str,
    cluster_name: str,
    retention_days: int,
    children: Children,
    tags: dict[str, pulumi.Input[str]],
) -> aws.cloudwatch.LogGroup:
    """Declare the group with its own encryption key. The cluster is created after it and deleted
    before it.
    """
    # No resource with an account and a region in its name exists yet, so the code looks them up.
    here = pulumi.Output.all(
        aws.get_partition_output(opts=children.invoke_options()).partition,
        aws.get_region_output(opts=children.invoke_options()).region,
        aws.get_caller_identity_output(opts=children.invoke_options()).account_id,
    )
    arn = here.apply(lambda known: "arn:{}:logs:{}:{}:log-group".format(*known))
    key = declare_key(
        f"{name}-logs", f"Control plane logs of {name}", arn, log_groups_policy, children, tags
    )
    return aws.cloudwatch.LogGroup(
        f"{name}-logs",
        name=f"/aws/eks/{cluster_name}/cluster",
        retention_in_days=retention_days,
        kms_key_id=key.arn,
        tags=tags,
        opts=children.options(),
    )
