"""Configuration of kubeadm and kubelets.

Source: kubernetes/kubernetes:cmd/kubeadm/app/apis/kubeadm/v1beta4.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from dra_planner.errors import Diagnostic
from dra_planner.manifests.objects import KubernetesObject
from dra_planner.manifests.setup.cluster_tools.field_findings import (
    command_findings,
    fault_findings,
    gate_findings,
    place_of,
)
from dra_planner.manifests.setup.command_rows import CommandLine
from dra_planner.manifests.setup.gates_and_versions import faults_of_gates, faults_of_versions

_COMPONENTS: Final = ("apiServer", "controllerManager", "scheduler")


def kubeadm_findings(item: KubernetesObject) -> Iterator[Diagnostic]:
    """Yield the findings on feature gates and API versions of components."""
    for component in _COMPONENTS:
        place = place_of(item, component)
        for name, value in extra_arguments(item.data.get(component)):
            if name == "feature-gates":
                yield from fault_findings(item, place, faults_of_gates(value))
            elif name == "runtime-config":
                yield from fault_findings(item, place, faults_of_versions(value))
    release = str(item.data.get("kubernetesVersion", ""))
    command = CommandLine(
        program="kubeadm", words=("init",), options={"--kubernetes-version": (release,)}
    )
    yield from command_findings(item, place_of(item, "kubernetesVersion"), command)


def kubelet_findings(item: KubernetesObject) -> Iterator[Diagnostic]:
    """Yield the findings on feature gates of a kubelet."""
    yield from gate_findings(item)


def extra_arguments(component: Any) -> Iterator[tuple[str, str]]:
    """Yield a component's extra arguments, which are a mapping up to v1beta3, and a list of names
    and values from v1beta4 on.
    """
    given = component.get("extraArgs") if isinstance(component, Mapping) else None
    if isinstance(given, Mapping):
        yield from ((str(name), str(value)) for name, value in given.items())
    for row in given if isinstance(given, list) else ():
        if isinstance(row, Mapping):
            yield str(row.get("name")), str(row.get("value"))
