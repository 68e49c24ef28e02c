"""Placement of the DRA driver's kubelet plugin, according to its chart's values."""

from __future__ import annotations

from typing import Any, Final

from dra_planner.drivers import nvidia
from dra_policies.unknown_values import Properties
from dra_policies.view.stack_view import InstalledDriver

# Source: kubernetes-sigs/dra-driver-nvidia-gpu:deployments/helm/*/values.yaml@v25.3.2 to v0.4.1
_TOLERATIONS_SINCE: Final = "0.4.0"
_DEFAULT_TOLERATIONS: Final = [
    {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
]
_DEFAULT_LABELS: Final = (
    "feature.node.kubernetes.io/pci-10de.present",
    "feature.node.kubernetes.io/cpu-model.vendor_id",
    "nvidia.com/gpu.present",
)


def plugin_pod(driver: InstalledDriver) -> Properties:
    """Return the kubelet plugin's placement. The chart merges values with its defaults, and lists
    replace lists. For a rendered chart, use its DaemonSet.
    """
    if driver.pod is not None:
        return driver.pod
    assert driver.values is not None
    plugin = driver.values.below("kubeletPlugin")
    order = {release.version: release.order for release in nvidia.driver_releases()}
    # A version that isn't known might be a new one, and new versions tolerate the taint by default.
    tolerant = not driver.version or order.get(driver.version, 0) >= order[_TOLERATIONS_SINCE]
    tolerations: Any = plugin.at("tolerations")
    if tolerations is None:
        tolerations = _DEFAULT_TOLERATIONS if tolerant else []
    affinity: Any = plugin.at("affinity")
    terms = "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
    if affinity is None or (isinstance(affinity, dict) and plugin.has(terms) is False):
        expressions = [
            [{"key": key, "operator": "In", "values": ["true", "NVIDIA"]}]
            for key in _DEFAULT_LABELS
        ]
        required = {"nodeSelectorTerms": [{"matchExpressions": each} for each in expressions]}
        affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    selector: Any = plugin.at("nodeSelector")
    return Properties(
        {
            "tolerations": tolerations,
            "affinity": affinity,
            "nodeSelector": {} if selector is None else selector,
        }
    )
