"""Create the optional releases (GPU metrics, queues, Ray) from a fleet and a stack's options."""

from typing import Any, cast

import pulumi

from dra_planner.clouds import cloud
from dra_planner.fleet import Amount, Fleet
from pulumi_dra.dra.metrics.gpu_metrics import (
    DAEMON_SET,
    REQUESTS,
    GpuMetrics,
    GpuMetricsArgs,
    read_gpu_metrics,
)
from pulumi_dra.dra.node_terms import pool_tolerations
from pulumi_dra.dra.releases.kuberay import KUBERAY, KubeRay, KubeRayArgs
from pulumi_dra.dra.releases.kueue import CHART_CLASSES, Kueue, KueueArgs, read_kueue
from pulumi_dra.dra.releases.optional_releases import read_release
from pulumi_dra.inputs.reader import InputReader
from pulumi_dra.platform.platform_inputs import DraPlatformInputs


def check_releases(read: InputReader, inputs: DraPlatformInputs, fleet: Fleet) -> None:
    """Record in `read` which inputs the releases would reject, and daemon pods that the plan
    doesn't include.
    """
    requested = inputs.releases
    if "gpu_metrics" in requested:
        read_gpu_metrics(read.inside("gpu_metrics", metrics_args(inputs, fleet), GpuMetricsArgs))
        if problem := _uncounted(fleet):
            read.refuse("gpu_metrics", problem)
    if "kueue" in requested:
        read_kueue(read.inside("kueue", kueue_args(inputs, fleet), KueueArgs))
    if "kube_ray" in requested:
        read_release(read.inside("kube_ray", requested["kube_ray"], KubeRayArgs), KUBERAY)


def declare_releases(
    name: str, inputs: DraPlatformInputs, fleet: Fleet, options: pulumi.ResourceOptions
) -> None:
    """Declare the requested releases. Kueue comes last, because API requests fail while Kueue's
    webhook starts.
    """
    requested, before = inputs.releases, list[pulumi.Resource]()
    if "gpu_metrics" in requested:
        before.append(GpuMetrics(f"{name}-gpu-metrics", metrics_args(inputs, fleet), opts=options))
    if "kube_ray" in requested:
        before.append(
            KubeRay(
                f"{name}-kube-ray", cast(KubeRayArgs, dict(requested["kube_ray"])), opts=options
            )
        )
    if "kueue" in requested:
        last = pulumi.ResourceOptions.merge(options, pulumi.ResourceOptions(depends_on=before))
        Kueue(f"{name}-kueue", kueue_args(inputs, fleet), opts=last)


def metrics_args(inputs: DraPlatformInputs, fleet: Fleet) -> GpuMetricsArgs:
    """Return the inputs of GpuMetrics: the driver's folder, the collector, and the taints of the
    pools.
    """
    given: dict[str, Any] = dict(inputs.releases["gpu_metrics"])
    of_cloud = cloud(fleet.cloud)
    args = {"collector": of_cloud.metrics_collector, **given}
    if fleet.driver_root != "/":
        args.setdefault("driver_folder", fleet.driver_root)
    args["tolerations"] = [*pool_tolerations(fleet), *given.get("tolerations", [])]
    return cast(GpuMetricsArgs, args)


def kueue_args(inputs: DraPlatformInputs, fleet: Fleet) -> KueueArgs:
    """Return the inputs of Kueue: the driver's classes and the fleet's custom classes."""
    classes = [
        *CHART_CLASSES,
        *(each.name for each in fleet.device_classes if each.name not in CHART_CLASSES),
    ]
    return cast(KueueArgs, {"device_classes": classes, **inputs.releases["kueue"]})


def _uncounted(fleet: Fleet) -> str:
    """Return why the plan doesn't count the exporter's pods, or ""."""
    planned, needed = fleet.daemon_pods.get(DAEMON_SET), Amount(**REQUESTS)
    if isinstance(planned, Amount) and all(
        planned.amounts[unit] >= most for unit, most in needed.amounts.items()
    ):
        return ""
    amount = f"{{cpu: {REQUESTS['cpu']}, memory: {REQUESTS['memory']}}}"
    return (
        "runs pods on every GPU node, and the plan must count them; add daemonPods: "
        f"{{{DAEMON_SET}: {amount}}} to the fleet"
    )
