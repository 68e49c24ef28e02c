"""Additional access to an EKS cluster: entries with an EKS access policy, or with RBAC groups."""

# No `from __future__ import annotations` here: Pulumi's schema analyzer reads the annotations.
import re

import pulumi
import pulumi_aws as aws
from msgspec import Struct

from pulumi_dra.child_options import Children
from pulumi_dra.inputs.access_entry import AccessEntry
from pulumi_dra.inputs.reader import InputReader

# EKS user guide, “Review access policy permissions”.
POLICIES = {
    "cluster-admin": "AmazonEKSClusterAdminPolicy",
    "admin": "AmazonEKSAdminPolicy",
    "edit": "AmazonEKSEditPolicy",
    "view": "AmazonEKSViewPolicy",
}
ACCESS_POLICIES = "eks::aws:cluster-access-policy"
NO_POLICY = "none"
_NAME = r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?"


class Entry(Struct, frozen=True, kw_only=True):
    """A checked entry. `policy` is "" if the entry has no policy."""

    name: str
    principal_arn: pulumi.Input[str]
    policy: str
    namespaces: list[str]
    kubernetes_groups: list[str]


def principal_fault(arn: str) -> str:
    """Return the reason why EKS rejects an access entry for this principal, or "".

    Sources: aws-samples/appmod-blueprints pull request 319 (sessions), terraform-provider-aws issue
    36447 (roles of services), terraform-aws-eks issue 2969 (roles of Identity Center, whose path is
    part of the ARN).
    """
    if session := re.fullmatch(r"(arn:[^:]+):sts::(\d+):assumed-role/([^/]+)/.+", arn):
        partition, account, role = session.groups()
        return f'"{arn}" is a session; use the role itself: {partition}:iam::{account}:role/{role}'
    if not re.fullmatch(r"arn:.+:iam::[^:]*:(role|user)/.+", arn):
        return f'"{arn}" isn\'t the ARN of an IAM role or user'
    if ":role/aws-service-role/" in arn:
        return f'"{arn}" is a service-linked role, for which EKS doesn\'t support access entries'
    if ":role/AWSReservedSSO_" in arn:
        return (
            f'"{arn}" is an Identity Center role, whose ARN needs a path: '
            "role/aws-reserved/sso.amazonaws.com/REGION/AWSReservedSSO_… (`aws iam list-roles "
            "--path-prefix /aws-reserved/sso.amazonaws.com/`)"
        )
    return ""


def read_admins(read: InputReader) -> pulumi.Input[list[pulumi.Input[str]]] | None:
    """Return `admin_principal_arns`, or None if it's unset. Errors are recorded in `read`."""
    admins = read.identifiers("admin_principal_arns")
    if not read.has("admin_principal_arns"):
        return None
    seen: set[str] = set()
    for index, arn in enumerate(admins if isinstance(admins, list) else []):
        if isinstance(arn, str) and (fault := principal_fault(arn) or _taken_fault(arn, seen)):
            read.refuse(f"admin_principal_arns[{index}]", fault)
    return admins


def _taken_fault(arn: str, seen: set[str]) -> str:
    """Return the error if a principal already has an entry, and record the principal
    (terraform-aws-eks issue 2968).
    """
    if arn in seen:
        return f'"{arn}" already has an entry, but EKS allows only one entry per principal'
    seen.add(arn)
    return ""


def read_access_entries(
    read: InputReader, admins: pulumi.Input[list[pulumi.Input[str]]] | None = None
) -> list[Entry]:
    """Return `access_entries`. Errors are recorded in `read`, including principals that are already
    in `admins`.
    """
    entries: list[Entry] = []
    taken = {arn for arn in (admins if isinstance(admins, list) else []) if isinstance(arn, str)}
    for index, block in enumerate(read.blocks("access_entries")):
        inner = read.inside(f"access_entries[{index}]", block, AccessEntry)
        policy = inner.choice("policy", (*POLICIES, NO_POLICY), NO_POLICY)
        entry = Entry(
            name=inner.text(
                "name", pattern=_NAME, meaning="at most 63 lowercase letters, digits, and hyphens"
            ),
            principal_arn=inner.identifier("principal_arn", required=True, check=principal_fault)
            or "",
            policy=POLICIES.get(policy, ""),
            namespaces=inner.texts("namespaces", pattern=_NAME, meaning="the name of a namespace"),
            kubernetes_groups=inner.texts("kubernetes_groups"),
        )
        if isinstance(entry.principal_arn, str) and (
            fault := _taken_fault(entry.principal_arn, taken)
        ):
            inner.refuse("principal_arn", fault)
        if any(group.startswith("system:") for group in entry.kubernetes_groups):
            inner.refuse("kubernetes_groups", "must not begin with system:, which EKS rejects")
        if policy == NO_POLICY and not entry.kubernetes_groups:
            inner.refuse(
                "policy",
                (
                    "or kubernetes_groups must be set, because otherwise the entry doesn't grant "
                    "access"
                ),
            )
        if entry.namespaces and policy in (NO_POLICY, "cluster-admin"):
            inner.refuse("namespaces", f'applies only to admin, edit, and view, not to "{policy}"')
        if any(entry.name == other.name for other in entries):
            inner.refuse("name", f'"{entry.name}" appears twice')
        entries.append(entry)
    return entries


def declare_access_entries(
    name: str,
    cluster: aws.eks.Cluster,
    entries: list[Entry],
    partition: pulumi.Output[str],
    children: Children,
) -> None:
    """Declare each entry and its policy association."""
    for entry in entries:
        made = aws.eks.AccessEntry(
            f"{name}-access-{entry.name}",
            cluster_name=cluster.name,
            principal_arn=entry.principal_arn,
            kubernetes_groups=entry.kubernetes_groups or None,
            type="STANDARD",
            opts=children.options(),
        )
        if not entry.policy:
            continue
        scope = (
            {"type": "namespace", "namespaces": entry.namespaces}
            if entry.namespaces
            else {"type": "cluster"}
        )
        aws.eks.AccessPolicyAssociation(
            f"{name}-access-{entry.name}",
            cluster_name=cluster.name,
            principal_arn=made.principal_arn,
            policy_arn=partition.apply(
                lambda known, of=entry.policy: f"arn:{known}:{ACCESS_POLICIES}/{of}"
            ),
            access_scope=scope,  # type: ignore[arg-type]  # one of the SDK's shapes, by its type
            opts=children.options(),
        )
