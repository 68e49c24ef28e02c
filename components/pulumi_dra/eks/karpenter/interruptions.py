"""The queue from which Karpenter reads EC2 and AWS Health events about interruptions.

Events and queue as in
aws/karpenter-provider-aws:website/content/en/docs/reference/cloudformation.md@1d927085.
"""

import json

import pulumi
import pulumi_aws as aws

from pulumi_dra.child_options import Children

EVENTS = {
    "health": ("aws.health", "AWS Health Event"),
    "spot": ("aws.ec2", "EC2 Spot Instance Interruption Warning"),
    "rebalance": ("aws.ec2", "EC2 Instance Rebalance Recommendation"),
    "state": ("aws.ec2", "EC2 Instance State-change Notification"),
    "reservation": ("aws.ec2", "EC2 Capacity Reservation Instance Interruption Warning"),
}
"""Suffix of a rule's name → source and detail-type of its events."""
KEPT_SECONDS = 300
"""Retention in seconds. Older warnings are useless."""


def queue_policy(queue_arn: str) -> str:
    """Return the queue's policy as JSON: EventBridge can send to it, and all access
    requires TLS.
    """
    sends = {
        "Effect": "Allow",
        "Principal": {"Service": ["events.amazonaws.com"]},
        "Action": "sqs:SendMessage",
        "Resource": queue_arn,
    }
    plain = {
        "Effect": "Deny",
        "Principal": "*",
        "Action": "sqs:*",
        "Resource": queue_arn,
        "Condition": {"Bool": {"aws:SecureTransport": "false"}},
    }
    return json.dumps({"Version": "2012-10-17", "Statement": [sends, plain]}, sort_keys=True)


def declare_interruptions(
    name: str, children: Children, tags: dict[str, pulumi.Input[str]]
) -> tuple[aws.sqs.Queue, list[pulumi.Resource]]:
    """Declare the queue and its senders. Return both, because Karpenter must wait for all
    of them.
    """
    queue = aws.sqs.Queue(
        f"{name}-interruptions",
        message_retention_seconds=KEPT_SECONDS,
        sqs_managed_sse_enabled=True,
        tags=tags,
        opts=children.options(),
    )
    policy = aws.sqs.QueuePolicy(
        f"{name}-interruptions",
        queue_url=queue.url,
        policy=queue.arn.apply(queue_policy),
        opts=children.options(),
    )
    senders: list[pulumi.Resource] = [policy]
    for part, (source, kind) in EVENTS.items():
        rule = aws.cloudwatch.EventRule(
            f"{name}-{part}",
            description=f'Send "{kind}" to Karpenter\'s queue',
            event_pattern=json.dumps({"source": [source], "detail-type": [kind]}),
            tags=tags,
            opts=children.options(),
        )
        target = aws.cloudwatch.EventTarget(
            f"{name}-{part}",
            rule=rule.name,
            arn=queue.arn,
            target_id="karpenter",
            opts=children.options(),
        )
        senders.append(target)
    return queue, senders
