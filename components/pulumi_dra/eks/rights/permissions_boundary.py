"""The policy that bounds every role that is made, where an account allows no others."""

import pulumi

from pulumi_dra.inputs.reader import InputReader


def read_boundary(read: InputReader) -> pulumi.Input[str] | None:
    """Return `permissions_boundary_arn`, None where it was left out."""
    return read.identifier(
        "permissions_boundary_arn",
        pattern="arn:.+:iam::.*:policy/.+",
        meaning="the ARN of a policy",
    )
