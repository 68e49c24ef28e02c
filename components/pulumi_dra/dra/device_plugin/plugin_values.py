"""Values of NVIDIA's device plugin chart that keep it off DRA nodes."""

from collections.abc import Mapping
from typing import Any

from pulumi_dra.dra.node_terms import without_dra_nodes
from pulumi_dra.dra.releases.images import ImageSettings

# The chart's own node terms, which are identical in 0.17.4 to 0.20.0
# (NVIDIA/k8s-device-plugin:deployments/helm/nvidia-device-plugin/values.yaml). Helm replaces a list
# as a whole.
CHART_TERMS: tuple[tuple[str, str], ...] = (
    ("feature.node.kubernetes.io/pci-10de.present", "true"),
    ("feature.node.kubernetes.io/cpu-model.vendor_id", "NVIDIA"),
    ("nvidia.com/gpu.present", "true"),
)


def device_plugin_values(
    version: str,
    image: ImageSettings,
    configs: Mapping[str, Any] | None = None,
    *,
    default_config: str = "",
    feature_discovery: bool = False,
) -> dict[str, Any]:
    """Return the chart's values: its own three terms, each with DRA nodes excluded.

    `configs` are texts of the plugin's configurations by name. Nodes choose one with the label
    nvidia.com/device-plugin.config, and use `default_config` without it.
    """
    terms = [
        {"matchExpressions": [{"key": key, "operator": "In", "values": [value]}]}
        for key, value in CHART_TERMS
    ]
    values: dict[str, Any] = {
        "affinity": {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": without_dra_nodes(terms)
                }
            }
        }
    }
    if feature_discovery:
        values["gfd"] = {"enabled": True}
    if configs:
        values["config"] = {"default": default_config, "map": dict(configs)}
    if own := image.values(version):
        values["image"] = own
    if image.pull_secrets:
        values["imagePullSecrets"] = [{"name": name} for name in image.pull_secrets]
    return values
