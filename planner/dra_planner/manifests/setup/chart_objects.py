"""Objects that install the NVIDIA driver's chart: Argo CD Application, Flux HelmRelease, and K3s
HelmChart.

Source: argoproj/argo-cd:pkg/apis/application/v1alpha1 (source.helm), fluxcd/helm-controller:api/v2
(values), k3s-io/helm-controller:pkg/apis/helm.cattle.io/v1 (valuesContent, set).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from dra_planner.documents.tree import child
from dra_planner.documents.yaml_reader import Fault, read_yaml
from dra_planner.drivers.nvidia.chart_values import release_faults, value_faults
from dra_planner.errors import Diagnostic, Place
from dra_planner.manifests.objects import KubernetesObject
from dra_planner.manifests.workloads.kind_description import ObjectPart

CHART: Final = re.compile(
    r"(?:^|/)(?:nvidia-dra-driver-gpu|dra-driver-nvidia-gpu|k8s-dra-driver-gpu)(?:-\d[\w.-]*\.tgz|[:@].*)?$"
)
_ELSEWHERE: Final = re.compile(r"'(?:valueFiles|valuesFrom|fileParameters|valuesFiles)'")
KINDS: Final = frozenset(
    {
        ("argoproj.io", "Application"),
        ("helm.toolkit.fluxcd.io", "HelmRelease"),
        ("helm.cattle.io", "HelmChart"),
    }
)


def chart_findings(item: KubernetesObject) -> Iterator[Diagnostic]:
    """Yield values of an object that the driver's chart rejects or ignores."""
    for chart, version, values, place in _installed(item):
        if not CHART.search(chart):
            continue
        faults = [*value_faults(values), *release_faults(version, values.get("featureGates"))]
        for fault in faults:
            if fault.key == "resources" and _ELSEWHERE.search(str(item.data.get("spec"))):
                continue  # another file might set it
            at = child(place, values, fault.key) if fault.key in values else place
            code = "value-refused" if fault.is_refused else "value-does-nothing"
            severity = "error" if fault.is_refused else "warning"
            yield Diagnostic(severity, code, f"{item}: {fault.message}", at, fault.fix)  # type: ignore[arg-type]


def installs_working_driver(item: KubernetesObject) -> bool:
    """Return whether an object installs only the driver, with values that its chart accepts and
    uses. The fleet describes the pods of such a driver.
    """
    if (item.group, item.kind) not in KINDS:
        return False
    installed = tuple(_installed(item))
    return bool(installed) and all(
        CHART.search(chart) and not any(value_faults(values)) for chart, _, values, _ in installed
    )


def driver_values(item: KubernetesObject) -> Iterator[Mapping[str, Any]]:
    """Yield the values that an object passes to the driver's chart."""
    return (values for chart, _, values, _ in _installed(item) if CHART.search(chart))


def _installed(item: KubernetesObject) -> Iterator[tuple[str, str, dict[str, Any], Place]]:
    """Yield the chart, version, and values of everything that an object installs, with the place of
    the values.
    """
    root = ObjectPart(item.data, item.place)
    match item.group:
        case "argoproj.io":
            for source in (
                root.at("spec.source"),
                *(each for _, each in root.at("spec.sources").members()),
            ):
                values = _parts(source, "helm.valuesObject", "helm.values")
                for _, row in source.at("helm.parameters").members():
                    _put(values[0], str(row.get("name", "")).split("."), row.get("value"))
                yield str(source.get("chart", "")), str(source.get("targetRevision", "")), *values
        case "helm.toolkit.fluxcd.io":
            chart = root.at("spec.chart.spec")
            yield (
                str(chart.get("chart", "")),
                str(chart.get("version", "")),
                *_parts(root, "spec.values"),
            )
        case _:
            chart = root.at("spec")
            values = _parts(root, "spec.values", "spec.valuesContent")
            for name, value in _entries(root.get("spec.set")):
                _put(values[0], str(name).split("."), value)
            yield str(chart.get("chart", "")), str(chart.get("version", "")), *values


def _entries(data: Any) -> Iterator[tuple[Any, Any]]:
    yield from data.items() if isinstance(data, Mapping) else ()


def _parts(node: ObjectPart, *paths: str) -> tuple[dict[str, Any], Place]:
    """Return the values at one of the paths (a mapping or its text), and their place."""
    for path in paths:
        found = node.at(path)
        if isinstance(found.data, Mapping):
            return found.data.copy(), found.place  # type: ignore[attr-defined]  # a mapping of the reader knows its lines
        if isinstance(found.data, str):
            try:
                data, _ = read_yaml(found.data)
            except Fault:
                continue
            if isinstance(data, Mapping):
                return dict(data), found.place
    return {}, node.place


def _put(tree: dict[str, Any], path: list[str], value: Any) -> None:
    *parents, last = path
    for name in parents:
        below = tree.get(name)
        tree[name] = dict(below) if isinstance(below, Mapping) else {}
        tree = tree[name]
    tree[last] = (
        {"true": True, "false": False}.get(value, value) if isinstance(value, str) else value
    )
