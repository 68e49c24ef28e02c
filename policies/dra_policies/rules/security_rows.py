"""The rows of the security baseline: what is wrong with a resource, as data.

A row is broken for certain or not at all: what is not known, or left to an account's default, breaks none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from dra_policies.unknowns import UNKNOWN, Properties

EVERYWHERE: Final = ("0.0.0.0/0", "::/0")
EKS, TEMPLATE = "aws:eks/cluster:Cluster", "aws:ec2/launchTemplate:LaunchTemplate"
GKE, NODES = "gcp:container/cluster:Cluster", "gcp:container/nodePool:NodePool"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One thing that a resource should not be; `reference` is who else says so."""

    token: str
    kind: str
    broken: Callable[[Properties], bool]
    says: str
    fix: str
    reference: str


def _open_to_everywhere(props: Properties) -> bool:
    """EKS opens an endpoint to the world where nothing else is said (CreateCluster, VpcConfigRequest)."""
    cidrs = props.texts("vpcConfig.publicAccessCidrs")
    is_public = props.flag("vpcConfig.endpointPublicAccess", default=True)
    return bool(is_public) and cidrs is not None and (not cidrs or any(cidr in EVERYWHERE for cidr in cidrs))


def _no_audit_log(props: Properties) -> bool:
    kinds = props.texts("enabledClusterLogTypes")
    return kinds is not None and None not in kinds and "audit" not in kinds


def _unencrypted_disk(props: Properties) -> bool:
    disks = props.items("blockDeviceMappings") or ()
    return any(disk.at("ebs.encrypted") in (False, "false") for disk in disks)


def _authorized_everywhere(props: Properties) -> bool:
    blocks = props.items("masterAuthorizedNetworksConfig.cidrBlocks") or ()
    return any(block.text("cidrBlock") in EVERYWHERE for block in blocks)


def _is(path: str, *bad: object) -> Callable[[Properties], bool]:
    return lambda props: props.at(path) is not UNKNOWN and props.at(path) in bad


ROWS: Final = (
    Row(
        token=EKS,
        kind="cluster",
        broken=_open_to_everywhere,
        says="its API endpoint is open to the whole internet",
        fix="set vpcConfig.endpointPublicAccess to false, or vpcConfig.publicAccessCidrs to your own networks",
        reference="CKV_AWS_38, Security Hub EKS.1",
    ),
    Row(
        token=EKS,
        kind="cluster",
        broken=_no_audit_log,
        says="it keeps no audit log",
        fix='set enabledClusterLogTypes to ["api", "audit", "authenticator", "controllerManager", "scheduler"]',
        reference="CKV_AWS_37, CIS 2.1",
    ),
    Row(
        token=EKS,
        kind="cluster",
        broken=_is("encryptionConfig", None),
        says="its secrets are not encrypted with a key of yours",
        fix='set encryptionConfig to a KMS key, with resources ["secrets"]',
        reference="CKV_AWS_58",
    ),
    Row(
        token=TEMPLATE,
        kind="launch template",
        broken=_is("metadataOptions.httpTokens", "optional"),
        says="its nodes answer metadata requests without a token (IMDSv1), so a pod may take the node's role",
        fix='set metadataOptions.httpTokens to "required"',
        reference="CKV_AWS_79",
    ),
    Row(
        token=TEMPLATE,
        kind="launch template",
        broken=_unencrypted_disk,
        says="a disk of its nodes is not encrypted",
        fix="set ebs.encrypted of each of blockDeviceMappings to true",
        reference="CKV_AWS_8",
    ),
    Row(
        token=GKE,
        kind="cluster",
        broken=_authorized_everywhere,
        says="its API endpoint is open to the whole internet",
        fix="name your own networks in masterAuthorizedNetworksConfig.cidrBlocks",
        reference="CKV_GCP_20, CIS GKE 5.6.3",
    ),
    Row(
        token=GKE,
        kind="cluster",
        broken=_is("loggingService", "none"),
        says="it keeps no logs",
        fix='set loggingService to "logging.googleapis.com/kubernetes"',
        reference="CKV_GCP_1, CIS GKE 5.7.1",
    ),
    Row(
        token=GKE,
        kind="cluster",
        broken=_is("enableLegacyAbac", True),
        says="it lets in by attributes, past RBAC",
        fix="set enableLegacyAbac to false",
        reference="CKV_GCP_7, CIS GKE 5.8.4",
    ),
    Row(
        token=NODES,
        kind="node pool",
        broken=_is("nodeConfig.shieldedInstanceConfig.enableIntegrityMonitoring", False),
        says="nobody watches whether its nodes boot what they should",
        fix="set nodeConfig.shieldedInstanceConfig.enableIntegrityMonitoring to true",
        reference="CIS GKE 5.5.6",
    ),
)
