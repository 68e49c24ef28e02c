"""A driver, or a GPU Operator without its own driver, that looks for NVIDIA's libraries in a folder
that the nodes' image doesn't have.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dra_planner.clouds import cloud
from dra_policies.rules.rule import DRIVER_PAGE, Finding, Rule
from dra_policies.view.pool_machines import without_image_driver
from dra_policies.view.stack_view import DeclaredPool, StackView

BY_DEFAULT = "/"  # the chart's default in every version
_INSTALL_FOLDER: Final = "hostPaths.driverInstallDir"
OPERATOR_ROOT = "/run/nvidia/driver"  # NVIDIA/gpu-operator:assets/state-driver@v26.7.0


def check(view: StackView) -> Iterator[Finding]:
    yield from _of_operators(view)
    clouds = {pool.cloud for pool in view.node_pools if pool.has_gpus and pool.is_dra is not False}
    if not view.complete or len(clouds) != 1:
        return
    of_cloud = cloud(clouds.pop())
    where, who = of_cloud.driver_root, f"on {of_cloud.title} nodes, the driver is in"
    if (
        view.record
        and view.record.plan_file
        and (planned := view.record.plan_file.fleet.driver_root) != where
    ):
        where, who = planned, "the planned fleet's images have the driver in"
    if view.has_gpu_operator:
        if not all(
            _has_no_driver(pool)
            for pool in view.node_pools
            if pool.has_gpus and pool.is_dra is not False
        ):
            return  # the operator doesn't replace a driver that the image contains
        where, who = OPERATOR_ROOT, "the GPU Operator installs the driver in"
    for driver in view.drivers:
        root = driver.values.text("nvidiaDriverRoot", BY_DEFAULT) if driver.values else None
        if root is not None and _plain(root) != _plain(where):
            yield Finding(
                message=f"{driver.title} looks for the NVIDIA driver in {root}, but {who} {where}",
                fix=f"set nvidiaDriverRoot to {where} in the driver's chart values",
                urn=driver.urn,
            )


def _of_operators(view: StackView) -> Iterator[Finding]:
    """Yield operators whose toolkit looks for the image's driver in the operator's driver folder.

    GoogleCloudPlatform/gke-documentation: Manage the GPU stack with the GPU Operator, read
    2026-11-28; NVIDIA/gpu-operator:docs google-gke.
    """
    roots = {
        cloud(pool.cloud).driver_root: cloud(pool.cloud).title
        for pool in view.pools
        if pool.has_gpus and not _has_no_driver(pool)
    }
    for operator in view.operators if len(roots) == 1 else ():
        ((where, title),) = roots.items()
        folder = operator.values.text(_INSTALL_FOLDER, OPERATOR_ROOT)
        if (
            where != BY_DEFAULT
            and folder is not None
            and _plain(folder) != _plain(where)
            and operator.values.flag("driver.enabled", True) is False
            and operator.values.flag("toolkit.enabled", True) is True
        ):
            yield Finding(
                message=f"{operator.title} looks for the NVIDIA driver in {folder}, but on "
                f"{title} nodes, the driver is in {where}",
                fix=f"set {_INSTALL_FOLDER} and toolkit.installDir in the operator's values to "
                f"{where}",
                urn=operator.urn,
            )


def _has_no_driver(pool: DeclaredPool) -> bool:
    """Return whether the pool's image certainly doesn't contain the NVIDIA driver."""
    of_cloud = cloud(pool.cloud)
    return without_image_driver(pool) is not None or pool.image in of_cloud.images_without_driver


def _plain(path: str) -> str:
    return path.rstrip("/") or "/"


RULE = Rule(
    id="driver-root-wrong",
    description="The driver root doesn't match the node image.",
    why="The kubelet plugin's init container waits forever for NVIDIA's libraries, so nodes "
    "don't publish devices.",
    fix="Set nvidiaDriverRoot to the folder that the finding reports.",
    level="mandatory",
    is_outage=True,
    url=DRIVER_PAGE,
    needs="stack",
    check=check,
)
