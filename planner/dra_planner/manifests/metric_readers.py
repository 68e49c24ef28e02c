"""Objects that read GPU metrics that don't count claims, or don't name pods with claims.

Sources: kubernetes/kube-state-metrics:docs/metrics/workload/pod-metrics.md@v2.20.0,
NVIDIA/dcgm-exporter:internal/pkg/transformation/{dra,kubernetes}.go@d5e5f51,
kubernetes-sigs/prometheus-adapter:docs/config.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from dra_planner.documents.plain_values import all_texts, block, blocks, text
from dra_planner.errors import NOWHERE, Place
from dra_planner.manifests.objects import KubernetesObject
from dra_planner.model import WorkloadRef
from dra_planner.records import equality

_COUNTED: Final = re.compile(r"\b(?:nvidia_com_(?:gpu|mig_\w+)|amd_com_gpu)\b")
_EXPORTED: Final = re.compile(r"\bDCGM_FI_\w+", re.IGNORECASE)
_SCALERS: Final = ("HorizontalPodAutoscaler", "ScaledObject")
_READERS: Final = ("PrometheusRule", "ConfigMap", "GrafanaDashboard", "RuleGroup")
_DERIVED: Final = re.compile(r"""(?:^|[\s{,"'-])(?:as|record)["']?\s*:\s*["']?([A-Za-z_:][\w:]*)""")
"""Names of series that a rule of prometheus-adapter or a recording rule derives from others."""
_NAME: Final = re.compile(r"[A-Za-z_:][\w:]*")
_EXPORTER: Final = "dcgm-exporter"
_WITH_CLAIMS: Final = "KUBERNETES_ENABLE_DRA"


@equality(ignored=("place",))
class MetricReader(Struct, frozen=True, kw_only=True):
    """An object that reads GPU metrics. `target` is the workload that it scales.

    `counted` are labels of kube-state-metrics for extended resources. `exported` are series of
    dcgm-exporter, or series derived from them.
    """

    title: str
    kind: str
    target: WorkloadRef | None = None
    counted: tuple[str, ...] = ()
    exported: tuple[str, ...] = ()
    place: Place = NOWHERE
    # a scaler, or the configuration of a metrics adapter
    selects_pods: bool = False


def read_metrics(objects: Iterable[KubernetesObject]) -> tuple[MetricReader, ...]:
    """Return the objects that read GPU metrics."""
    found = [item for item in objects if item.kind in (*_SCALERS, *_READERS)]
    derived = frozenset(name for item in found for name in _derived_names(item)) - {""}
    readers = (_reader(item, derived) for item in found)
    return tuple(each for each in readers if each.counted or each.exported)


def exporter_names_claims(objects: Iterable[KubernetesObject]) -> bool | None:
    """Return whether dcgm-exporter adds labels for pods with claims. None if the objects don't
    contain dcgm-exporter.
    """
    pods = [block(block(item.data, "spec"), "template") for item in objects]
    containers = [
        each
        for pod in pods
        for each in blocks(block(pod, "spec"), "containers")
        if _EXPORTER in text(each.get("image"))
    ]
    if not containers:
        return None
    return all(
        any(
            text(variable.get("name")).endswith(_WITH_CLAIMS)
            and text(variable.get("value")).lower() == "true"
            for variable in blocks(each, "env")
        )
        for each in containers
    )


def _reader(item: KubernetesObject, derived: frozenset[str]) -> MetricReader:
    is_scaler = item.kind in _SCALERS
    texts = list(all_texts(item.data.get("spec") if is_scaler else item.data))
    exported = {match for each in texts for match in _EXPORTED.findall(each)}
    for each in texts if derived else ():
        exported |= derived.intersection(_NAME.findall(each))
    target = block(item.data.get("spec"), "scaleTargetRef")
    return MetricReader(
        title=str(item),
        kind=item.kind,
        target=WorkloadRef(
            text(target.get("kind")) or "Deployment", item.namespace, text(target.get("name"))
        )
        if is_scaler
        else None,
        counted=tuple(sorted({match for each in texts for match in _COUNTED.findall(each)})),
        exported=tuple(sorted(exported)),
        place=item.place,
        selects_pods=is_scaler or any("seriesQuery" in each for each in texts),
    )


def _derived_names(item: KubernetesObject) -> Iterator[str]:
    """Yield the names of series that rules derive from series of dcgm-exporter."""
    for rule in _rules(item.data):
        texts = list(all_texts(rule))
        if any(map(_EXPORTED.search, texts)):
            yield text(rule.get("record"))
            yield text(block(rule, "name").get("as"))
    if item.kind == "ConfigMap":
        for each in all_texts(item.data):
            if "seriesQuery" in each:
                for part in each.split("seriesQuery")[1:]:
                    if _EXPORTED.search(part):
                        yield from _DERIVED.findall(part)


def _rules(data: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(data, Mapping):
        if "record" in data or "seriesQuery" in data:
            yield data
        for each in data.values():
            yield from _rules(each)
    elif isinstance(data, list):
        for each in data:
            yield from _rules(each)
