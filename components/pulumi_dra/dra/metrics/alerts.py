"""Prometheus recording rules and alerts for GPUs and claims, each with the publisher of its
metrics.

Plain values in the format that Prometheus, its operator, and Google's managed Prometheus share.
"""

from typing import Any

CLAIM = "dra_claim_namespace, dra_claim_name"
"""Labels of a device that a claim holds
(NVIDIA/dcgm-exporter:internal/pkg/transformation/const.go@4.5.3-4.8.2).
"""
USE_OF_CLAIMS = "dra_claim:gpu_utilization_percent:avg"

METRICS = {
    # NVIDIA/dcgm-exporter:etc/default-counters.csv@4.5.3-4.8.2
    "DCGM_FI_DEV_XID_ERRORS": "dcgm-exporter",
    "DCGM_FI_DEV_ROW_REMAP_FAILURE": "dcgm-exporter",
    "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS": "dcgm-exporter",
    "DCGM_FI_DEV_GPU_UTIL": "dcgm-exporter",
    "DCGM_FI_DEV_FB_USED": "dcgm-exporter",
    "DCGM_FI_DEV_GPU_TEMP": "dcgm-exporter",
    "DCGM_FI_DEV_POWER_USAGE": "dcgm-exporter",
    "DCGM_FI_PROF_GR_ENGINE_ACTIVE": "dcgm-exporter",
    # kubernetes/kubernetes:pkg/scheduler/metrics/metrics.go,
    # pkg/controller/resourceclaim/metrics/metrics.go@v1.34.9 to v1.37.0
    "scheduler_unschedulable_pods": "kube-scheduler",
    "resourceclaim_controller_resource_claims": "kube-controller-manager",
    # kubernetes/kube-state-metrics:docs/metrics/workload/daemonset-metrics.md
    "kube_daemonset_status_number_unavailable": "kube-state-metrics",
}
"""Every metric that an expression reads, and which program publishes it."""

APPLICATION_XIDS = (13, 31, 43, 45, 68, 109)
"""Errors that programs cause and that leave the GPU healthy
(kubernetes-sigs/dra-driver-nvidia-gpu:cmd/gpu-kubelet-plugin/device_health.go@v0.5.0).
"""

PENDING_PODS = 'max(scheduler_unschedulable_pods{plugin="DynamicResources"})'
PENDING_CLAIMS = (
    'max(sum by (instance) (resourceclaim_controller_resource_claims{allocated="false"}))'
)
BROKEN = " != ".join(["DCGM_FI_DEV_XID_ERRORS > 0", *map(str, APPLICATION_XIDS)])
_PLUGIN = "(nvidia-dra-driver-gpu|dra-driver-nvidia-gpu)-kubelet-plugin"
# The first metric also exists for MIG devices. GPUs without profiling have only the second metric.
_USE = (
    f'avg by ({CLAIM}) (100 * DCGM_FI_PROF_GR_ENGINE_ACTIVE{{dra_claim_name!=""}})'
    f' or avg by ({CLAIM}) (DCGM_FI_DEV_GPU_UTIL{{dra_claim_name!=""}})'
)


def rule_groups() -> list[dict[str, Any]]:
    """Return the rule groups: pending claims, broken devices, and unused claims."""
    groups = {
        "pulumi-dra-claims": _claim_alerts(),
        "pulumi-dra-devices": _device_alerts(),
        "pulumi-dra-use": _use_rules(),
    }
    return [{"name": name, "interval": "1m", "rules": rules} for name, rules in groups.items()]


def _claim_alerts() -> list[dict[str, Any]]:
    return [
        _alert(
            "ClaimingPodsPending",
            f"{PENDING_PODS} > 0",
            "15m",
            "warning",
            "{{ $value }} pods are pending because no node has the devices that their claims "
            "request",
            "`pulumi-dra explain --observed` prints the reason for each pod, such as a pool at its "
            "maximum or a selector without a match",
        ),
        _alert(
            "ResourceClaimsPending",
            f"{PENDING_CLAIMS} > 0",
            "30m",
            "info",
            "{{ $value }} ResourceClaims aren't allocated",
            "the number includes claims without pods",
        ),
        _alert(
            "DraDriverUnavailable",
            f'kube_daemonset_status_number_unavailable{{daemonset=~"{_PLUGIN}"}} > 0',
            "15m",
            "warning",
            "the DRA driver isn't ready on {{ $value }} nodes",
            "the devices on these nodes aren't published, so pods with claims don't start on them",
        ),
    ]


def _device_alerts() -> list[dict[str, Any]]:
    return [
        _alert(
            "GpuUnhealthy",
            BROKEN,
            "0m",
            "critical",
            "GPU {{ $labels.gpu }} ({{ $labels.modelName }}) reported XID {{ $value }}",
            "you might need to reset the GPU or replace its node; this alert ignores application errors",
        ),
        _alert(
            "GpuMemoryUnhealthy",
            "DCGM_FI_DEV_ROW_REMAP_FAILURE > 0 or "
            "increase(DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS[1h]) > 0",
            "0m",
            "critical",
            "memory of GPU {{ $labels.gpu }} ({{ $labels.modelName }}) has failed",
            "rows were remapped because of uncorrectable errors, or couldn't be remapped; drain "
            "the node",
        ),
    ]


def _use_rules() -> list[dict[str, Any]]:
    return [
        {"record": USE_OF_CLAIMS, "expr": _USE},
        _alert(
            "ClaimedGpusIdle",
            f"max_over_time({USE_OF_CLAIMS}[2h]) < 1",
            "30m",
            "info",
            "claim {{ $labels.dra_claim_namespace }}/{{ $labels.dra_claim_name }} has idle GPUs",
            "other pods can't use these GPUs until the claim's pods are deleted",
        ),
    ]


def _alert(
    name: str, expression: str, lasting: str, severity: str, summary: str, description: str
) -> dict[str, Any]:
    return {
        "alert": name,
        "expr": expression,
        "for": lasting,
        "labels": {"severity": severity},
        "annotations": {"summary": summary, "description": description},
    }
