"""GPU nodes of an image that brings no NVIDIA driver, where nothing else in the stack does."""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.clouds import cloud
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.pool_machines import known_machine
from dra_policies.view.stack_view import StackView


def check(view: StackView) -> Iterator[Finding]:
    if not view.complete or view.has_gpu_operator:
        return  # the operator brings a driver of its own
    for pool in view.pools:
        of_cloud = cloud(pool.cloud)
        for path, value in of_cloud.driver_left_out if pool.has_gpus else ():
            if pool.own.text(path) == value:
                yield Finding(
                    message=f"{pool.title} has GPUs ({pool.machine}), but its {path} {value} "
                    "excludes the NVIDIA driver",
                    fix=f"remove {path}, or install the GPU Operator with a driver",
                    urn=pool.urn,
                )
        machine = known_machine(pool.cloud, pool.machine)
        if (
            pool.has_gpus
            and machine
            and pool.image
            and (fault := of_cloud.image_fault(machine, pool.image))
        ):
            says, _, fix = fault.partition("; ")
            yield Finding(message=f"{pool.title}: {says}", fix=fix, urn=pool.urn)
        if pool.has_gpus and pool.image in of_cloud.images_without_driver:
            images = sorted(set(of_cloud.gpu_images.values()))
            yield Finding(
                message=f"{pool.title} has GPUs ({pool.machine}), but its image {pool.image} "
                "doesn't include the NVIDIA driver",
                fix=f"use an image that does: {' or '.join(images)}",
                urn=pool.urn,
            )


RULE = Rule(
    id="image-without-driver",
    says="GPU nodes have no NVIDIA driver in their image, and nothing in the stack installs it.",
    why="Without the driver, nodes publish no devices. Pods stay pending while you pay for the "
    "GPUs.",
    fix="Use the cloud's GPU image, or install the GPU Operator.",
    level="mandatory",
    is_outage=True,
    needs="stack",
    check=check,
)
