"""Boot disk types that the machine type can't boot from."""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.clouds import cloud
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.stack_view import StackView


def check(view: StackView) -> Iterator[Finding]:
    for pool in view.pools:
        of_cloud = cloud(pool.cloud)
        kind = pool.own.text(of_cloud.pool.disk_type) if of_cloud.pool.disk_type else ""
        taken = of_cloud.boot_disk_types(pool.machine.partition("+")[0]) if pool.machine else ()
        if kind and taken and kind not in taken:
            yield Finding(
                message=f"{pool.title}: machine type {pool.machine} doesn't boot from a disk of "
                f"type {kind}",
                fix=f"set {of_cloud.pool.disk_type} to {taken[0]}, or leave it out",
                urn=pool.urn,
            )


RULE = Rule(
    id="disk-refused-by-machine",
    says="The machine type doesn't support the pool's disk type.",
    why="The cloud rejects each node.",
    fix="Omit the disk type, or use one that the machine type supports.",
    level="mandatory",
    needs="stack",
    check=check,
)
