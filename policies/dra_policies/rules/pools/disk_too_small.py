"""A boot disk that is too small for GPU images."""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.clouds import cloud
from dra_policies.rules.resource_rows import broken_rows
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.stack_view import DeclaredPool, StackView


def check(view: StackView) -> Iterator[Finding]:
    yield from broken_rows(view, RULE.id)
    for pool in view.pools:
        if pool.is_dra and pool.has_gpus is not False:
            yield from _other_device(pool)


def _other_device(pool: DeclaredPool) -> Iterator[Finding]:
    """Yield a template in which no disk has the name of the image's root disk."""
    template = cloud(pool.cloud).pool.template
    if template is None or pool.template is None or not template.disks:
        return
    root = next(
        (name for images, name in template.root if (pool.image or "").startswith(images)), ""
    )
    names = [disk.text(template.disk_name) for disk in pool.template.items(template.disks) or ()]
    if root and names and None not in names and root not in names:
        yield Finding(
            message=f"{pool.title}: its launch template configures the disk {names[0]}, but the "
            f"root disk of {pool.image} images is {root}, so the root disk keeps its default size",
            fix=f"in the launch template, set the disk's {template.disk_name} to {root}",
            urn=pool.template_urn or pool.urn,
        )


RULE = Rule(
    id="disk-too-small",
    description="A DRA node has less than 50 GiB of disk space.",
    why="GPU images need 10 to 30 GiB each. If the disk is full, the kubelet evicts pods that "
    "use the GPUs.",
    fix="Use a larger disk.",
    level="advisory",
    needs="stack",
    check=check,
)
