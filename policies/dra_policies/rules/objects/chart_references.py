"""ConfigMaps and Secrets that a chart's values name, but that aren't in the chart's namespace."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Final

from msgspec import Struct

from dra_policies.rules.rule import Finding
from dra_policies.view.stack_view import DeclaredResource, StackView

_ALIKE: Final = 0.8
_OWN: Final = "default-"  # start of the names of ConfigMaps that the operator creates


class NamedObject(Struct, frozen=True):
    """A value of a chart with the name of an object: the part of the chart that reads the object,
    the value's path, and the object's kind.
    """

    part: str
    path: str
    kind: str = "ConfigMap"


# NVIDIA/gpu-operator:deployments/gpu-operator/values.yaml@a22dbf67 of 2026-08-21, and
# NVIDIA/k8s-device-plugin:deployments/helm/nvidia-device-plugin/values.yaml@00f2a02c, read
# 2026-11-28
_NAMED: Final[dict[str, tuple[NamedObject, ...]]] = {
    "chart:gpu-operator": (
        NamedObject("devicePlugin", "devicePlugin.config.name"),
        NamedObject("migManager", "migManager.config.name"),
        NamedObject("migManager", "migManager.gpuClientsConfig.name"),
        NamedObject("dcgmExporter", "dcgmExporter.config.name"),
        NamedObject("vgpuDeviceManager", "vgpuDeviceManager.config.name"),
        NamedObject("driver", "driver.repoConfig.configMapName"),
        NamedObject("driver", "driver.certConfig.name"),
        NamedObject("driver", "driver.virtualTopology.config"),
        NamedObject("driver", "driver.kernelModuleConfig.name"),
        NamedObject("driver", "driver.licensingConfig.secretName", "Secret"),
    ),
    "chart:nvidia-device-plugin": (NamedObject("", "config.name"),),
}


def misplaced_objects(view: StackView) -> Iterator[Finding]:
    """Yield the values that name an object which the stack declares in another namespace, or with
    a similar name.
    """
    for chart in view.installed_charts if view.complete else ():
        for named in _NAMED.get(chart.type, ()):
            name = chart.props.text(named.path, "")
            if name and chart.namespace and _is_read(chart, named) and not name.startswith(_OWN):
                yield from _of_name(view, chart, named, name)


def _is_read(chart: DeclaredResource, named: NamedObject) -> bool:
    """Return whether the chart certainly reads the object, and doesn't create it."""
    folder = named.path.rpartition(".")[0]
    return (
        not named.part or chart.props.flag(f"{named.part}.enabled", True) is True
    ) and chart.props.flag(f"{folder}.create", False) is False


def _of_name(
    view: StackView, chart: DeclaredResource, named: NamedObject, name: str
) -> Iterator[Finding]:
    places = [
        (each.props.text("metadata.namespace", "default"), each.props.text("metadata.name"))
        for each in view.objects
        if each.type.endswith(f"v1:{named.kind}")
    ]
    if (chart.namespace, name) in places or any(None in place for place in places):
        return
    elsewhere = [namespace for namespace, other in places if other == name]
    here = [other or "" for namespace, other in places if namespace == chart.namespace]
    near = get_close_matches(name, here, n=1, cutoff=_ALIKE)
    title = f'{named.kind} "{name}"'
    reads = f'chart "{chart.name}" reads {title} ({named.path}) in namespace "{chart.namespace}"'
    if elsewhere:
        yield Finding(
            message=f'{reads}, but this stack declares it in namespace "{elsewhere[0]}"',
            fix=f'declare {title} in namespace "{chart.namespace}"',
            urn=chart.urn,
        )
    elif near:
        yield Finding(
            message=f'{reads}, but this stack declares {named.kind} "{near[0]}" there',
            fix=f'set {named.path} to "{near[0]}"',
            urn=chart.urn,
        )
