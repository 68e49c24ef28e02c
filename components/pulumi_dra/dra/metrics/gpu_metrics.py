"""GPU metrics by claim: NVIDIA's DCGM exporter on the DRA nodes, a dashboard, and alerts."""

# No `from __future__ import annotations` in component modules: Pulumi's schema analyzer reads the
# annotations.
from typing import Any, NotRequired, TypedDict

import pulumi
import pulumi_kubernetes as k8s
import yaml
from msgspec import Struct

from dra_planner.clouds import DRA, label_key_fault, label_value_fault
from pulumi_dra.child_options import Children
from pulumi_dra.dra.metrics.alerts import rule_groups
from pulumi_dra.dra.metrics.dashboard import dashboard_json
from pulumi_dra.dra.node_terms import GPU_TOLERATION
from pulumi_dra.dra.releases.driver_tolerations import DriverToleration, read_tolerations
from pulumi_dra.dra.releases.optional_releases import (
    PinnedChart,
    ReleaseInputs,
    declare_release,
    read_release,
)
from pulumi_dra.inputs.reader import InputReader

DCGM = PinnedChart(
    release="dcgm-exporter",
    chart="dcgm-exporter",
    repository="https://nvidia.github.io/dcgm-exporter/helm-charts",
    version="4.8.3",
    namespace="dcgm-exporter",
    pod_security="privileged",
    least="4.8.3",
    least_does="supports claims on Kubernetes 1.34",
)
"""The first version that reads resource.k8s.io/v1 (NVIDIA/dcgm-exporter pull request 654). Earlier
versions wait for v1beta1, which Kubernetes 1.34 and later don't serve.
"""

DAEMON_SET = "dcgm-exporter"
REQUESTS = {"cpu": "100m", "memory": "128Mi"}
"""The pod's requests on each GPU node, equal to the chart's, so that fleets can count them
(`daemonPods`).
"""

OPERATOR, GOOGLE, ANNOTATIONS = "prometheus-operator", "google", "annotations"
COLLECTORS = (OPERATOR, GOOGLE, ANNOTATIONS)
_PORT = "metrics"  # name of the port in the chart's DaemonSet


class GpuMetricsArgs(TypedDict):
    """Inputs of GpuMetrics."""

    collector: NotRequired[str]
    """Collector of the metrics: prometheus-operator (creates a ServiceMonitor and a
    PrometheusRule), google (GKE's managed Prometheus with PodMonitoring and Rules), or annotations
    (prometheus.io/scrape on the pods, and the rules in a ConfigMap). Default: annotations or, on a
    GKE platform, google.
    """
    monitor_labels: NotRequired[dict[str, str]]
    """Labels by which Prometheus selects the ServiceMonitor and the PrometheusRule (for the
    kube-prometheus-stack chart, release: kube-prometheus-stack). Used only with
    prometheus-operator. Default: none.
    """
    version: NotRequired[str]
    """Version of the dcgm-exporter Helm chart, 4.8.3 or later. Default: 4.8.3, the first version
    that supports claims on Kubernetes 1.34.
    """
    chart: NotRequired[str]
    """Chart to use instead of the published chart: a path, an archive, or an oci:// address."""
    image_repository: NotRequired[str]
    """Image repository, without a tag, to use instead of the chart's repository, for example a
    mirror.
    """
    image_pull_secrets: NotRequired[list[str]]
    """Image pull secrets in the dcgm-exporter namespace."""
    driver_folder: NotRequired[str]
    """Folder of the NVIDIA driver, for nodes whose container runtime doesn't provide the driver
    (/home/kubernetes/bin/nvidia on GKE). Default: none or, on a platform, the cloud's folder.
    """
    tolerations: NotRequired[list[pulumi.Input[DriverToleration]]]
    """Additional node taints that the pods tolerate. The pods always tolerate nvidia.com/gpu."""


class GpuMetricsInputs(Struct, frozen=True, kw_only=True):
    """The checked inputs."""

    release: ReleaseInputs
    collector: str
    monitor_labels: dict[str, str]
    driver_folder: str
    tolerations: list[dict[str, str]]


def read_gpu_metrics(read: InputReader) -> GpuMetricsInputs:
    """Return the checked inputs, and record errors in `read`."""
    collector = read.choice("collector", COLLECTORS, ANNOTATIONS)
    if read.has("monitor_labels") and collector != OPERATOR:
        read.refuse("monitor_labels", f"applies only with collector: {OPERATOR}, not {collector}")
    return GpuMetricsInputs(
        release=read_release(read, DCGM),
        collector=collector,
        monitor_labels=_plain_labels(read),
        driver_folder=read.text(
            "driver_folder", "", pattern=r"/[^\s]+", meaning="an absolute path"
        ),
        tolerations=read_tolerations(read),
    )


def _plain_labels(read: InputReader) -> dict[str, str]:
    """Return `monitor_labels`, and record errors in `read`."""
    given = read.labels("monitor_labels", check=_label_fault)
    return {key: value for key, value in given.items() if isinstance(value, str)}


def _label_fault(key: str, value: str) -> str:
    return label_key_fault(key) or label_value_fault(value)


class GpuMetrics(pulumi.ComponentResource):
    """NVIDIA's DCGM exporter for nodes with the `nvidia.com/gpu.dra=true` label, with a dashboard
    and alerts.
    """

    namespace: pulumi.Output[str]
    """Namespace of the exporter."""

    def __init__(
        self, name: str, args: GpuMetricsArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        read = InputReader("GpuMetrics", name, args, GpuMetricsArgs)
        inputs = read_gpu_metrics(read)
        read.finish()
        super().__init__("pulumi-dra:index:GpuMetrics", name, {}, opts)
        children = Children(self, opts)
        # Otherwise, the provider would wait for every pod, even on nodes that don't exist yet.
        release, self.namespace = declare_release(
            name, DCGM, inputs.release, dcgm_values(inputs), children, skip_await=True
        )
        after = children.options(depends_on=[release])
        k8s.core.v1.ConfigMap(
            f"{name}-dashboard",
            # Grafana's chart loads ConfigMaps with this label (grafana/helm-charts:charts/grafana,
            # sidecar.dashboards).
            metadata=_named("gpus-and-claims-dashboard", {"grafana_dashboard": "1"}),
            data={"gpus-and-claims.json": dashboard_json()},
            opts=after,
        )
        self._declare_rules(name, inputs, after)
        self.register_outputs({"namespace": self.namespace})

    def _declare_rules(
        self, name: str, inputs: GpuMetricsInputs, opts: pulumi.ResourceOptions
    ) -> None:
        groups = rule_groups()
        if inputs.collector == ANNOTATIONS:
            k8s.core.v1.ConfigMap(
                f"{name}-rules",
                metadata=_named("gpus-and-claims-rules"),
                data={"gpus-and-claims.yaml": yaml.safe_dump({"groups": groups}, sort_keys=False)},
                opts=opts,
            )
            return
        google = inputs.collector == GOOGLE
        k8s.apiextensions.CustomResource(
            f"{name}-rules",
            api_version="monitoring.googleapis.com/v1" if google else "monitoring.coreos.com/v1",
            kind="Rules" if google else "PrometheusRule",
            metadata=_named("gpus-and-claims", inputs.monitor_labels),
            spec={"groups": groups},
            opts=opts,
        )
        if google:
            k8s.apiextensions.CustomResource(
                f"{name}-pods",
                api_version="monitoring.googleapis.com/v1",
                kind="PodMonitoring",
                metadata=_named("dcgm-exporter"),
                spec={
                    "selector": {"matchLabels": {"app.kubernetes.io/name": "dcgm-exporter"}},
                    "endpoints": [{"port": _PORT, "interval": "30s"}],
                },
                opts=opts,
            )


def _named(name: str, labels: dict[str, str] | None = None) -> Any:
    return {"name": name, "namespace": DCGM.namespace, **({"labels": labels} if labels else {})}


def dcgm_values(inputs: GpuMetricsInputs) -> dict[str, Any]:
    """Return the chart's values; every key exists in
    NVIDIA/dcgm-exporter:deployment/values.yaml@4.5.3-4.8.2.
    """
    values: dict[str, Any] = {
        "fullnameOverride": DAEMON_SET,
        "kubernetesDRA": {"enabled": True},
        "serviceMonitor": {
            "enabled": inputs.collector == OPERATOR,
            **({"additionalLabels": inputs.monitor_labels} if inputs.monitor_labels else {}),
        },
        "nodeSelector": {DRA: "true"},
        "tolerations": [dict(GPU_TOLERATION), *inputs.tolerations],
        "resources": {"requests": dict(REQUESTS), "limits": {"cpu": "200m", "memory": "512Mi"}},
    }
    if inputs.collector == ANNOTATIONS:
        values["podAnnotations"] = {"prometheus.io/scrape": "true", "prometheus.io/port": "9400"}
    if inputs.release.image():
        values["image"] = inputs.release.image()
    if inputs.release.image_pull_secrets:
        values["imagePullSecrets"] = [
            {"name": secret} for secret in inputs.release.image_pull_secrets
        ]
    if inputs.driver_folder:
        values |= _with_driver(inputs.driver_folder)
    return values


def _with_driver(folder: str) -> dict[str, Any]:
    """Return the values for nodes whose container runtime doesn't provide the driver (Google Cloud,
    “NVIDIA Data Center GPU Manager (DCGM)”).

    The API server rejects a privileged container that denies privilege escalation, as the chart's
    own settings do.
    """
    inside = "/usr/local/nvidia"
    return {
        "extraHostVolumes": [{"name": "nvidia-driver", "hostPath": folder}],
        "extraVolumeMounts": [
            *_COUNTERS,
            {"name": "nvidia-driver", "mountPath": inside, "readOnly": True},
        ],
        "extraEnv": [{"name": "LD_LIBRARY_PATH", "value": f"{inside}/lib64"}],
        "securityContext": {"privileged": True, "allowPrivilegeEscalation": True},
    }


_COUNTERS = (
    # The chart's own mount of the metrics list is repeated, because a list in the values replaces
    # the chart's list.
    {
        "name": "exporter-metrics-volume",
        "mountPath": "/etc/dcgm-exporter/default-counters.csv",
        "subPath": "default-counters.csv",
    },
)
