"""DRA drivers for NVIDIA GPUs that are installed without their chart: with an operator, by a cloud,
or in an image.

Sources: docs.nvidia.com, “Deploying the GPU Operator with DRA Support” (GPUCluster);
NVIDIA/gpu-operator:deployments/gpu-operator/values.yaml@v26.7.0 (`gpuCluster.deployCR`; `draDriver`
of ClusterPolicy on OpenShift); the module of each cloud for the cloud's driver.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from dra_planner.clouds import cloud
from dra_policies.stack.releases import OPERATOR_CHARTS, RELEASES, chart_name
from dra_policies.stack.resource import Resource
from dra_policies.unknown_values import UNKNOWN, as_list, as_mapping
from dra_policies.view.stack_view import DeclaredPool, SecondDriver

_CHART_SWITCH = "gpuCluster.deployCR"
_OBJECTS = {
    # Kind → the flag that installs the driver, and the flag's default. GPUCluster always installs
    # it.
    ":GPUCluster": (
        "spec.draDriver.enabled",
        True,
        "",
    ),
    ":ClusterPolicy": (
        "spec.draDriver.enabled",
        False,
        "set spec.draDriver.enabled to false in the ClusterPolicy",
    ),
}


def second_drivers(
    pools: Sequence[DeclaredPool], resources: Sequence[Resource]
) -> Iterator[SecondDriver]:
    """Yield the drivers that certainly run."""
    for resource in resources:
        yield from _of_operator(resource)
    for pool in pools:
        of_cloud = cloud(pool.cloud)
        own = as_mapping(_known(pool.own.values)) or {}
        setting = of_cloud.own_dra_driver(own, pool.image or "", pool.boot_script or "")
        if setting and pool.has_gpus is not False:
            yield SecondDriver(
                title=f"{of_cloud.own_driver} on the nodes in {pool.title} ({setting})",
                urn=pool.template_urn or pool.urn,
                removable=setting,
            )


def _of_operator(resource: Resource) -> Iterator[SecondDriver]:
    if resource.type in RELEASES and chart_name(resource) in OPERATOR_CHARTS:
        if resource.props.below("values").flag(_CHART_SWITCH, False) is True:
            title = f"{resource.title(RELEASES[resource.type])} (GPU Operator with {_CHART_SWITCH})"
            yield SecondDriver(
                title=title,
                urn=resource.urn,
                fix=f"set {_CHART_SWITCH} to false in the operator's values",
            )
        return
    for kind, (path, default, fix) in _OBJECTS.items():
        is_nvidia = resource.type.startswith("kubernetes:nvidia.com/")
        if (
            is_nvidia
            and resource.type.endswith(kind)
            and resource.props.flag(path, default) is True
        ):
            title = f'{kind[1:]} "{resource.name}"'
            yield SecondDriver(title=title, urn=resource.urn, fix=fix, removable=title)


def _known(value: Any) -> Any:
    """Return a value without its unknown parts."""
    mapping, items = as_mapping(value), as_list(value)
    if mapping is not None:
        return {key: _known(item) for key, item in mapping.items() if item is not UNKNOWN}
    return value if items is None else [_known(item) for item in items if item is not UNKNOWN]
