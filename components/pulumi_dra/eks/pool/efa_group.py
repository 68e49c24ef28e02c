"""The security group by which the nodes of a pool reach one another through EFA."""

import pulumi
import pulumi_aws as aws

from pulumi_dra.children import Children


def declare_efa_group(
    name: str,
    vpc_id: pulumi.Input[str] | None,
    children: Children,
    tags: dict[str, pulumi.Input[str]],
) -> aws.ec2.SecurityGroup:
    """Declare a group whose members reach one another on every protocol, and nobody else: what EFA
    needs.
    """
    return aws.ec2.SecurityGroup(
        f"{name}-efa",
        description=f"EFA between the nodes of {name}",
        vpc_id=vpc_id,
        ingress=[
            {"protocol": "-1", "from_port": 0, "to_port": 0, "self": True, "description": "EFA in"}
        ],
        # Named, because the provider would otherwise leave the rule that lets everything out.
        egress=[
            {"protocol": "-1", "from_port": 0, "to_port": 0, "self": True, "description": "EFA out"}
        ],
        tags=tags,
        opts=children.options(),
    )
