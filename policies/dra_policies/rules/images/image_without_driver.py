"""GPU nodes with an image without the NVIDIA driver, if nothing else in the stack installs it."""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.catalog import Machine
from dra_planner.clouds import Cloud, cloud
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.pool_machines import known_machine, without_image_driver
from dra_policies.view.stack_view import DeclaredPool, StackView


def check(view: StackView) -> Iterator[Finding]:
    if not view.complete or view.has_gpu_operator:
        return  # the operator installs its own driver
    for pool in view.node_pools:
        of_cloud = cloud(pool.cloud)
        if pool.has_gpus and (left_out := without_image_driver(pool)):
            path, value = left_out
            yield Finding(
                message=f"{pool.title} has GPUs ({pool.machine}), but sets {path} to "
                f"{value}, so its nodes don't have the NVIDIA driver",
                fix=f"remove {path}, or install the GPU Operator with driver.enabled set to true",
                urn=pool.urn,
            )
        machine = known_machine(pool.cloud, pool.machine)
        if (
            pool.has_gpus
            and machine
            and pool.image
            and (fault := of_cloud.image_fault(machine, pool.image))
        ):
            yield Finding(message=f"{pool.title}: {fault.problem}", fix=fault.fix, urn=pool.urn)
        if pool.has_gpus and _leaves_image_to_cloud(pool):
            yield Finding(
                message=f"{pool.title} has GPUs ({pool.machine}), but doesn't set "
                f"{of_cloud.pool.image}, so the image that {of_cloud.title} chooses "
                "might not include the NVIDIA driver",
                fix=f"set {of_cloud.pool.image} to {_gpu_images(of_cloud, machine)}",
                urn=pool.urn,
                certain=False,
            )
        if pool.has_gpus and pool.image in of_cloud.images_without_driver:
            yield Finding(
                message=f"{pool.title} has GPUs ({pool.machine}), but its image {pool.image} "
                "doesn't include the NVIDIA driver",
                fix=f"use an image that includes the driver, for example {_gpu_images(of_cloud, machine)}",
                urn=pool.urn,
            )


def _leaves_image_to_cloud(pool: DeclaredPool) -> bool:
    """Return whether neither a pool nor its template sets an image, on a cloud that has images
    without the driver.
    """
    paths = cloud(pool.cloud).pool
    if paths.template is None or not paths.template.image or pool.image != "":
        return False
    has_template = pool.own.has(paths.template.property) is not False or pool.template is not None
    if not has_template:
        return True
    return pool.template is not None and pool.template.has(paths.template.image) is False


def _gpu_images(of_cloud: Cloud, machine: Machine | None) -> str:
    """Return the images that include the driver. If the machine type is known, return only those
    for its architecture.
    """
    images = of_cloud.gpu_images
    fitting = images.get(machine.arch) if machine else None
    return fitting or " or ".join(sorted(set(images.values())))


RULE = Rule(
    id="image-without-driver",
    description="GPU node images don't include the NVIDIA driver, and the stack doesn't install the driver.",
    why="Without the driver, nodes don't publish devices. Pods stay pending while you pay for "
    "the GPUs.",
    fix="Use the cloud's GPU image, or install the GPU Operator.",
    level="mandatory",
    is_outage=True,
    needs="stack",
    check=check,
)
