"""The permissions boundary of all created roles, for accounts that require one."""

import pulumi

from pulumi_dra.inputs.reader import InputReader


def read_boundary(read: InputReader) -> pulumi.Input[str] | None:
    """Return `permissions_boundary_arn`, or None if it's unset."""
    return read.identifier(
        "permissions_boundary_arn",
        pattern="arn:.+:iam::.*:policy/.+",
        meaning="the ARN of a policy",
    )
