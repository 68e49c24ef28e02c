"""Settings that must not be in both a pool and its launch template, and template settings that
pools reject.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from dra_planner.clouds import MachineTemplate, PoolResource, cloud
from dra_policies.unknown_values import UNKNOWN, Properties, as_mapping
from dra_policies.view.pool_machines import known_machine
from dra_policies.view.stack_view import DeclaredPool


class RejectedPool(NamedTuple):
    """The error in a pool."""

    problem: str
    fix: str


def template_faults(pool: DeclaredPool) -> Iterator[RejectedPool]:
    """Yield the settings that the cloud rejects in a pool with a launch template."""
    paths = cloud(pool.cloud).pool
    kind, template = paths.template, pool.template
    if kind is None:
        return
    if template is not None:
        yield from _rejected(pool, kind, template)
        yield from _interfaces(pool, template)
    is_there = pool.own.has("arn")
    if (template is None and pool.own.has(kind.property) is not True) or is_there:
        # for an existing group, the provider reports values that combine both, although no program
        # sets them
        return
    for path, in_template in kind.instead:
        # the provider computes 0 for a group with a template
        if pool.own.has(path) and pool.own.at(path) != 0:
            yield RejectedPool(
                f"it sets {path}, which {cloud(pool.cloud).title} doesn't allow in a {paths.kind} "
                "with a launch template",
                fix=f"remove {path}, and set {in_template} in the launch template",
            )
    if template is not None:
        if template.has(kind.machine) and pool.own.texts(paths.machine):
            yield RejectedPool(
                "it sets an instance type, and its launch template also sets an instance type, but "
                f"{cloud(pool.cloud).title} accepts only one",
                fix=f"remove either {paths.machine} from the {paths.kind} or {kind.machine} from the "
                "launch template",
            )
        yield from _images(pool, paths, kind, template)


def _interfaces(pool: DeclaredPool, template: Properties) -> Iterator[RejectedPool]:
    """Yield network interfaces of a template that the cloud rejects."""
    network = cloud(pool.cloud).pool.fast_network
    if network is None or not network.interfaces:
        return
    found = [
        {
            key: None if value is UNKNOWN else value
            for key, value in (as_mapping(each.values) or {}).items()
        }
        for each in template.items(network.interfaces) or ()
    ]
    machine = known_machine(pool.cloud, pool.machine)
    for fault in cloud(pool.cloud).interface_faults(found, machine):
        yield RejectedPool(
            f"{cloud(pool.cloud).title} rejects its launch template, because {fault.problem}",
            fix=fault.fix,
        )


def _images(
    pool: DeclaredPool, paths: PoolResource, kind: MachineTemplate, template: Properties
) -> Iterator[RejectedPool]:
    """Yield an image or image version that a pool sets although its template sets an image."""
    if not kind.image:
        return
    has_image = template.has(kind.image)
    image, version = pool.own.text(paths.image), pool.own.text(paths.version)
    if has_image and image and image != kind.custom_image:
        yield RejectedPool(
            f"it sets image {image}, and its launch template also sets an image, but "
            f"{cloud(pool.cloud).title} accepts only one",
            fix=f'either set {paths.image} to "{kind.custom_image}" and remove {paths.version} from '
            f"the {paths.kind}, or remove {kind.image} from the launch template",
        )
    elif has_image and version:
        yield RejectedPool(
            f"it sets Kubernetes version {version}, but the image in its launch template "
            "already determines the version",
            fix=f"remove {paths.version} from the {paths.kind}",
        )
    elif has_image and paths.release and (release := pool.own.text(paths.release)):
        yield RejectedPool(
            f"it sets image version {release}, but its launch template already sets an image",
            fix=f"remove either {paths.release} from the {paths.kind} or {kind.image} from the launch "
            "template",
        )
    elif has_image is False and image == kind.custom_image:
        yield RejectedPool(
            "it uses a custom image, but its launch template doesn't set an image",
            fix=f"set {kind.image} in the launch template, or set {paths.image} to one of the "
            f"{cloud(pool.cloud).title} image types",
        )


def _rejected(
    pool: DeclaredPool, kind: MachineTemplate, template: Properties
) -> Iterator[RejectedPool]:
    """Yield template settings that the cloud adds to a pool itself."""
    for path, own in kind.not_in_pools:
        if template.has(path):
            yield RejectedPool(
                f"its launch template sets {path}, but {cloud(pool.cloud).title} requires {own} in the "
                f"{cloud(pool.cloud).pool.kind} instead",
                fix=f"remove {path} from the launch template, and set {own} in the {cloud(pool.cloud).pool.kind}",
            )
    script = (pool.boot_script or "").lstrip()
    is_of_cloud = pool.image not in (None, "", kind.custom_image) and not template.has(kind.image)
    if kind.is_merged and is_of_cloud and script.startswith(("#!", "#cloud-config", "apiVersion:")):
        yield RejectedPool(
            f"{kind.boot_script} in its launch template isn't a MIME multipart message, so "
            f"{cloud(pool.cloud).title} can't add its own boot script",
            fix=f"convert {kind.boot_script} to a MIME multipart message with one part per script",
        )
