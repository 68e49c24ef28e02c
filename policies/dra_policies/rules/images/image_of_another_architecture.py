"""Nodes whose image is made for another processor architecture, or no longer supports their
Kubernetes version.
"""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.clouds import cloud
from dra_planner.releases import is_newer
from dra_policies.rules.images.karpenter_image_names import images_of_other_versions
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.pool_machines import known_machine
from dra_policies.view.stack_view import DeclaredPool, StackView


def check(view: StackView) -> Iterator[Finding]:
    yield from images_of_other_versions(view)
    newest = max((each.minor for each in view.versions if each.minor), default=0)
    for pool in view.pools:
        machine = known_machine(pool.cloud, pool.machine)
        if not pool.image or machine is None:
            continue
        arch = machine.arch
        of_cloud = cloud(pool.cloud)
        images = of_cloud.gpu_images if pool.has_gpus else of_cloud.system_images
        built_for = of_cloud.image_arch(pool.image)
        ended = of_cloud.image_ended(pool.image)
        if built_for and built_for != arch:
            yield Finding(
                message=f"{pool.title}: machine type {pool.machine} has {arch} CPUs, but image "
                f"{pool.image} is built for {built_for}",
                fix=f"set {_image_setting(pool)} to {images[arch]}",
                urn=pool.urn,
            )
        elif ended and is_newer(newest, ended):
            yield Finding(
                message=f"{pool.title}: image {pool.image} supports only Kubernetes 1.{ended} and "
                f"earlier, but the cluster runs 1.{newest}",
                fix=f"set {_image_setting(pool)} to {images[arch]}",
                urn=pool.urn,
            )


def _image_setting(pool: DeclaredPool) -> str:
    """Return the property that sets a pool's image, or "the image" if the pool doesn't set it."""
    path = cloud(pool.cloud).pool.image
    return path if path and pool.own.text(path) == pool.image else "the image"


RULE = Rule(
    id="image-of-another-architecture",
    description="The node image doesn't match the machine type's processor or the Kubernetes version.",
    why="The cloud rejects the pool.",
    fix="Use an image that supports the machine type.",
    level="mandatory",
    needs="stack",
    check=check,
)
