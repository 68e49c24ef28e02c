"""Alerts, dashboards, and autoscalers that count extended resources, and therefore ignore migrated
pods.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dra_planner.manifests.metric_readers import MetricReader
from dra_planner.wording import verb

_CLAIM_METRIC: Final = (
    "Use kube_pod_resourceclaim_info (kube-state-metrics 2.20.0 or later) to list the claims "
    "of pods"
)


def monitoring_notes(reader: MetricReader) -> Iterator[str]:
    """Yield the metrics in an object that no longer count migrated pods, with their
    replacements.
    """
    if reader.exported and reader.selects_pods:
        yield (
            f"it reads {', '.join(reader.exported)} from dcgm-exporter, which adds pod labels for "
            "claims only if its chart sets kubernetesDRA.enabled to true (version 4.6.0-4.8.3 or later)"
        )
    if reader.counted:
        yield (
            f"it uses {', '.join(reader.counted)}, which "
            f"{verb(len(reader.counted), 'exclude')} pods with claims. {_CLAIM_METRIC}"
        )
