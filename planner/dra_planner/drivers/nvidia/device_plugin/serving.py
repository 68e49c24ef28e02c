"""The extended resources that NVIDIA's device plugin advertises on a node, and the plugin's
configuration for them.

Sources: NVIDIA/k8s-device-plugin:internal/rm/{rm,device_map}.go and
api/config/v1/{config,replicas}.go@1b826ac.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from dra_planner.catalog import Machine
from dra_planner.clouds import MPS, TIME_SLICING, PluginServing
from dra_planner.drivers.nvidia.device_plugin.labels import label_value
from dra_planner.drivers.nvidia.gpus import gpu
from dra_planner.drivers.nvidia.mig import MigGeometry, mig_layout
from dra_planner.errors import CatalogError

_GPU: Final = "nvidia.com/gpu"
_KEYS: Final = {TIME_SLICING: "timeSlicing", MPS: "mps"}
WHOLE_GPUS: Final = "whole-gpus"
"""The configuration of nodes without a label that assigns a configuration."""


def nvidia_units(machine: Machine, serving: PluginServing) -> Mapping[str, int]:
    """Return the resources of a node with their amounts, sorted by name. Raises CatalogError for an
    invalid MIG configuration.
    """
    found: Counter[str] = Counter()
    for geometry in mig_layout(machine, serving.mig):
        for name in _names(geometry, serving.mig_strategy):
            found[serving.resource(name)] += serving.replicas
    return dict(sorted(found.items()))


def nvidia_labels(machine: Machine, serving: PluginServing) -> dict[str, str]:
    """Return the labels of GPU feature discovery, or none if the GPUs of a node differ in name or
    partitions.

    Source: NVIDIA/k8s-device-plugin:internal/lm/{resource,mig-strategy}.go@1b826ac.
    """
    accelerator = machine.accelerator
    name = (
        gpu(accelerator.gpu).product_name if accelerator is not None and accelerator.gpu else None
    )
    if not name or accelerator is None or accelerator.fraction is not None:
        return {}
    product, units = label_value(name), nvidia_units(machine, serving)
    if serving.mig_strategy == "single":
        profiles = {
            each.profile.name
            for geometry in mig_layout(machine, serving.mig)
            for each in geometry or ()
        }
        product = f"{product}-MIG-{'-'.join(sorted(profiles))}"
    if serving.strategy and not serving.is_renamed:
        product = f"{product}-SHARED"
    labels = {"nvidia.com/gpu.product": product, "nvidia.com/gpu.replicas": str(serving.replicas)}
    if serving.mig_strategy:
        labels["nvidia.com/mig.strategy"] = serving.mig_strategy
    if serving.mig_strategy != "mixed":
        labels["nvidia.com/gpu.count"] = str(sum(units.values()) // serving.replicas)
    return {**labels, "nvidia.com/gpu.sharing-strategy": serving.strategy or "none"}


def nvidia_serving_faults(machine: Machine, serving: PluginServing) -> Iterator[tuple[str, str]]:
    """Yield the settings that the plugin rejects, each with its key in the pool."""
    try:
        geometries = mig_layout(machine, serving.mig)
    except CatalogError as error:
        yield "mig", str(error)
        return
    if serving.mig_strategy == "single" and not _are_alike(geometries):
        yield (
            "migStrategy",
            (
                "single requires the same MIG profile on all GPUs on a node, because otherwise "
                "the device plugin doesn't serve any GPUs; use mixed"
            ),
        )
    if serving.mig_strategy and serving.strategy == MPS:
        yield "sharing", "MPS shares only whole GPUs; use time-slicing, or remove mig"


def plugin_configs(servings: Iterable[tuple[Machine, PluginServing]]) -> dict[str, dict[str, Any]]:
    """Return the plugin's configurations by name, one for each way to share GPUs.

    The result is empty if all nodes serve whole GPUs.
    """
    configs: dict[str, dict[str, Any]] = {}
    for machine, serving in servings:
        if serving.config_name:
            config = configs.setdefault(serving.config_name, _config(serving))
            _add_resources(config, machine, serving)
    return {WHOLE_GPUS: {"version": "v1"}, **dict(sorted(configs.items()))} if configs else {}


def _config(serving: PluginServing) -> dict[str, Any]:
    config: dict[str, Any] = {"version": "v1"}
    if serving.mig_strategy:
        config["flags"] = {"migStrategy": serving.mig_strategy}
    if serving.strategy:
        section = {"renameByDefault": serving.is_renamed, "resources": []}
        config["sharing"] = {_KEYS[serving.strategy]: section}
    return config


def _add_resources(config: dict[str, Any], machine: Machine, serving: PluginServing) -> None:
    if not serving.strategy:
        return
    resources = config["sharing"][_KEYS[serving.strategy]]["resources"]
    names = {
        name
        for each in mig_layout(machine, serving.mig)
        for name in _names(each, serving.mig_strategy)
    }
    known = {each["name"] for each in resources}
    resources += [{"name": name, "replicas": serving.replicas} for name in sorted(names - known)]


def _names(geometry: MigGeometry, strategy: str) -> list[str]:
    """Return the name of each unit of one GPU.

    Under `single`, partitions have the name of whole GPUs.
    """
    if geometry is None or not strategy:
        return [_GPU]
    if strategy == "single":
        return [_GPU] * len(geometry)
    return [f"nvidia.com/mig-{each.profile.name.replace('+', '.')}" for each in geometry]


def _are_alike(geometries: Iterable[MigGeometry]) -> bool:
    profiles = {each.profile.name for geometry in geometries for each in geometry or ()}
    return len(profiles) == 1 and all(geometries)
