"""A GPU Operator that installs a driver or toolkit on node images that contain their own, or that
don't support its driver.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dra_planner.clouds import cloud
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.pool_machines import without_image_driver
from dra_policies.view.stack_view import DeclaredPool, StackView

URL: Final = (
    "https://docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest/getting-started.html"
)


def check(view: StackView) -> Iterator[Finding]:
    yield from _on_images_without_builds(view)
    yield from _unsigned_modules(view)
    pools = [pool for pool in view.pools if pool.has_gpus and _image_has_driver(pool)]
    for operator in view.operators if pools else ():
        parts = [
            part
            for part in _parts(pools[0])
            if operator.values.flag(f"{part}.enabled", True) is True
        ]
        if parts:
            shown = " and ".join(f"{part}.enabled" for part in parts)
            yield Finding(
                message=f"{operator.title} installs its {' and '.join(parts)} on the nodes "
                f"in {pools[0].title}, but their image already includes the NVIDIA driver "
                "and toolkit",
                fix=f"set {shown} to false in the operator's values",
                urn=operator.urn,
            )


def _on_images_without_builds(view: StackView) -> Iterator[Finding]:
    """Yield operators without a driver build for the image of a pool, so that their driver pods
    never start.
    """
    for operator in view.operators:
        for pool in view.pools:
            without = pool.image in cloud(pool.cloud).images_without_operator_driver
            if pool.has_gpus and without and operator.values.flag("driver.enabled", True) is True:
                yield Finding(
                    message=f"{operator.title} installs its driver on the nodes in {pool.title}, but "
                    "this driver doesn't have a build for the nodes' image, "
                    f"{images_title(pool)}",
                    fix="set driver.enabled to false, and install the driver with a DaemonSet that "
                    "runs the image's driver installer",
                    urn=operator.urn,
                )


def _unsigned_modules(view: StackView) -> Iterator[Finding]:
    """Yield operators that compile a driver on nodes that load only signed modules.

    NVIDIA/gpu-operator issue 1726.
    """
    for operator in view.operators:
        compiles = operator.values.flag("driver.usePrecompiled", False) is False
        for pool in view.pools if compiles else ():
            of_cloud = cloud(pool.cloud)
            if (
                pool.has_gpus
                and operator.values.flag("driver.enabled", True) is True
                and of_cloud.secure_boot
                and pool.own.flag(of_cloud.secure_boot, False) is True
                and pool.image not in of_cloud.images_without_operator_driver
            ):
                yield Finding(
                    message=f"{operator.title} compiles its driver on the nodes in {pool.title}, but "
                    "Secure Boot rejects the unsigned module, so the driver pods crash",
                    fix=f"create a pool with {of_cloud.secure_boot} set to false",
                    urn=pool.urn,
                )


def images_title(pool: DeclaredPool) -> str:
    """Return the common name of a pool's image."""
    return cloud(pool.cloud).image_titles.get(pool.image or "", pool.image or "")


def _parts(pool: DeclaredPool) -> tuple[str, ...]:
    """Return the operator's parts to report. `managed-driver-on-dra-node` reports the driver of
    DRA pools that configure their own.
    """
    is_reported = cloud(pool.cloud).driver_left_out and pool.is_dra is not False
    return ("toolkit",) if is_reported else ("driver", "toolkit")


def _image_has_driver(pool: DeclaredPool) -> bool:
    """Return True if the pool boots a cloud image that contains the NVIDIA driver."""
    of_cloud = cloud(pool.cloud)
    if not of_cloud.installs_driver or without_image_driver(pool) or pool.image is None:
        return False
    has_template_image = pool.template is not None and pool.template.has("imageId") is not False
    return pool.image not in (*of_cloud.images_without_driver, "CUSTOM") and not has_template_image


RULE = Rule(
    id="operator-on-managed-image",
    description="The GPU Operator installs a driver or toolkit on nodes whose managed image already "
    "includes one.",
    why="The operator's driver doesn't replace the image's driver, and the operator's toolkit "
    "crash-loops on newer containerd versions.",
    fix="Set the GPU Operator's driver.enabled and toolkit.enabled to false.",
    level="mandatory",
    is_outage=True,
    url=URL,
    needs="stack",
    check=check,
)
