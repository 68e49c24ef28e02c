"""Alerts, dashboards, and autoscalers that count extended resources, and so no longer see migrated
pods.

Sources: kubernetes/kube-state-metrics:docs/metrics/workload/pod-metrics.md@v2.20.0,
NVIDIA/dcgm-exporter:internal/pkg/transformation/kubernetes.go@d5e5f51.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from dra_planner.manifests.objects import KubernetesObject

_COUNTED: Final = re.compile(r"nvidia_com_(gpu|mig_\w+)|amd_com_gpu")
_EXPORTER: Final = re.compile(r"\bDCGM_FI_\w+")
_CLAIM_METRIC: Final = (
    "kube_pod_resourceclaim_info (kube-state-metrics 2.20.0 or later) names the claims of pods"
)


def monitoring_notes(item: KubernetesObject) -> Iterator[str]:
    """Yield what an object reads that no longer counts migrated pods, and what to read instead."""
    if item.kind in ("HorizontalPodAutoscaler", "ScaledObject"):
        texts = list(_texts(item.data.get("spec")))
        if any(_EXPORTER.search(text) for text in texts):
            yield (
                "it scales by a metric of dcgm-exporter, which has no pod labels for claims unless "
                "its chart sets "
                "kubernetesDRA.enabled (4.6.0-4.8.3 or later)"
            )
    elif item.kind not in ("PrometheusRule", "ConfigMap", "GrafanaDashboard", "RuleGroup"):
        return
    else:
        texts = list(_texts(item.data))
    found = sorted({match[0] for text in texts for match in _COUNTED.finditer(text)})
    if found:
        yield f"it counts {', '.join(found)}, which doesn't hold pods with claims: {_CLAIM_METRIC}"


def _texts(data: Any) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    elif isinstance(data, Mapping):
        for value in data.values():
            yield from _texts(value)
    elif isinstance(data, list):
        for value in data:
            yield from _texts(value)
