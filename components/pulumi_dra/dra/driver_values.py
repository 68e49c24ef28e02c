"""Values of the NVIDIA DRA driver's Helm chart, per release. Plain values; nothing here asks a cluster.

A Release's preview never renders its chart, so what would fail there is decided and checked here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dra_planner.catalog import DriverRelease
from pulumi_dra.dra.chart_keys import unknown_keys
from pulumi_dra.labels import GPU_TOLERATION, dra_node_terms

DRIVER_ROOTS = {"eks": "/", "gke": "/home/kubernetes/bin/nvidia", "gpu-operator": "/run/nvidia/driver"}
"""Where the NVIDIA driver lies on a node: the host's root, what the COS installer fills, the operator's container."""

PLUGIN_PRIORITY = "system-node-critical"


@dataclass(frozen=True, slots=True, kw_only=True)
class DriverSettings:
    """What a user decides about the driver."""

    platform: str  # a key of DRIVER_ROOTS
    compute_domains: bool = False
    feature_gates: Mapping[str, bool] = field(default_factory=dict[str, bool])
    network_policy: bool = True
    webhook: bool = False
    webhook_failure_policy: str = "Fail"
    image_repository: str = ""
    image_tag: str = ""  # "v25.8.1", or with a digest "v25.8.1@sha256:…"
    priority_class: str = PLUGIN_PRIORITY
    keep_old_names: bool = False  # 0.4 and later: keep the object names of 25.x


def driver_values(release: DriverRelease, settings: DriverSettings) -> dict[str, Any]:
    """Return the chart's values for a release; every key in them exists in that release's chart."""
    values: dict[str, Any] = {
        "resources": {"gpus": {"enabled": True}, "computeDomains": {"enabled": settings.compute_domains}},
        # Every release refuses to install GPU support without it. A real boolean: the chart takes "false" for true.
        "gpuResourcesEnabledOverride": True,
        "nvidiaDriverRoot": DRIVER_ROOTS[settings.platform],
        "kubeletPlugin": _kubelet_plugin(release, settings),
    }
    if settings.compute_domains:
        values["controller"] = _controller(release, settings)
    if settings.feature_gates:
        values["featureGates"] = dict(sorted(settings.feature_gates.items()))
    image = {"repository": settings.image_repository, "tag": settings.image_tag}
    if any(image.values()):
        values["image"] = {key: value for key, value in image.items() if value}
    if settings.webhook:
        values["webhook"] = {"enabled": True, "failurePolicy": settings.webhook_failure_policy}
    if settings.keep_old_names and has_new_names(release):
        values["nameOverride"] = "nvidia-dra-driver-gpu"
    unknown = unknown_keys(release.generation, values)
    assert not unknown, f"chart {release.version} has no {', '.join(unknown)}"
    return values


def has_new_names(release: DriverRelease) -> bool:
    """Whether the release's chart is called dra-driver-nvidia-gpu: 0.4 and later."""
    return release.chart == "dra-driver-nvidia-gpu"


def has_network_policy(release: DriverRelease) -> bool:
    """Whether the release's chart can restrict the driver's own traffic: 25.12 and later."""
    return not unknown_keys(release.generation, {"kubeletPlugin": {"networkPolicy": {"enabled": True}}})


def has_webhook(release: DriverRelease) -> bool:
    """Whether the release's chart has the webhook that validates opaque configuration: 25.8 and later."""
    return not unknown_keys(release.generation, {"webhook": {"enabled": True}})


def controller_pods(settings: DriverSettings) -> int:
    """Return how many pods beside the kubelet plugins run with a critical priority: controller and webhook."""
    return int(settings.compute_domains) + int(settings.webhook)


def _kubelet_plugin(release: DriverRelease, settings: DriverSettings) -> dict[str, Any]:
    plugin: dict[str, Any] = {
        # The list replaces the chart's own terms, which also match nodes that the device plugin serves.
        "affinity": {
            "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": dra_node_terms()}}
        },
        "tolerations": [dict(GPU_TOLERATION)],
        "priorityClassName": settings.priority_class,
    }
    if settings.network_policy and has_network_policy(release):
        plugin["networkPolicy"] = {"enabled": True}
    return plugin


def _controller(release: DriverRelease, settings: DriverSettings) -> dict[str, Any]:
    """Return the ComputeDomain controller's values.

    Up to 25.12 the chart insists on a control-plane node, and managed clusters show none: the list of terms is
    replaced by one that every Linux node fits. A list works with every version of the provider; a null did not.
    """
    linux = [{"matchExpressions": [{"key": "kubernetes.io/os", "operator": "In", "values": ["linux"]}]}]
    controller: dict[str, Any] = {
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": linux}}},
        "priorityClassName": settings.priority_class,
    }
    if settings.network_policy and has_network_policy(release):
        controller["networkPolicy"] = {"enabled": True}
    return controller
