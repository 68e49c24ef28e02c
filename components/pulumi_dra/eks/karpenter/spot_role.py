"""The service-linked role for EC2 Spot, which an account has after its first Spot instance.

EC2 Auto Scaling can create it, but Karpenter can't, because it has no permission to create roles.
Without the role, a NodePool's Spot instances don't start, and only Karpenter's log shows it after
`up`. Sources: terraform-aws-modules/ terraform-aws-eks issue 2565, aws/karpenter-provider-aws issue
504, eksctl-io/eksctl issue 6064.
"""

import pulumi
import pulumi_aws as aws

from pulumi_dra.child_options import Children

_SERVICE, _NAME = "spot.amazonaws.com", "AWSServiceRoleForEC2Spot"


class NoSpotRole(pulumi.RunError):
    """The account doesn't have the EC2 Spot service-linked role yet. Shown as a sentence, without a
    traceback.
    """


def existing_spot_role(children: Children) -> pulumi.Output[str]:
    """Return the ARN of that role. Fails with NoSpotRole if the account has none, also in a
    preview.
    """
    found = aws.iam.get_roles_output(
        path_prefix=f"/aws-service-role/{_SERVICE}/",
        name_regex=f"^{_NAME}$",
        opts=children.invoke_options(waits=False),
    )
    return found.arns.apply(require_spot_role)


def require_spot_role(arns: list[str]) -> str:
    """Return the role's ARN among those found. Raises NoSpotRole if there is none."""
    role = next((arn for arn in arns if arn.endswith(f"/{_NAME}")), "")
    if not role:
        raise NoSpotRole(
            f"capacity: the account doesn't have the role {_NAME} yet, which Karpenter needs to "
            "start Spot nodes; run `aws iam create-service-linked-role --aws-service-name "
            f"{_SERVICE}` once"
        )
    return role
