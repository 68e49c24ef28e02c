"""Configuration of kube-scheduler: removed versions, and invalid settings of its DRA plugin.

Sources: kubernetes/kube-scheduler:config/v1/types.go@v0.36.3 (DynamicResourcesArgs; 1.34 has no
bindingTimeout yet); kubernetes/enhancements KEP 785 and kubernetes/kubernetes pull requests 117649
and 119994: v1beta1 was removed in 1.23, v1beta2 in 1.28, v1beta3 in 1.29.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from dra_planner.documents.tree import child
from dra_planner.documents.yaml_reader import Fault, read_yaml
from dra_planner.errors import Diagnostic, Place
from dra_planner.manifests.objects import KubernetesObject
from dra_planner.manifests.workloads.kind_description import ObjectPart

GROUP: Final = "kubescheduler.config.k8s.io"
KIND: Final = "KubeSchedulerConfiguration"
_PLUGIN: Final = "DynamicResources"
_ARGUMENTS: Final = frozenset({"apiVersion", "kind", "filterTimeout", "bindingTimeout"})


def scheduler_findings(data: Any, place: Place) -> Iterator[Diagnostic]:
    """Yield settings of a scheduler configuration that kube-scheduler rejects or that aren't
    needed.
    """
    if not isinstance(data, Mapping) or data.get("kind") != KIND:
        return
    version = str(data.get("apiVersion", ""))
    if version.startswith(GROUP) and version != f"{GROUP}/v1":
        message = (
            f"{KIND}: Kubernetes 1.29 and later don't support {version}, so "
            "kube-scheduler doesn't start"
        )
        yield Diagnostic(
            "error", "version-not-served", message, place, f"set apiVersion to {GROUP}/v1"
        )
    for _, profile in ObjectPart(data, place).at("profiles").members():
        enabled = _enabled(profile.get("plugins"))
        if _PLUGIN in enabled:
            message = f"{KIND}: the {_PLUGIN} plugin is enabled by default in 1.34 and later"
            yield Diagnostic(
                "note", "plugin-not-needed", message, place, f"remove {_PLUGIN} from plugins"
            )
        for _, row in profile.at("pluginConfig").members():
            given = row.get("args")
            unknown = sorted(set(given) - _ARGUMENTS) if isinstance(given, Mapping) else []
            if row.get("name") == _PLUGIN and unknown:
                listed = ", ".join(map(str, unknown))
                message = (
                    f"{KIND}: {_PLUGIN} doesn't have the argument {listed}, so kube-scheduler "
                    "doesn't start"
                )
                yield Diagnostic(
                    "error", "unknown-field", message, place, f"remove {listed} from its args"
                )


def in_config_map(item: KubernetesObject) -> Iterator[Diagnostic]:
    """Yield the findings on the scheduler's configuration in a ConfigMap."""
    data = item.data.get("data")
    for key, text in data.items() if isinstance(data, Mapping) else ():
        if not isinstance(text, str) or KIND not in text:
            continue
        place = child(child(item.place, item.data, "data"), data, key)
        try:
            yield from scheduler_findings(read_yaml(text)[0], place)
        except Fault:
            continue


def _enabled(plugins: Any) -> set[str]:
    """Return the plugins that a profile enables, at any extension point."""
    points = plugins.values() if isinstance(plugins, Mapping) else ()
    lists = (point.get("enabled") for point in points if isinstance(point, Mapping))
    rows = (row for each in lists if isinstance(each, list) for row in each)
    return {str(row.get("name")) for row in rows if isinstance(row, Mapping)}
