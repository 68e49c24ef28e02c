"""Check names that EKS, IAM, KMS, and EC2 know: principals of access entries, groups, role tags,
keys, and services.
"""

from __future__ import annotations

import re
import unicodedata

from dra_sandbox.clouds.wire_values import Values

INVALID = "InvalidParameterException: "
TAGS = "_.:/=+-@"
# Services that `describe-vpc-endpoint-services` lists in China only under this name: aws/aws-cdk
# pull request 25333.
CHINA, ELSEWHERE = "cn.com.amazonaws.", "com.amazonaws."
OF_CHINA_ALONE = frozenset(
    {
        "autoscaling",
        "ebs",
        "ec2",
        "ecr.api",
        "ecr.dkr",
        "eks",
        "elasticfilesystem",
        "fsx",
        "monitoring",
        "sqs",
        "sts",
    }
)


def is_a_role_or_user(inputs: Values) -> str | None:
    """Reject principals that access entries don't support.

    Sources: aws-samples/appmod-blueprints PR 319 (sessions), terraform-provider-aws issue 36447
    (service-linked roles), terraform-aws-eks issue 2969 (a role of Identity Center without its
    path).
    """
    arn = str(inputs.get("principalArn") or "")
    if not re.fullmatch(r"arn:[^:]+:iam::\d+:(role|user)/.+", arn):
        return f"{INVALID}The principalArn parameter format is not valid"
    if ":role/aws-service-role/" in arn:
        return (
            f"{INVALID}The caller is not allowed to modify access entries with a principalArn "
            "value of a Service "
            "Linked Role"
        )
    if ":role/AWSReservedSSO_" in arn:
        return f"{INVALID}The specified principalArn is invalid: invalid principal."
    return None


def groups_are_not_of_kubernetes(inputs: Values) -> str | None:
    """Reject the groups of Kubernetes itself. Source: EKS user guide, “Create access entries”.

    The message is the response of `create-access-entry` for system:masters.
    """
    for group in inputs.get("kubernetesGroups") or []:
        if group.startswith("system:"):
            return (
                f"{INVALID}The kubernetes group name {group} is invalid, it cannot start with "
                "system:"
            )
    return None


def tags_are_of_iam(inputs: Values) -> str | None:
    """Reject tags with characters that IAM doesn't allow, and keys that differ only in case.

    Sources: IAM API reference, Tag (characters); kubernetes/kops issue 11727 (case).
    """
    tags = inputs.get("tags") or {}
    for index, pair in enumerate(tags.items(), start=1):
        for part, text in zip(("key", "value"), pair, strict=True):
            if not all(
                unicodedata.category(letter)[0] in "LZN" or letter in TAGS for letter in text
            ):
                return (
                    f"ValidationError: 1 validation error detected: Value '{text}' at "
                    f"'tags.{index}.member.{part}' "
                    "failed to satisfy constraint: Member must satisfy regular expression pattern"
                )
    if len({key.lower() for key in tags}) < len(tags):
        return (
            "InvalidInput: Duplicate tag keys found. Please note that Tag keys are case "
            "insensitive."
        )
    return None


def key_is_no_alias(inputs: Values) -> str | None:
    """Reject the alias of a key where an API needs the key itself. Source: boto/boto PR 3883."""
    if str(inputs.get("keyId") or "").rpartition(":")[2].startswith("alias/"):
        return "InvalidArnException: Key Aliases are not supported for this operation."
    return None


def service_is_called_so(inputs: Values) -> str | None:
    """Reject endpoint services whose name has the prefix of the other partition (China or
    elsewhere). Sources: eksctl-io/eksctl issues 2568 and 3081, aws/aws-cdk issue 9864.
    """
    name = str(inputs.get("serviceName") or "")
    found = re.fullmatch(rf"({re.escape(CHINA)}|{re.escape(ELSEWHERE)})([^.]+)\.(.+)", name)
    if found is None:
        return None
    head, region, service = found.groups()
    if (head == ELSEWHERE or region.startswith("cn-")) and not (
        head == ELSEWHERE and region.startswith("cn-") and service in OF_CHINA_ALONE
    ):
        return None
    return f"InvalidServiceName: The Vpc Endpoint Service '{name}' does not exist"
