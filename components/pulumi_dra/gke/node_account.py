"""The service account of a cluster's nodes, with only the permissions that nodes need."""

import hashlib
import re

import pulumi
import pulumi_gcp as gcp

from pulumi_dra.child_options import Children

# Google's minimum roles for nodes, and the role for pulling images from Artifact Registry
# (docs.cloud.google.com/kubernetes-engine/docs/how-to/service-accounts).
NODE_ROLES = ("roles/container.defaultNodeServiceAccount", "roles/artifactregistry.reader")
_MAX_LENGTH = 30


def account_id(name: str, stack: str) -> str:
    """Return an account id of 6 to 30 characters that differs between stacks of one project.

    Long IDs are cut and end in a digest, so that they stay unique.
    """
    text = re.sub(r"[^a-z0-9]+", "-", f"{name}-{stack}-nodes".lower()).strip("-")
    if not text[0].isalpha():
        text = f"n-{text}"
    if len(text) <= _MAX_LENGTH:
        return text
    digest = hashlib.sha256(text.encode()).hexdigest()[:6]
    return f"{text[: _MAX_LENGTH - 7].rstrip('-')}-{digest}"


def declare_node_account(
    name: str, children: Children
) -> tuple[gcp.serviceaccount.Account, list[pulumi.Resource]]:
    """Declare the account. Return it and its grants, which nodes must wait for."""
    account = gcp.serviceaccount.Account(
        f"{name}-nodes",
        account_id=account_id(name, pulumi.get_stack()),
        display_name=f"Nodes of {name}",
        opts=children.options(),
    )
    grants: list[pulumi.Resource] = [
        gcp.projects.IAMMember(
            f"{name}-nodes-{role.rpartition('/')[2]}",
            project=account.project,
            role=role,
            member=account.email.apply(lambda email: f"serviceAccount:{email}"),
            opts=children.options(),
        )
        for role in NODE_ROLES
    ]
    return account, grants
