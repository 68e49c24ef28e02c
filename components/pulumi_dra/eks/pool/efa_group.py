"""The security group for EFA traffic between a pool's nodes."""

import pulumi
import pulumi_aws as aws

from pulumi_dra.child_options import Children


def declare_efa_group(
    name: str,
    vpc_id: pulumi.Input[str] | None,
    children: Children,
    tags: dict[str, pulumi.Input[str]],
) -> aws.ec2.SecurityGroup:
    """Declare a group whose members can exchange traffic on all protocols, as EFA needs, but only
    with each other.
    """
    return aws.ec2.SecurityGroup(
        f"{name}-efa",
        description=f"EFA between the nodes of {name}",
        vpc_id=vpc_id,
        ingress=[
            {"protocol": "-1", "from_port": 0, "to_port": 0, "self": True, "description": "EFA in"}
        ],
        # Declared explicitly, because the provider would otherwise keep the rule that allows all
        # outbound traffic.
        egress=[
            {"protocol": "-1", "from_port": 0, "to_port": 0, "self": True, "description": "EFA out"}
        ],
        tags=tags,
        opts=children.options(),
    )
