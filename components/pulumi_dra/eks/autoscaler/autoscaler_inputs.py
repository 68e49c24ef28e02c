"""Inputs of EksClusterAutoscaler and their checks."""

# No `from __future__ import annotations` in component modules: Pulumi's schema analyzer reads the
# annotations.
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

CHART_VERSION = "9.59.0"
"""The first chart version that grants access to claims and slices is 9.54.0 (kubernetes/autoscaler
issue 9244).
"""


class AutoscalerRelease(Struct, frozen=True):
    """A version of the cluster autoscaler, with the flags that enable DRA."""

    version: str
    flags: tuple[tuple[str, str], ...] = ()


RELEASES: Mapping[str, AutoscalerRelease] = MappingProxyType(
    {
        # The autoscaler supports claims if this flag is set. Since 1.35, it always supports claims
        # (cluster-autoscaler/main.go at these tags).
        "1.34": AutoscalerRelease("1.34.5", (("enable-dynamic-resource-allocation", "true"),)),
        "1.35": AutoscalerRelease("1.35.2"),
        "1.36": AutoscalerRelease("1.36.1"),
    }
)
"""Kubernetes version → the latest patch of its autoscaler (tags of kubernetes/autoscaler of
2026-07-22).
"""

_OWN_FLAGS = frozenset({"cloud-provider", "namespace", "node-group-auto-discovery"})


class EksClusterAutoscalerArgs(TypedDict):
    """Inputs of EksClusterAutoscaler."""

    cluster_name: pulumi.Input[str]
    """Name of the cluster whose managed node groups the autoscaler scales."""
    kubernetes_version: str
    """Kubernetes version of the cluster, "1.34". The autoscaler uses the same minor version."""
    version: NotRequired[str]
    """Version of the autoscaler, "1.34.5". Default: the newest known version for the cluster's
    Kubernetes version.
    """
    chart: NotRequired[str]
    """Chart to use instead of the published chart: a path, an archive, or an oci:// address."""
    image_repository: NotRequired[str]
    """Image repository, without a tag, to use instead of the chart's repository, for example a
    mirror.
    """
    image_pull_secrets: NotRequired[list[str]]
    """Image pull secrets in kube-system."""
    flags: NotRequired[dict[str, str]]
    """Additional flags without dashes: {"scale-down-unneeded-time": "30m"}."""
    permissions_boundary_arn: NotRequired[pulumi.Input[str]]
    """Permissions boundary of the created role. Default: none."""
    tags: NotRequired[dict[str, pulumi.Input[str]]]
    """Tags for all taggable resources."""


class EksClusterAutoscalerInputs(Struct, frozen=True, kw_only=True):
    """The checked inputs, with default values."""

    cluster_name: pulumi.Input[str]
    version: str
    chart: str
    image_repository: str
    image_pull_secrets: tuple[str, ...]
    flags: dict[str, str]
    permissions_boundary_arn: pulumi.Input[str] | None
    tags: dict[str, pulumi.Input[str]]


def read_autoscaler_inputs(read: InputReader) -> EksClusterAutoscalerInputs:
    """Return the checked inputs, and record errors in `read`."""
    kubernetes = read.text("kubernetes_version", check=check_version)
    known = RELEASES.get(kubernetes)
    if known is None and kubernetes and not read.has("version"):
        read.refuse(
            "version",
            f"is required, because no autoscaler version for Kubernetes {kubernetes} is "
            "known; set a version",
        )
    release = known or AutoscalerRelease("")
    version = read.text(
        "version", release.version, pattern=r"\d+\.\d+\.\d+", meaning='a version such as "1.34.5"'
    )
    if read.has("version") and kubernetes and not version.startswith(f"{kubernetes}."):
        read.refuse(
            "version",
            f"{version} doesn't support Kubernetes {kubernetes}, because both must have the same "
            "minor version",
        )
    flags = read.labels("flags")
    for name in flags:
        if name.startswith("-") or name in _OWN_FLAGS or not isinstance(flags[name], str):
            reason = (
                "is already set by this component"
                if name in _OWN_FLAGS
                else "must map a flag without dashes to a string"
            )
            read.refuse(f"flags.{name}", reason)
    return EksClusterAutoscalerInputs(
        cluster_name=read.required_identifier("cluster_name"),
        version=version,
        chart=read.text("chart", ""),
        image_repository=read_repository(read),
        image_pull_secrets=tuple(
            read.texts("image_pull_secrets", pattern=SECRET_NAME, meaning="a Secret's name"),
        ),
        flags={
            **dict(release.flags),
            **{name: value for name, value in flags.items() if isinstance(value, str)},
        },
        permissions_boundary_arn=read_boundary(read),
        tags=read_role_tags(read),
    )
