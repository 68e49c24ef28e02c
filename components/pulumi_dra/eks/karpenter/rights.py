"""Permissions of Karpenter's role: read, start instances for one cluster, end its own instances,
and read one queue.

aws/karpenter-provider-aws:website/content/en/docs/getting-started/getting-started-with-karpenter/cloudformation.yaml
at 1d927085, without permissions on instance profiles, because the component creates the nodes'
profile.
"""

import json
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

_LOOKS = (
    "ec2:DescribeCapacityReservations",
    "ec2:DescribeImages",
    "ec2:DescribeInstanceStatus",
    "ec2:DescribeInstanceTypeOfferings",
    "ec2:DescribeInstanceTypes",
    "ec2:DescribeInstances",
    "ec2:DescribeLaunchTemplates",
    "ec2:DescribePlacementGroups",
    "ec2:DescribeSecurityGroups",
    "ec2:DescribeSpotPriceHistory",
    "ec2:DescribeSubnets",
)
_GIVEN = ("capacity-reservation", "placement-group", "security-group", "subnet")
_MADE = (
    "fleet",
    "instance",
    "launch-template",
    "network-interface",
    "spot-instances-request",
    "volume",
)
_KEY_USES = (
    "kms:Decrypt",
    "kms:DescribeKey",
    "kms:Encrypt",
    "kms:GenerateDataKey*",
    "kms:ReEncrypt*",
)
_POOL = "karpenter.sh/nodepool"


class KarpenterScope(Struct, frozen=True, kw_only=True):
    """The scope of the permissions."""

    partition: str
    region: str
    cluster_name: str
    node_role_arn: str
    queue_arn: str
    key_arns: Sequence[str] = ()


def karpenter_policy(place: KarpenterScope) -> str:
    """Return the policy as JSON."""
    statements = [
        *_starting(place),
        *_tagging(place),
        _ending(place),
        *_looking(place),
        *_volume_keys(place),
    ]
    return json.dumps({"Version": "2012-10-17", "Statement": statements}, sort_keys=True)


def _ec2(place: KarpenterScope, kinds: Sequence[str]) -> list[str]:
    return [f"arn:{place.partition}:ec2:{place.region}:*:{kind}/*" for kind in kinds]


def _allowed(actions: Sequence[str], resources: Sequence[str], **conditions: Any) -> dict[str, Any]:
    statement: dict[str, Any] = {
        "Effect": "Allow",
        "Action": list(actions),
        "Resource": list(resources),
    }
    return {**statement, "Condition": conditions} if conditions else statement


def _required_tags(place: KarpenterScope) -> dict[str, Any]:
    """Return the tags that new resources must have."""
    tags = {
        f"kubernetes.io/cluster/{place.cluster_name}": "owned",
        "eks:eks-cluster-name": place.cluster_name,
    }
    return {
        "StringEquals": {f"aws:RequestTag/{key}": value for key, value in tags.items()},
        "StringLike": {f"aws:RequestTag/{_POOL}": "*"},
    }


def _owned(place: KarpenterScope) -> dict[str, Any]:
    """Return the tags of resources that Karpenter created for this cluster."""
    return {
        "StringEquals": {f"aws:ResourceTag/kubernetes.io/cluster/{place.cluster_name}": "owned"},
        "StringLike": {f"aws:ResourceTag/{_POOL}": "*"},
    }


def _starting(place: KarpenterScope) -> list[dict[str, Any]]:
    start = ("ec2:RunInstances", "ec2:CreateFleet")
    images = [
        f"arn:{place.partition}:ec2:{place.region}::{kind}/*" for kind in ("image", "snapshot")
    ]
    return [
        _allowed(start, [*images, *_ec2(place, _GIVEN)]),
        _allowed(start, _ec2(place, ("launch-template",)), **_owned(place)),
        _allowed((*start, "ec2:CreateLaunchTemplate"), _ec2(place, _MADE), **_required_tags(place)),
        _allowed(
            ("iam:PassRole",),
            [place.node_role_arn],
            StringEquals={"iam:PassedToService": ["ec2.amazonaws.com", "ec2.amazonaws.com.cn"]},
        ),
    ]


def _tagging(place: KarpenterScope) -> list[dict[str, Any]]:
    required, owned = _required_tags(place), _owned(place)
    creates = {"ec2:CreateAction": ["RunInstances", "CreateFleet", "CreateLaunchTemplate"]}
    required["StringEquals"] = {**required["StringEquals"], **creates}
    return [
        _allowed(("ec2:CreateTags",), _ec2(place, _MADE), **required),
        _allowed(
            ("ec2:CreateTags",),
            _ec2(place, ("instance",)),
            **owned,
            StringEqualsIfExists={"aws:RequestTag/eks:eks-cluster-name": place.cluster_name},
            **{
                "ForAllValues:StringEquals": {
                    "aws:TagKeys": ["eks:eks-cluster-name", "karpenter.sh/nodeclaim", "Name"]
                }
            },
        ),
    ]


def _ending(place: KarpenterScope) -> dict[str, Any]:
    ends = ("ec2:TerminateInstances", "ec2:DeleteLaunchTemplate")
    return _allowed(ends, _ec2(place, ("instance", "launch-template")), **_owned(place))


def _looking(place: KarpenterScope) -> list[dict[str, Any]]:
    arn = f"arn:{place.partition}"
    cluster = f"{arn}:eks:{place.region}:*:cluster/{place.cluster_name}"
    return [
        _allowed(_LOOKS, ["*"], StringEquals={"aws:RequestedRegion": place.region}),
        _allowed(("ssm:GetParameter",), [f"{arn}:ssm:{place.region}::parameter/aws/service/*"]),
        _allowed(("pricing:GetProducts", "iam:ListInstanceProfiles"), ["*"]),
        _allowed(("iam:GetInstanceProfile",), [f"{arn}:iam::*:instance-profile/*"]),
        _allowed(("eks:DescribeCluster",), [cluster]),
        _allowed(("sqs:DeleteMessage", "sqs:GetQueueUrl", "sqs:ReceiveMessage"), [place.queue_arn]),
    ]


def _volume_keys(place: KarpenterScope) -> list[dict[str, Any]]:
    """Return permission to use the volumes' keys. Karpenter uses them itself to start instances,
    without EC2 Auto Scaling.
    """
    if not place.key_arns:
        return []
    for_aws = {"kms:GrantIsForAWSResource": "true"}
    return [
        _allowed(_KEY_USES, place.key_arns),
        _allowed(("kms:CreateGrant",), place.key_arns, Bool=for_aws),
    ]
