"""A driver that looks for NVIDIA's libraries where the nodes' image does not have them."""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.clouds import cloud
from dra_policies.rules.rule import DRIVER_PAGE, Finding, Rule
from dra_policies.rules.view import StackView

BY_DEFAULT = "/"  # the chart's own, in every release


def check(view: StackView) -> Iterator[Finding]:
    clouds = {pool.cloud for pool in view.pools if pool.has_gpus and pool.is_dra is not False}
    if not view.complete or view.has_gpu_operator or len(clouds) != 1:
        return  # the operator brings a driver of its own, in a container
    of_cloud = cloud(clouds.pop())
    for driver in view.drivers:
        root = driver.values.text("nvidiaDriverRoot", BY_DEFAULT) if driver.values else None
        if root is not None and _plain(root) != _plain(of_cloud.driver_root):
            yield Finding(
                message=f"{driver.title} looks for the NVIDIA driver in {root}, and nodes of {of_cloud.title} have "
                f"it in {of_cloud.driver_root}",
                fix=f"set nvidiaDriverRoot: {of_cloud.driver_root} among its values",
                urn=driver.urn,
            )


def _plain(path: str) -> str:
    return path.rstrip("/") or "/"


RULE = Rule(
    id="driver-root-wrong",
    says="The driver looks for NVIDIA's libraries where the nodes' image has them.",
    why="Its kubelet plugin waits for the libraries in its first container, for ever, and nodes publish no device.",
    fix="Set nvidiaDriverRoot to where the image of the nodes has the libraries; the finding says where.",
    level="advisory",
    url=DRIVER_PAGE,
    needs="stack",
    check=check,
)
