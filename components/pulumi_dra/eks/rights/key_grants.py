"""A KMS grant that lets EC2 Auto Scaling, which starts the nodes of managed groups, use their
volumes' key.

Without it, the group is created, but its nodes fail at launch with
Client.InvalidKMSKey.InvalidState (EC2 Auto Scaling user guide, “Required AWS KMS key policy for use
with encrypted volumes”; the operations are the ones in its example of a grant). A grant doesn't
change the key's policy, and works for keys of other accounts.
"""

import pulumi
import pulumi_aws as aws

from pulumi_dra.child_options import Children
from pulumi_dra.inputs.reader import InputReader

OPERATIONS = (
    "CreateGrant",
    "Decrypt",
    "DescribeKey",
    "Encrypt",
    "GenerateDataKey",
    "GenerateDataKeyWithoutPlaintext",
    "ReEncryptFrom",
    "ReEncryptTo",
)
SERVICE_ROLE = "role/aws-service-role/autoscaling.amazonaws.com/AWSServiceRoleForAutoScaling"


class NoServiceRole(pulumi.RunError):
    """The account doesn't have the EC2 Auto Scaling service-linked role yet. Shown as a sentence,
    without a traceback.
    """


def read_volume_key(read: InputReader) -> pulumi.Input[str] | None:
    """Return `disk_kms_key`. An alias is accepted only without a grant, because grants don't
    support aliases.

    Source: boto/boto pull request 3883 ("Key Aliases are not supported for this operation.").
    """
    key = read.identifier("disk_kms_key", pattern="arn:.+:kms:.+", meaning="the ARN of a KMS key")
    if isinstance(key, str) and ":alias/" in key and read.flag("grant_key_use", True):
        read.refuse(
            "disk_kms_key",
            f'"{key}" is an alias, but a KMS grant needs a key; use the key\'s ARN (…:key/…), or '
            "set grant_key_use to false if the key policy allows EC2 Auto Scaling to use the key",
        )
    return key


def declare_volume_grant(
    name: str, key: pulumi.Input[str], node_role_arn: pulumi.Input[str], children: Children
) -> aws.kms.Grant:
    """Declare the grant for groups in the account of `node_role_arn`. They are created after it and
    deleted before it.
    """
    return aws.kms.Grant(
        name,
        key_id=key,
        grantee_principal=pulumi.Output.from_input(node_role_arn).apply(service_role_beside),
        operations=list(OPERATIONS),
        opts=children.options(),
    )


def service_role_beside(role_arn: str) -> str:
    """Return the ARN of the EC2 Auto Scaling service-linked role in another role's account."""
    _, partition, _, _, account, *_ = role_arn.split(":")
    return f"arn:{partition}:iam::{account}:{SERVICE_ROLE}"


def existing_service_role(children: Children) -> pulumi.Output[str]:
    """Return the ARN of that role. Fails with NoServiceRole if the account has none, also in a
    preview.
    """
    found = aws.iam.get_roles_output(
        path_prefix="/aws-service-role/autoscaling.amazonaws.com/",
        name_regex="^AWSServiceRoleForAutoScaling$",
        opts=children.invoke_options(),
    )
    return found.arns.apply(require_service_role)


def require_service_role(arns: list[str]) -> str:
    """Return the role's ARN among those found. Raises NoServiceRole if there is none."""
    if not arns:
        raise NoServiceRole(
            "disk_kms_key: the account doesn't have the role AWSServiceRoleForAutoScaling yet, "
            "and nodes can't start until this role can use the key; run `aws iam "
            "create-service-linked-role --aws-service-name autoscaling.amazonaws.com` once"
        )
    return arns[0]
