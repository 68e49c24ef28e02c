"""Examples for missing required keys of a fleet, valid for its cloud."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from dra_planner import clouds
from dra_planner.catalog import machines
from dra_planner.documents.tree import Location
from dra_planner.drivers.nvidia import device_plugin_releases, newest_driver_release

_OTHERS: Mapping[tuple[str, ...], str] = {
    ("deviceClasses", "name"): "large-gpus",
    ("taints", "key"): "team",
    ("quotas", "name"): "gpus",
    ("quotas", "unit"): "gpus",
    ("quotas", "limit"): "16",
    ("headroom", "kind"): "Deployment",
    ("headroom", "name"): "web",
    ("headroom", "pods"): "2",
}


def what_to_write(at: Location, data: Mapping[str, Any]) -> str:
    """Return the missing key with an example value as one line of YAML, or "" if there is none.

    `at` is the place of the key in the fleet `data`, whose cloud and region determine the proposed
    machine type.
    """
    names = [part for part in at if isinstance(part, str)]
    if not names:
        return ""
    value = _example(tuple(names[-2:]), data)
    if names == ["cloud"]:
        value += f" (known: {', '.join(clouds.names())})"
    return f"{names[-1]}: {value}" if value else ""


def _cloud_of(data: Mapping[str, Any]) -> clouds.Cloud:
    """Return the fleet's cloud, or the cloud that has the fleet's region."""
    every = [clouds.cloud(name) for name in clouds.names()]
    named = [cloud for cloud in every if cloud.name == data.get("cloud")]
    alike = [
        cloud for cloud in every if re.fullmatch(cloud.region_pattern, str(data.get("region")))
    ]
    return (named or alike or every)[0]


def _example(names: tuple[str, ...], data: Mapping[str, Any]) -> str:
    cloud = _cloud_of(data)
    gpus = _gpu_machine(cloud.name, str(data.get("region")))
    # By the last two keys of the path, because `version` and `name` mean different things.
    match names:
        case ("cloud",):
            return cloud.name
        case ("region",):
            return cloud.region_example
        case ("kubernetes",):
            return f'"{cloud.new_cluster}"'
        case ("systemPool",):
            return f"{{machine: {cloud.system_machine}}}"
        case ("systemPool", "machine"):
            return cloud.system_machine
        case ("drivers",):
            return f"{{nvidia: {{version: {newest_driver_release().version}}}}}"
        case ("drivers", "nvidia"):
            return f"{{version: {newest_driver_release().version}}}"
        case ("nvidia", "version"):
            return newest_driver_release().version
        case ("devicePlugin", "version"):
            return device_plugin_releases()[-1].version
        case ("pools",):
            return f"[{{name: gpus, machine: {gpus}, count: {{min: 0, max: 4}}}}]"
        case ("pools", "machine"):
            return gpus
        case ("pools", "name"):
            return "gpus"
        case ("pools", "count"):
            return "{min: 0, max: 4}"
        case ("count", "max"):
            return "4"
    return _OTHERS.get(names, "")


def _gpu_machine(cloud: str, region: str) -> str:
    """Return the smallest machine type with one whole GPU in the region, or anywhere if the region
    has none.
    """
    whole = [
        machine
        for machine in machines(cloud)
        if machine.gpu_count == 1
        and machine.is_offered
        and machine.accelerator
        and not machine.accelerator.fraction
    ]
    here = [machine for machine in whole if region in machine.regions]
    return min(here or whole, key=lambda machine: machine.vcpus or 0).name
