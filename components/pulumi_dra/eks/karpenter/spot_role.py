"""The role by which EC2 runs Spot machines, which an account has after its first one.

EC2 Auto Scaling may make it, Karpenter may not (and is not given the right to make identities):
without it no Spot machine of a NodePool starts, which is told in Karpenter's log alone, after `up`.
Sources: terraform-aws-modules/ terraform-aws-eks issue 2565, aws/karpenter-provider-aws issue 504,
eksctl-io/eksctl issue 6064.
"""

import pulumi
import pulumi_aws as aws

from pulumi_dra.children import Children

_SERVICE, _NAME = "spot.amazonaws.com", "AWSServiceRoleForEC2Spot"


class NoSpotRole(pulumi.RunError):
    """The account has no service-linked role of EC2 Spot yet; shown as a sentence, without a
    traceback.
    """


def existing_spot_role(children: Children) -> pulumi.Output[str]:
    """Return the ARN of that role; fails with NoSpotRole where the account has none, in a preview
    too.
    """
    found = aws.iam.get_roles_output(
        path_prefix=f"/aws-service-role/{_SERVICE}/",
        name_regex=f"^{_NAME}$",
        opts=children.invoke_options(waits=False),
    )
    return found.arns.apply(require_spot_role)


def require_spot_role(arns: list[str]) -> str:
    """Return the role's ARN out of those found; raises NoSpotRole when none was."""
    role = next((arn for arn in arns if arn.endswith(f"/{_NAME}")), "")
    if not role:
        raise NoSpotRole(
            f"capacity: the account has no role {_NAME} yet, and Karpenter cannot start Spot "
            "machines without it; run "
            f"`aws iam create-service-linked-role --aws-service-name {_SERVICE}` once"
        )
    return role
