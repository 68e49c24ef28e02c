"""DRANET on EKS, which publishes EFA interfaces that pods claim together with GPUs. GKE runs its
own DRANET.
"""

# No `from __future__ import annotations` in component modules: Pulumi's schema analyzer reads the
# annotations.
from typing import Any, NotRequired, TypedDict

import pulumi
import pulumi_kubernetes as k8s

from dra_planner.clouds import DRA
from dra_planner.drivers import chart_version_fault
from pulumi_dra.child_options import Children
from pulumi_dra.dra.node_terms import GPU_TOLERATION
from pulumi_dra.dra.releases.driver_tolerations import DriverToleration, read_tolerations
from pulumi_dra.dra.releases.images import read_repository
from pulumi_dra.dra.releases.release_status import require_deployed
from pulumi_dra.inputs.reader import InputReader

RELEASE = CHART = "aws-dranet"
REPOSITORY = "https://aws.github.io/eks-charts"
VERSION = "1.0.0"
NAMESPACE = "kube-system"
DEVICE_CLASS = "efa.networking.k8s.aws"
"""The class that the chart creates (aws/eks-charts:stable/aws-dranet/values.yaml)."""


class DranetArgs(TypedDict):
    """Inputs of Dranet."""

    version: NotRequired[str]
    """Version of the aws-dranet Helm chart. Default: 1.0.0."""
    chart: NotRequired[str]
    """Chart to use instead of the published chart: a path, an archive, or an oci:// address."""
    image_repository: NotRequired[str]
    """Image repository, without a tag, to use instead of the chart's repository, for example a
    repository in another region or a mirror.
    """
    tolerations: NotRequired[list[pulumi.Input[DriverToleration]]]
    """Additional node taints that the pods tolerate. The pods always tolerate nvidia.com/gpu."""


class Dranet(pulumi.ComponentResource):
    """DRANET on nodes with the `nvidia.com/gpu.dra=true` label and EFA interfaces."""

    device_class: pulumi.Output[str]
    """Name of the DeviceClass for EFA interfaces."""

    def __init__(
        self, name: str, args: DranetArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        read = InputReader("Dranet", name, args, DranetArgs)
        version = read.text("version", VERSION, check=chart_version_fault)
        chart = read.text("chart", "")
        values = dranet_values(read_repository(read), read_tolerations(read))
        read.finish()
        super().__init__("pulumi-dra:index:Dranet", name, {}, opts)
        installed = k8s.helm.v3.Release(
            f"{name}-release",
            name=RELEASE,
            namespace=NAMESPACE,
            chart=chart or CHART,
            version=None if chart else version,
            repository_opts=None if chart else {"repo": REPOSITORY},
            values=values,
            # Otherwise, the provider would wait for every pod, even on nodes that don't exist yet.
            skip_await=True,
            opts=Children(self, opts).options(delete_before_replace=True),
        )
        # A failed release must also stop the deployment here: see `require_deployed`.
        self.device_class = installed.status.apply(
            lambda status: DEVICE_CLASS if require_deployed(RELEASE, status) else ""
        )
        self.register_outputs({"device_class": self.device_class})


def dranet_values(repository: str, tolerations: list[dict[str, str]]) -> dict[str, Any]:
    """Return the chart's values. The chart itself knows which machine types have EFA.

    Every key exists in aws/eks-charts:stable/aws-dranet/values.yaml.
    """
    values: dict[str, Any] = {
        "nodeSelector": {DRA: "true"},
        "tolerations": [dict(GPU_TOLERATION), *tolerations],
    }
    if repository:
        values["image"] = {"repository": repository}
    return values
