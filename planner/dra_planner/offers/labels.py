"""Labels and taints of future nodes, from Kubernetes, this project, and the cloud."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dra_planner.catalog import Machine
from dra_planner.clouds import POOL, PluginServing, cloud
from dra_planner.drivers import plugin_of
from dra_planner.model import Taint

if TYPE_CHECKING:  # reading a snapshot doesn't need a fleet, whose schema takes long to import
    from dra_planner.fleet import Fleet, Pool

_OF_NODE_FEATURES = "feature.node.kubernetes.io/"
_OF_GPUS = "nvidia.com/"
# labels of nodes without GPUs:
# NVIDIA/k8s-device-plugin:internal/lm/{labeler,nvml,timestamp}.go@v0.17.0
_WITHOUT_GPUS = ("nvidia.com/gfd.timestamp", "nvidia.com/gpu.machine")
_ZONES = ("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone")


def predict_labels(fleet: Fleet, pool: Pool, machine: Machine, node_name: str) -> dict[str, str]:
    """Return the labels of a pool's nodes, with the zone only if there is exactly one."""
    nodes = fleet.nodes_of(pool, machine)
    return (
        base_labels(fleet, pool.name, machine, node_name, pool_zones(fleet, pool))
        | {label.key: label.value for label in cloud(fleet.cloud).labels(nodes)}
        | cloud(fleet.cloud).added_labels(nodes)
        | _discovered_labels(fleet, machine, nodes.plugin)
        | pool.labels
    )


def _discovered_labels(
    fleet: Fleet, machine: Machine, serving: PluginServing | None
) -> dict[str, str]:
    """Return the labels of GPU feature discovery, which the fleet installs with the device
    plugin.
    """
    plugin = plugin_of(machine)
    if (
        serving is None
        or plugin is None
        or not (fleet.device_plugin and fleet.device_plugin.feature_discovery)
    ):
        return {}
    return dict(plugin.discovered_labels(machine, serving))


def base_labels(
    fleet: Fleet, pool_name: str, machine: Machine, node_name: str, zones: Sequence[str]
) -> dict[str, str]:
    """Return the labels of every node, for any kind of pool."""
    labels = {
        "kubernetes.io/arch": machine.arch,
        "kubernetes.io/os": "linux",
        "kubernetes.io/hostname": node_name,
        "node.kubernetes.io/instance-type": machine.instance_type,
        "topology.kubernetes.io/region": fleet.region,
        POOL: pool_name,
        "beta.kubernetes.io/arch": machine.arch,
        "beta.kubernetes.io/os": "linux",
        "beta.kubernetes.io/instance-type": machine.instance_type,
        "failure-domain.beta.kubernetes.io/region": fleet.region,
    }
    if len(zones) == 1:
        labels |= dict.fromkeys(_ZONES, zones[0])
    return labels | cloud(fleet.cloud).image_labels(machine)


def unknown_labels(fleet: Fleet, machine: Machine, zones: Sequence[str]) -> tuple[str, ...]:
    """Return the labels that nodes have or might have, with values that are known only at run time.

    An entry that ends in "/" represents every label with that prefix that isn't predicted. The
    platform might run Node Feature Discovery and, on nodes of a device plugin, GPU feature
    discovery.
    """
    of_zones = () if len(zones) == 1 else _ZONES
    return (
        *cloud(fleet.cloud).unknown_labels,
        _OF_NODE_FEATURES,
        *(_WITHOUT_GPUS if machine.accelerator is None else (_OF_GPUS,)),
        *of_zones,
        "kubernetes.io/hostname",
    )


def predict_taints(fleet: Fleet, pool: Pool, machine: Machine) -> tuple[Taint, ...]:
    """Return the taints of a pool's nodes: the taints of this project, of the cloud, and of the
    pool.
    """
    nodes = fleet.nodes_of(pool, machine)
    own = (Taint(taint.key, taint.value, taint.effect) for taint in pool.taints)
    return tuple(
        dict.fromkeys(
            (*cloud(fleet.cloud).taints(nodes), *cloud(fleet.cloud).added_taints(nodes), *own)
        )
    )


def pool_zones(fleet: Fleet, pool: Pool) -> tuple[str, ...]:
    """Return the possible zones of a pool's nodes, or none if the network chooses them."""
    return tuple(pool.zones) or network_zones(fleet)


def network_zones(fleet: Fleet) -> tuple[str, ...]:
    """Return the zones that the fleet's network names, or none if the cloud chooses them."""
    return tuple(fleet.network.zones) if isinstance(fleet.network.zones, list) else ()
