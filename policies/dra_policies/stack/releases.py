"""Helm releases and DaemonSets → device plugins, drivers, and quotas.

A Release is checked by its values before it is rendered, so this module contains the relevant chart
defaults.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from dra_planner.plan.cluster.shared_by_allocators import OPERATOR_OPT_OUT
from dra_policies.stack.forms.gitops import ARGO, FLUX
from dra_policies.stack.forms.value_files import VALUE_FILES, merged_values, nested
from dra_policies.stack.resource import Resource, namespace_of
from dra_policies.unknown_values import UNKNOWN, Properties, as_mapping, has_unknown
from dra_policies.view.node_selection import REQUIRED_TERMS
from dra_policies.view.stack_view import (
    CriticalPodQuota,
    InstalledDriver,
    MigManager,
    Operator,
    PluginWorkload,
)

RELEASES: Final = {
    "kubernetes:helm.sh/v3:Release": "Release",
    "kubernetes:helm.sh/v4:Chart": "Chart",
    "kubernetes:helm.sh/v3:Chart": "Chart",
    ARGO: "Application",
    FLUX: "HelmRelease",
}
DEVICE_PLUGIN_CHARTS: Final = frozenset({"nvidia-device-plugin"})
OPERATOR_CHARTS: Final = frozenset({"gpu-operator"})
DRIVER_CHARTS: Final = frozenset({"nvidia-dra-driver-gpu", "dra-driver-nvidia-gpu"})
UNLIMITED: Final = 10**9
MIG_OFF: Final = "all-disabled"
_OPERATOR_PARTS: Final = ("driver", "toolkit", "devicePlugin", "migManager")

_VERSION: Final = re.compile(r"-v?[0-9]+(\.[0-9]+)+.*$")


def _in(key: str, value: str) -> dict[str, Any]:
    return {"matchExpressions": [{"key": key, "operator": "In", "values": [value]}]}


# Defaults of NVIDIA's chart, the same from 0.17.4 to 0.20.0.
# Source: NVIDIA/k8s-device-plugin:deployments/helm/nvidia-device-plugin/values.yaml@v0.20.0
PLUGIN_TERMS: Final = [
    _in("feature.node.kubernetes.io/pci-10de.present", "true"),
    _in("feature.node.kubernetes.io/cpu-model.vendor_id", "NVIDIA"),
    _in("nvidia.com/gpu.present", "true"),
]
PLUGIN_TOLERATIONS: Final = [
    {"key": "CriticalAddonsOnly", "operator": "Exists"},
    {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
]
# NVIDIA/gpu-operator:deployments/gpu-operator/values.yaml@a22dbf67 (daemonsets.tolerations)
OPERATOR_TOLERATIONS: Final = PLUGIN_TOLERATIONS[1:]


def chart_name(resource: Resource) -> str:
    """Return the name of a release's chart without its repository, path, version, and suffix. "" if
    it's unknown.
    """
    chart = resource.props.text("chart") or ""
    last = chart.rstrip("/").rpartition("/")[2].removesuffix(".tgz")
    return _VERSION.sub("", last)


def is_gpu_operator(resource: Resource) -> bool:
    """Return whether a resource installs the GPU Operator with its driver container."""
    operator = gpu_operator(resource)
    return operator is not None and operator.values.flag("driver.enabled", True) is not False


def gpu_operator(resource: Resource) -> Operator | None:
    """Return the GPU Operator of a release or a ClusterPolicy, or None for other resources.

    A ClusterPolicy has the parts under the same keys as the chart's values
    (NVIDIA/gpu-operator:api/nvidia/v1/ clusterpolicy_types.go@v26.7.0: parts are on unless
    `enabled` is false).
    """
    if resource.type.startswith("kubernetes:nvidia.com/") and resource.type.endswith(
        ":ClusterPolicy"
    ):
        return Operator(
            title=resource.title("ClusterPolicy"),
            urn=resource.urn,
            values=resource.props.below("spec"),
            chart="",
        )
    kind = RELEASES.get(resource.type)
    if kind is None or chart_name(resource) not in OPERATOR_CHARTS:
        return None
    return Operator(
        title=resource.title(kind),
        urn=resource.urn,
        values=_operator_values(resource),
        chart="gpu-operator",
    )


def _operator_values(resource: Resource) -> Properties:
    """Return the operator's values. If they come from unknown files, a part might be enabled or
    disabled.
    """
    values = resource.props.below("values")
    own = as_mapping(values.values)
    if own is None or not _has_value_files(resource):
        return values
    return Properties(merged_values({part: {"enabled": UNKNOWN} for part in _OPERATOR_PARTS}, own))


def mig_manager_of_release(resource: Resource) -> MigManager | None:
    """Return the operator of a release that would remove existing MIG configurations, or None.

    By default, it labels nodes with `nvidia.com/mig.config: all-disabled`
    (NVIDIA/gpu-operator:controllers/nodelabeling_controller.go, deployments/gpu-operator@v26.7.0).
    """
    operator = gpu_operator(resource)
    if operator is None:
        return None
    values = operator.values
    runs = values.flag("migManager.enabled", True)
    default = values.text("migManager.config.default", MIG_OFF)
    if runs is False or default not in (MIG_OFF, None):
        return None
    certain = runs is True and default is not None and not _has_value_files(resource)
    return MigManager(title=operator.shown, urn=resource.urn, certain=certain)


def device_plugin_of_release(resource: Resource) -> PluginWorkload | None:
    """Return the device plugin that a chart's release would install, or None if it installs
    none.
    """
    operator, kind = gpu_operator(resource), RELEASES.get(resource.type)
    runs = (operator.values if operator else resource.props.below("values")).flag(
        "devicePlugin.enabled", True
    )
    if operator is not None and runs is not False:
        given = operator.values.at("daemonsets.tolerations")
        tolerations = UNKNOWN if _has_value_files(resource) else given or OPERATOR_TOLERATIONS
        pod = Properties(
            {"tolerations": tolerations, **({} if runs else {"nodeSelector": UNKNOWN})}
        )
        return PluginWorkload(
            title=operator.shown, urn=resource.urn, pod=pod, opt_out_label=OPERATOR_OPT_OUT
        )
    if kind is None or chart_name(resource) not in DEVICE_PLUGIN_CHARTS or runs is False:
        return None
    values = resource.props.below("values")
    return PluginWorkload(
        title=resource.title(kind), urn=resource.urn, pod=_plugin_pod(resource, values)
    )


def _plugin_pod(resource: Resource, values: Properties) -> Properties:
    """Return the pod in the form in which the chart would render it: maps are merged by key, lists
    are replaced, and null removes a key.
    """
    pod: dict[str, Any] = {}
    from_files = _has_value_files(resource)
    for key, default in (
        ("nodeSelector", {}),
        ("affinity", nested(REQUIRED_TERMS.removeprefix("affinity.").split("."), PLUGIN_TERMS)),
        ("tolerations", PLUGIN_TOLERATIONS),
    ):
        if as_mapping(values.values) is None:
            pod[key] = UNKNOWN
        elif key not in values.values:
            pod[key] = UNKNOWN if from_files else default
        else:
            given = {key: values.values[key]}
            pod |= merged_values({key: default}, given, null_removes=True)
    return Properties(pod)


def driver_of_release(
    resource: Resource, others: Sequence[Resource] = ()
) -> InstalledDriver | None:
    """Return the DRA driver that a release installs, or None for other charts."""
    kind = RELEASES.get(resource.type)
    if kind is None or chart_name(resource) not in DRIVER_CHARTS:
        return None
    props, values = resource.props, resource.props.below("values")
    domains = values.flag("resources.computeDomains.enabled", True)
    controllers = values.count("controller.replicas", 1)
    webhook = values.flag("webhook.enabled", False)
    webhooks = values.count("webhook.replicas", 1)
    return InstalledDriver(
        title=resource.title(kind),
        urn=resource.urn,
        namespace=namespace_of(resource, "namespace", others),
        version=None if (version := props.text("version")) is None else version.removeprefix("v"),
        priority_class=_priority_class(values),
        other_critical_pods=_sum(domains, controllers, webhook, webhooks),
        values=None if _has_value_files(resource) or values.values is UNKNOWN else values,
        settings={} if _has_value_files(resource) else driver_settings(values, domains),
        pod_labels={
            "app.kubernetes.io/name": chart_name(resource),
            "app.kubernetes.io/instance": props.text("name") or "",
        },
    )


def driver_settings(values: Properties, domains: bool | None) -> dict[str, Any]:
    """Return the settings in a release's values that affect published devices, in the form of a
    fleet.
    """
    gates, shares = values.at("featureGates"), values.at("consumableShares")
    settings = {
        "featureGates": UNKNOWN if has_unknown(gates) else as_mapping(gates) or {},
        "consumableShares": "" if shares is None else shares,
        "computeDomains": UNKNOWN if domains is None else domains,
    }
    return {key: value for key, value in settings.items() if value is not UNKNOWN}


def _has_value_files(resource: Resource) -> bool:
    return bool(resource.props.items(VALUE_FILES)) or resource.props.at(VALUE_FILES) is UNKNOWN


def _priority_class(values: Properties) -> str | None:
    plugin = as_mapping(values.at("kubeletPlugin")) or {}
    if plugin.get("priorityClassName", "") is None:
        return ""  # null removes the chart's default
    return values.text("kubeletPlugin.priorityClassName", "system-node-critical")


def _sum(
    domains: bool | None, controllers: int | None, webhook: bool | None, webhooks: int | None
) -> int | None:
    if domains is None or webhook is None:
        return None
    parts = [*([controllers] if domains else []), *([webhooks] if webhook else [])]
    return None if None in parts else sum(part for part in parts if part is not None)


_PLUGIN_IMAGE: Final = re.compile(r"(^|/)(k8s-device-plugin|nvidia-gpu-device-plugin)([:@]|$)")


def device_plugin_of_daemon_set(
    resource: Resource, patch: Resource | None = None
) -> PluginWorkload | None:
    """Return the device plugin of a DaemonSet, or None for other DaemonSets. A patch of its
    affinity replaces it.
    """
    if resource.type.rpartition(":")[2] not in ("DaemonSet", "DaemonSetPatch"):
        return None
    spec = resource.props.below("spec.template.spec")
    if not _is_plugin(resource, spec):
        return None
    if patch is not None:
        spec = _patched(spec, patch)
    own = as_mapping(spec.values)
    if own is not None and resource.type.endswith("Patch"):
        # the values of the patch's target are unknown
        spec = Properties({"tolerations": [{"operator": "Exists"}], **own})
    return PluginWorkload(
        title=resource.title(resource.type.rpartition(":")[2]), urn=resource.urn, pod=spec
    )


def _patched(spec: Properties, patch: Resource) -> Properties:
    """Return a pod's placement after a server-side apply of the patch, which replaces the fields
    that it contains.
    """
    given = patch.props.at("spec.template.spec")
    if given is UNKNOWN:
        return Properties(UNKNOWN)
    placement = {
        key: value for key, value in (as_mapping(given) or {}).items() if key in _PLACEMENT
    }
    return Properties(merged_values(as_mapping(spec.values) or {}, placement, null_removes=True))


_PLACEMENT: Final = ("nodeSelector", "affinity", "tolerations")


def _is_plugin(resource: Resource, spec: Properties) -> bool:
    images = [item.text("image") or "" for item in spec.items("containers") or ()]
    name = resource.props.text("metadata.name") or ""
    return any(_PLUGIN_IMAGE.search(image) for image in images) or "nvidia-device-plugin" in name


def critical_pod_quota(
    resource: Resource, others: Sequence[Resource] = ()
) -> CriticalPodQuota | None:
    """Return the quota for node-critical pods in a ResourceQuota, or None if the ResourceQuota has
    another purpose.
    """
    if resource.type != "kubernetes:core/v1:ResourceQuota":
        return None
    props = resource.props
    expressions = props.items("spec.scopeSelector.matchExpressions")
    for expression in expressions or ():
        if expression.text("scopeName") == "PriorityClass":
            values = expression.texts("values")
            if (
                values is None
                or "system-node-critical" in values
                or expression.text("operator") == "Exists"
            ):
                return CriticalPodQuota(
                    urn=resource.urn,
                    title=resource.title("ResourceQuota"),
                    namespace=namespace_of(resource, "metadata.namespace", others),
                    pods=_hard_pods(props),
                )
    return None


def _hard_pods(props: Properties) -> int | None:
    """Return the hard limit on pods: the smaller value if both spellings are used. Without a limit,
    the number of pods is unlimited.
    """
    hard = props.below("spec.hard")
    limits = [hard.count(key, UNLIMITED) for key in ("pods", "count/pods")]
    return None if None in limits else min(limit for limit in limits if limit is not None)
