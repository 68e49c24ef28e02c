"""KMS keys of the components. They rotate, and their policies control their use."""

import json
from collections.abc import Callable, Mapping

import pulumi
import pulumi_aws as aws

from pulumi_dra.child_options import Children
from pulumi_dra.inputs.reader import InputReader


def read_secrets_key(read: InputReader) -> pulumi.Input[str] | None:
    """Return `secrets_kms_key`, which can't be an alias. EKS returns the key behind an alias, so
    every `pulumi up` would show a difference.

    Sources: hashicorp/terraform-provider-aws issue 43244, kubernetes-sigs/cluster-api-provider-aws
    issue 3096.
    """
    key = read.identifier(
        "secrets_kms_key", pattern="arn:.+:kms:.+", meaning="the ARN of a KMS key"
    )
    if isinstance(key, str) and ":alias/" in key:
        read.refuse(
            "secrets_kms_key",
            f'"{key}" is an alias, but EKS returns the key that the alias points to, so every '
            "`pulumi up` "
            "would show a difference; use the key's ARN (…:key/…)",
        )
    return key


def key_region_fault(key: object, region: str) -> str:
    """Return why a key can't be used in a region, or "" if it can or isn't known yet.

    EKS user guide, “Encrypt Kubernetes secrets with KMS on existing clusters” (same region as the
    cluster); Amazon EBS user guide, “Amazon EBS encryption” (same region as the volume).
    """
    own = key.split(":")[3:4] if isinstance(key, str) else []
    if not own or own[0] in ("", region):
        return ""
    return (
        f'"{key}" is a key in {own[0]}, but services can use only keys in their own region; use a '
        f"key in {region}"
    )


def account_policy(arn: str) -> str:
    """Return the key policy as JSON that delegates access to the account's IAM policies. `arn` is
    any ARN in the account.
    """
    return _document([_account(arn)])


def log_groups_policy(arn: str) -> str:
    """Return the same policy, and let CloudWatch Logs encrypt log groups in the account and region
    of `arn`.

    The statement is from the CloudWatch Logs user guide, “Encrypt log data in CloudWatch Logs using
    KMS”.
    """
    _, partition, _, region, account, *_ = arn.split(":")
    service = f"logs.{region}.amazonaws.com{'.cn' if partition == 'aws-cn' else ''}"
    groups = f"arn:{partition}:logs:{region}:{account}:*"
    logs = {
        "Effect": "Allow",
        "Principal": {"Service": service},
        "Action": [
            "kms:Decrypt*",
            "kms:Describe*",
            "kms:Encrypt*",
            "kms:GenerateDataKey*",
            "kms:ReEncrypt*",
        ],
        "Resource": "*",
        "Condition": {"ArnLike": {"kms:EncryptionContext:aws:logs:arn": groups}},
    }
    return _document([_account(arn), logs])


def declare_key(
    name: str,
    description: str,
    arn: pulumi.Output[str],
    policy: Callable[[str], str],
    children: Children,
    tags: dict[str, pulumi.Input[str]],
) -> aws.kms.Key:
    """Declare a rotating key with the policy for the account (and region) of `arn`."""
    return aws.kms.Key(
        name,
        description=description,
        enable_key_rotation=True,
        policy=arn.apply(policy),
        tags=tags,
        opts=children.options(),
    )


def _account(arn: str) -> Mapping[str, object]:
    _, partition, _, _, account, *_ = arn.split(":")
    root = f"arn:{partition}:iam::{account}:root"
    return {"Effect": "Allow", "Principal": {"AWS": root}, "Action": "kms:*", "Resource": "*"}


def _document(statements: list[Mapping[str, object]]) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": statements}, sort_keys=True)
