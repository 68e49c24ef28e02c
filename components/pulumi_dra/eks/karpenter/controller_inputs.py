"""Inputs of EksKarpenter and their checks."""

# No `from __future__ import annotations` in component modules: Pulumi's schema analyzer reads the
# annotations.
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import NotRequired, TypedDict

import pulumi
from msgspec import Struct

from pulumi_dra.dra.releases.images import SECRET_NAME, read_repository
from pulumi_dra.eks.naming import read_role_tags
from pulumi_dra.eks.rights.permissions_boundary import read_boundary
from pulumi_dra.inputs.kubernetes_version import check_version
from pulumi_dra.inputs.reader import InputReader

VERSION = "1.14.1"
OLDEST: Mapping[str, str] = MappingProxyType({"1.34": "1.8", "1.35": "1.9", "1.36": "1.13"})
"""Kubernetes version → the first Karpenter version for it
(aws/karpenter-provider-aws:website/content/en/docs/upgrading/ compatibility.md@1d927085). Static
capacity requires 1.8 (docs/reference/settings.md there).
"""


class EksKarpenterArgs(TypedDict):
    """Inputs of EksKarpenter."""

    cluster_name: pulumi.Input[str]
    """Name of the cluster in which Karpenter starts nodes."""
    cluster_endpoint: pulumi.Input[str]
    """Address of the cluster's API server, which the nodes use."""
    kubernetes_version: str
    """Kubernetes version of the cluster, "1.34"."""
    node_role_arn: pulumi.Input[str]
    """IAM role of the nodes. The role needs the same cluster access as the role of the system
    nodes.
    """
    version: NotRequired[str]
    """Version of Karpenter and its charts, "1.14.1". Default: the newest known version."""
    chart: NotRequired[str]
    """Chart to use instead of the published chart: a path, an archive, or an oci:// address."""
    crd_chart: NotRequired[str]
    """Chart of the CustomResourceDefinitions to use instead of the published karpenter-crd."""
    image_repository: NotRequired[str]
    """Image repository, without a tag, to use instead of the chart's repository, for example a
    mirror.
    """
    image_pull_secrets: NotRequired[list[str]]
    """Image pull secrets in kube-system."""
    replicas: NotRequired[int]
    """Number of Karpenter pods, each on a separate system node. Default: 2."""
    volume_key_arns: NotRequired[list[pulumi.Input[str]]]
    """Keys that encrypt the nodes' volumes. Karpenter uses these keys when it starts instances, so
    the key policies must allow access through IAM.
    """
    permissions_boundary_arn: NotRequired[pulumi.Input[str]]
    """Permissions boundary of the created role. Default: none."""
    tags: NotRequired[dict[str, pulumi.Input[str]]]
    """Tags for all taggable resources."""


class EksKarpenterInputs(Struct, frozen=True, kw_only=True):
    """The checked inputs, with default values."""

    cluster_name: pulumi.Input[str]
    cluster_endpoint: pulumi.Input[str]
    node_role_arn: pulumi.Input[str]
    version: str
    chart: str
    crd_chart: str
    image_repository: str
    image_pull_secrets: tuple[str, ...]
    replicas: int
    volume_key_arns: list[pulumi.Input[str]]
    permissions_boundary_arn: pulumi.Input[str] | None
    tags: dict[str, pulumi.Input[str]]


def read_karpenter_inputs(read: InputReader) -> EksKarpenterInputs:
    """Return the checked inputs, and record errors in `read`."""
    kubernetes = read.text("kubernetes_version", check=check_version)
    version = read.text(
        "version", VERSION, pattern=r"\d+\.\d+\.\d+", meaning='a version such as "1.14.1"'
    )
    oldest = OLDEST.get(kubernetes)
    if oldest is None and kubernetes and not read.has("version"):
        read.refuse(
            "version",
            f"is required, because no Karpenter version for Kubernetes {kubernetes} is known; "
            "set a version",
        )
    elif oldest and re.match(r"\d", version) and _parts(version) < _parts(oldest):
        read.refuse(
            "version",
            f"{version} is too old for Kubernetes {kubernetes}, which needs {oldest} or later",
        )
    return EksKarpenterInputs(
        cluster_name=read.required_identifier("cluster_name"),
        cluster_endpoint=read.required_identifier("cluster_endpoint"),
        node_role_arn=read.required_identifier(
            "node_role_arn", pattern="arn:.+:role/.+", meaning="the ARN of a role"
        ),
        version=version,
        chart=read.text("chart", ""),
        crd_chart=read.text("crd_chart", ""),
        image_repository=read_repository(read),
        image_pull_secrets=tuple(
            read.texts("image_pull_secrets", pattern=SECRET_NAME, meaning="a Secret's name")
        ),
        replicas=read.whole("replicas", 2, least=1, most=5),
        volume_key_arns=read.some_identifiers(
            "volume_key_arns", pattern="arn:.+:kms:.+", meaning="the ARN of a KMS key"
        ),
        permissions_boundary_arn=read_boundary(read),
        tags=read_role_tags(read),
    )


def _parts(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())
