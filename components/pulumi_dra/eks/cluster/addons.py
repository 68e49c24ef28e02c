"""Add-ons of every cluster: pod network and Pod Identity before the first node, DNS after it."""

import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import pulumi
import pulumi_aws as aws
from msgspec import Struct

from pulumi_dra.child_options import Children
from pulumi_dra.eks.rights.roles import CNI_POLICIES, declare_role

CNI = "vpc-cni"
ADDONS = (CNI, "kube-proxy", "coredns", "eks-pod-identity-agent")
NODE_MONITORING, METRICS_SERVER = "eks-node-monitoring-agent", "metrics-server"
MOST_RECENT = "most-recent"
PREFIX_DELEGATION = "ENABLE_PREFIX_DELEGATION"  # aws/amazon-vpc-cni-k8s:README.md


class StorageDriver(Struct, frozen=True):
    """An add-on that creates and mounts volumes: its controller's service account, and the managed
    policy for it.

    `node` is the same for its pods on the nodes, if they also call AWS.
    """

    addon: str
    service_account: str
    policy: str
    node: tuple[str, str] | None = None


STORAGE: Mapping[str, StorageDriver] = MappingProxyType(
    {
        "ebs": StorageDriver(
            "aws-ebs-csi-driver", "ebs-csi-controller-sa", "service-role/AmazonEBSCSIDriverPolicy"
        ),
        "efs": StorageDriver(
            "aws-efs-csi-driver",
            "efs-csi-controller-sa",
            "service-role/AmazonEFSCSIDriverPolicy",
            # If the name of a mount target can't be resolved, the mounting pod requests its address
            # from AWS. The pod also writes logs.
            ("efs-csi-node-sa", "AmazonElasticFileSystemsUtils"),
        ),
        "fsx": StorageDriver("aws-fsx-csi-driver", "fsx-csi-controller-sa", "AmazonFSxFullAccess"),
    }
)
"""Accounts:
kubernetes-sigs/aws-ebs-csi-driver:deploy/kubernetes/base/serviceaccount-csi-controller.yaml@232ebc5,
aws-efs-csi-driver:charts/aws-efs-csi-driver/values.yaml@00a24b4,
aws-fsx-csi-driver:charts/aws-fsx-csi-driver/ values.yaml@05bcb51. Policies: Amazon EKS user guide,
“AWS add-ons”; node pods: aws-efs-csi-driver:docs/iam-policy-create.md@a4fc676, without the
permissions for S3 Files, which this package doesn't support.
"""


def vpc_cni_settings(
    *,
    network_policy: bool,
    prefix_delegation: bool,
    others: Mapping[str, Any] = MappingProxyType({}),
) -> dict[str, Any]:
    """Return the add-on's configuration merged with `others`. Its schema requires all values as
    text.
    """
    settings: dict[str, Any] = {
        **others,
        "enableNetworkPolicy": "true" if network_policy else "false",
    }
    if prefix_delegation:
        # Keeps one prefix in reserve, which is the add-on's default
        # (aws/amazon-vpc-cni-k8s:README.md).
        settings["env"] = {
            "WARM_PREFIX_TARGET": "1",
            **settings.get("env", {}),
            PREFIX_DELEGATION: "true",
        }
    return settings


class Addons:
    """Declares the add-ons of one cluster in the requested versions."""

    def __init__(
        self,
        name: str,
        cluster: aws.eks.Cluster,
        versions: Mapping[str, pulumi.Input[str]],
        settings: Mapping[str, Mapping[str, Any]],
        children: Children,
        tags: dict[str, pulumi.Input[str]],
        boundary: pulumi.Input[str] | None,
    ) -> None:
        self._name, self._cluster, self._versions, self._settings = (
            name,
            cluster,
            versions,
            settings,
        )
        self._children, self._tags, self._boundary = children, tags, boundary

    def declare_before_nodes(
        self, partition: pulumi.Output[str], *, network_policy: bool, prefix_delegation: bool
    ) -> list[pulumi.Resource]:
        """Declare the add-ons that a node needs to become ready. The pod network has its own role
        through Pod Identity.
        """
        role, policies = declare_role(
            f"{self._name}-cni",
            "pods.eks.amazonaws.com",
            CNI_POLICIES,
            partition,
            self._children,
            self._tags,
            self._boundary,
        )
        return [
            self._declare("eks-pod-identity-agent"),
            self._declare(
                CNI,
                policies,
                settings=vpc_cni_settings(
                    network_policy=network_policy,
                    prefix_delegation=prefix_delegation,
                    others=self._settings.get(CNI, {}),
                ),
                pod_identity_associations=[{"service_account": "aws-node", "role_arn": role.arn}],
            ),
            self._declare("kube-proxy"),
        ]

    def declare_after_nodes(
        self,
        nodes: Sequence[pulumi.Resource],
        partition: pulumi.Output[str],
        *,
        node_monitoring: bool,
        metrics_server: bool,
        storage_drivers: Sequence[str],
    ) -> list[pulumi.Resource]:
        """Declare the add-ons that run as ordinary pods and are degraded until a node exists."""
        optional = {NODE_MONITORING: node_monitoring, METRICS_SERVER: metrics_server}
        wanted = ["coredns", *(addon for addon, is_wanted in optional.items() if is_wanted)]
        declared: list[pulumi.Resource] = [self._declare(addon, nodes) for addon in wanted]
        return [
            *declared,
            *(self._declare_storage(STORAGE[each], nodes, partition) for each in storage_drivers),
        ]

    def _declare_storage(
        self, driver: StorageDriver, nodes: Sequence[pulumi.Resource], partition: pulumi.Output[str]
    ) -> aws.eks.Addon:
        """Declare a storage driver. Its controller, and its pods on nodes if needed, have their own
        roles through Pod Identity.
        """
        role, policies = self._storage_role(driver.addon, driver.policy, partition)
        association = {"service_account": driver.service_account, "role_arn": role.arn}
        before = [*nodes, *policies]
        if driver.node:
            account, policy = driver.node
            name = f"{driver.addon}-node"
            of_node, rights = self._storage_role(name, policy, partition)
            # This is a separate association, because before version 3.0, the add-on's own
            # associations support only the controller's service account (AWS re:Post, “How to Use a
            # Dedicated IAM Role with the EFS CSI Driver Node Component in Amazon EKS Using Pod
            # Identity”).
            identity = aws.eks.PodIdentityAssociation(
                f"{self._name}-{name}",
                cluster_name=self._cluster.name,
                namespace="kube-system",
                service_account=account,
                role_arn=of_node.arn,
                tags=self._tags,
                opts=self._children.options(depends_on=rights),
            )
            before.append(identity)
        return self._declare(driver.addon, before, pod_identity_associations=[association])

    def _storage_role(
        self, name: str, policy: str, partition: pulumi.Output[str]
    ) -> tuple[aws.iam.Role, list[pulumi.Resource]]:
        return declare_role(
            f"{self._name}-{name}",
            "pods.eks.amazonaws.com",
            [policy],
            partition,
            self._children,
            self._tags,
            self._boundary,
        )

    def _declare(
        self,
        addon: str,
        depends_on: Sequence[pulumi.Resource] = (),
        *,
        settings: Mapping[str, Any] | None = None,
        pod_identity_associations: Any = None,
    ) -> aws.eks.Addon:
        version, values = self._versions.get(addon), settings or self._settings.get(addon)
        if version == MOST_RECENT:
            version = aws.eks.get_addon_version_output(
                addon_name=addon,
                kubernetes_version=self._cluster.version,
                most_recent=True,
                opts=self._children.invoke_options(),
            ).version
        return aws.eks.Addon(
            f"{self._name}-{addon}",
            cluster_name=self._cluster.name,
            addon_name=addon,
            addon_version=version,
            resolve_conflicts_on_create="OVERWRITE",
            resolve_conflicts_on_update="PRESERVE",
            tags=self._tags,
            # "{}" instead of None: without a configuration, the provider keeps the add-on's
            # previous settings
            # (hashicorp/terraform-provider-aws:internal/service/eks/addon.go@00a35305)
            configuration_values=json.dumps(values or {}, sort_keys=True),
            pod_identity_associations=pod_identity_associations,
            opts=self._children.options(depends_on=depends_on),
        )
