"""KubeRay: the operator for Ray clusters, jobs, and services, whose pods can use claims."""

# No `from __future__ import annotations` in component modules: Pulumi's schema analyzer reads the
# annotations.
from typing import Any, NotRequired, TypedDict

import pulumi

from pulumi_dra.child_options import Children
from pulumi_dra.dra.releases.optional_releases import (
    PinnedChart,
    ReleaseInputs,
    declare_release,
    read_release,
)
from pulumi_dra.inputs.reader import InputReader

KUBERAY = PinnedChart(
    release="kuberay-operator",
    chart="kuberay-operator",
    repository="https://ray-project.github.io/kuberay-helm/",
    version="1.7.0",
    namespace="kuberay-system",
)
"""ray-project/kuberay:helm-chart/kuberay-operator@v1.7.0."""


class KubeRayArgs(TypedDict):
    """Inputs of KubeRay."""

    version: NotRequired[str]
    """Version of the kuberay-operator Helm chart. Default: 1.7.0."""
    chart: NotRequired[str]
    """Chart to use instead of the published chart: a path, an archive, or an oci:// address."""
    image_repository: NotRequired[str]
    """Image repository, without a tag, to use instead of the chart's repository, for example a
    mirror.
    """
    image_pull_secrets: NotRequired[list[str]]
    """Image pull secrets in the kuberay-system namespace."""


class KubeRay(pulumi.ComponentResource):
    """The KubeRay operator, which runs Ray clusters, jobs, and services."""

    namespace: pulumi.Output[str]
    """Namespace of the operator."""

    def __init__(
        self, name: str, args: KubeRayArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        read = InputReader("KubeRay", name, args, KubeRayArgs)
        inputs = read_release(read, KUBERAY)
        read.finish()
        super().__init__("pulumi-dra:index:KubeRay", name, {}, opts)
        _, self.namespace = declare_release(
            name, KUBERAY, inputs, kuberay_values(inputs), Children(self, opts)
        )
        self.register_outputs({"namespace": self.namespace})


def kuberay_values(inputs: ReleaseInputs) -> dict[str, Any]:
    """Return the chart's values; every key exists in
    ray-project/kuberay:helm-chart/kuberay-operator@v1.7.0.

    The chart's own limits (0.1 cores) are for a handful of clusters. The requests are set
    explicitly, so that the scheduler reserves them on a system node.
    """
    values: dict[str, Any] = {
        "resources": {
            "requests": {"cpu": "100m", "memory": "512Mi"},
            "limits": {"cpu": "1", "memory": "1Gi"},
        }
    }
    if inputs.image():
        values["image"] = inputs.image()
    if inputs.image_pull_secrets:
        values["imagePullSecrets"] = [{"name": secret} for secret in inputs.image_pull_secrets]
    return values
