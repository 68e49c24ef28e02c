"""As whom a kubeconfig asks EKS for tokens: by default as the provider that makes the cluster."""

import json
from dataclasses import dataclass

import pulumi


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """A role to assume and a profile of the AWS CLI's configuration; "" for none."""

    role_arn: pulumi.Input[str] = ""
    profile: str = ""


def configured_credentials() -> Credentials:
    """Return what the stack's configuration tells the default provider.

    The last of several assumed roles is the one that acts
    (registry.terraform.io/providers/hashicorp/aws, “Assuming an IAM Role”). Keys are never written
    into a kubeconfig: a warning says where they have to be instead.
    """
    config = pulumi.Config("aws")
    if config.get("accessKey"):
        pulumi.warn(
            "aws:accessKey is set, but kubeconfigs don't contain keys: set AWS_ACCESS_KEY_ID "
            "and AWS_SECRET_ACCESS_KEY where `pulumi up` runs, or the cluster rejects its "
            "requests as Unauthorized"
        )
    roles: list[dict[str, str]] = json.loads(config.get("assumeRoles") or "[]")
    if not roles and (single := config.get("assumeRole")):
        roles = [json.loads(single)]
    return Credentials(
        role_arn=roles[-1].get("roleArn", "") if roles else "", profile=config.get("profile") or ""
    )
