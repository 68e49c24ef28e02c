"""The identity that a kubeconfig uses to get EKS tokens: by default, the provider that creates the
cluster.
"""

import json

import pulumi
from msgspec import Struct


class Credentials(Struct, frozen=True, kw_only=True):
    """A role to assume and a profile of the AWS CLI's configuration. "" for none."""

    role_arn: pulumi.Input[str] = ""
    profile: str = ""


def configured_credentials() -> Credentials:
    """Return the default provider's credentials from the stack's configuration.

    The last of several assumed roles applies (registry.terraform.io/providers/hashicorp/aws,
    “Assuming an IAM Role”). Keys are never written into a kubeconfig. A warning explains where to
    put them instead.
    """
    config = pulumi.Config("aws")
    if config.get("accessKey"):
        pulumi.warn(
            "aws:accessKey is set, but kubeconfigs don't contain keys; set AWS_ACCESS_KEY_ID and "
            "AWS_SECRET_ACCESS_KEY where `pulumi up` runs, because otherwise the cluster rejects "
            "its requests as Unauthorized"
        )
    roles: list[dict[str, str]] = json.loads(config.get("assumeRoles") or "[]")
    if not roles and (single := config.get("assumeRole")):
        roles = [json.loads(single)]
    return Credentials(
        role_arn=roles[-1].get("roleArn", "") if roles else "", profile=config.get("profile") or ""
    )
