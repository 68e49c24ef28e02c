"""What decides how many GPUs a stack's nodes advertise: sharing, and nodes that the cloud adds."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from dra_planner.clouds import Cloud, cloud
from dra_policies.view.pool_machines import has_value
from dra_policies.view.stack_view import DeclaredPool, DeclaredResource, StackView

PLUGIN_CHART: Final = "chart:nvidia-device-plugin"
_SHARING: Final = MappingProxyType(
    {
        PLUGIN_CHART: ("config", "migStrategy"),
        "chart:gpu-operator": ("devicePlugin.config", "mig", "migManager"),
    }
)
"""Values of charts with which a node may advertise more units than it has GPUs. Source:
NVIDIA/k8s-device-plugin:README.md and NVIDIA/cloud-native-docs:gpu-operator/gpu-sharing.rst.
"""


def shares_gpus(view: StackView, pool: DeclaredPool) -> bool:
    """Return whether a node might advertise more units than it has GPUs."""
    listed, keys = cloud(pool.cloud).pool.shared_gpus
    owners = pool.own.items(listed) if listed else (pool.own,)
    of_cloud = owners is None or any(
        each.is_given(key) is not False for each in owners for key in keys
    )
    return of_cloud or any(
        chart.props.is_given(path) is not False
        for chart in view.installed_charts
        for path in _SHARING.get(chart.type, ())
    )


def may_create_nodes(of_cloud: Cloud, cluster: DeclaredResource) -> list[str]:
    """Return the properties with which a cloud may add nodes that the stack doesn't declare."""
    return [
        path
        for path, value in of_cloud.cluster.own_nodes
        if has_value(cluster.props.at(path), value) is not False
    ]
