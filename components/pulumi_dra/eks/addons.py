"""The add-ons that every cluster has: pod network and identity before the first node, name service after it."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pulumi
import pulumi_aws as aws

from pulumi_dra.children import Children
from pulumi_dra.eks.roles import CNI_POLICIES, declare_role

ADDONS = ("vpc-cni", "kube-proxy", "coredns", "eks-pod-identity-agent")
MOST_RECENT = "most-recent"


def vpc_cni_settings(network_policy: bool) -> str:
    """Return the add-on's configuration as JSON: prefixes for dense nodes, and network policy."""
    # The add-on's schema wants the switch as text.
    return json.dumps({"enableNetworkPolicy": "true" if network_policy else "false"}, sort_keys=True)


def declare_addons_before_nodes(
    name: str,
    cluster: aws.eks.Cluster,
    versions: Mapping[str, pulumi.Input[str]],
    network_policy: bool,
    partition: pulumi.Output[str],
    children: Children,
    tags: dict[str, pulumi.Input[str]],
) -> list[pulumi.Resource]:
    """Declare what a node needs to become ready. The pod network has a role of its own, by Pod Identity."""
    cni_role, cni_policies = declare_role(
        f"{name}-cni", "pods.eks.amazonaws.com", CNI_POLICIES, partition, children, tags
    )
    agent = _declare(name, "eks-pod-identity-agent", cluster, versions, children, tags, [])
    cni = _declare(
        name,
        "vpc-cni",
        cluster,
        versions,
        children,
        tags,
        [*cni_policies],
        configuration_values=vpc_cni_settings(network_policy),
        pod_identity_associations=[{"service_account": "aws-node", "role_arn": cni_role.arn}],
    )
    return [agent, cni, _declare(name, "kube-proxy", cluster, versions, children, tags, [])]


def declare_addons_after_nodes(
    name: str,
    cluster: aws.eks.Cluster,
    versions: Mapping[str, pulumi.Input[str]],
    children: Children,
    tags: dict[str, pulumi.Input[str]],
    nodes: Sequence[pulumi.Resource],
) -> list[pulumi.Resource]:
    """Declare what runs as ordinary pods and is degraded until a node takes them."""
    return [_declare(name, "coredns", cluster, versions, children, tags, nodes)]


def _declare(
    name: str,
    addon: str,
    cluster: aws.eks.Cluster,
    versions: Mapping[str, pulumi.Input[str]],
    children: Children,
    tags: dict[str, pulumi.Input[str]],
    depends_on: Sequence[pulumi.Resource],
    **settings: Any,
) -> aws.eks.Addon:
    version = versions.get(addon)
    if version == MOST_RECENT:
        version = aws.eks.get_addon_version_output(
            addon_name=addon, kubernetes_version=cluster.version, most_recent=True, opts=children.invoke_options()
        ).version
    return aws.eks.Addon(
        f"{name}-{addon}",
        cluster_name=cluster.name,
        addon_name=addon,
        addon_version=version,
        resolve_conflicts_on_create="OVERWRITE",
        resolve_conflicts_on_update="PRESERVE",
        tags=tags,
        opts=children.options(depends_on=depends_on),
        **settings,
    )
