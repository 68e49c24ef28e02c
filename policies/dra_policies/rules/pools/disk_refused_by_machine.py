"""Disks that the machine type doesn't support: boot disk types, numbers of local disks, and
operating systems that don't fit on the machine's own disk.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from dra_planner.clouds import cloud
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.pool_machines import known_machine
from dra_policies.view.stack_view import DeclaredPool, StackView


def check(view: StackView) -> Iterator[Finding]:
    for pool in view.pools:
        of_cloud = cloud(pool.cloud)
        yield from _local_disks(pool)
        yield from _ephemeral(pool)
        path = _written_path(pool, of_cloud.pool.disk_type)
        kind = pool.own.text(path) if path else ""
        taken = of_cloud.boot_disk_types(pool.machine.partition("+")[0]) if pool.machine else ()
        if kind and taken and kind not in taken:
            yield Finding(
                message=f"{pool.title}: machine type {pool.machine} can't boot from a {kind} disk",
                fix=f"set {path} to {taken[0]}, or remove {path}",
                urn=pool.urn,
            )


def _written_path(pool: DeclaredPool, path: str) -> str:
    """Return the newer path of a property if the program uses it, and else the path itself."""
    newer = (new for new, old in cloud(pool.cloud).pool.aliases if old == path)
    return next((each for each in newer if pool.own.has(each)), path)


def _local_disks(pool: DeclaredPool) -> Iterator[Finding]:
    """Yield a number of local disks that the cloud doesn't attach to the machine type."""
    of_cloud = cloud(pool.cloud)
    machine = known_machine(pool.cloud, pool.machine)
    if machine is None:
        return
    for path in of_cloud.pool.local_disks:
        count = pool.own.count(path, 0)
        if count and (fault := of_cloud.local_disks_fault(machine.instance_type, count)):
            problem, _, allowed = fault.partition("; it supports ")
            yield Finding(
                message=f"{pool.title}: {problem}",
                fix=f"set {path} to {allowed}" if allowed else f"remove {path.rpartition('.')[0]}",
                urn=pool.urn,
            )


def _ephemeral(pool: DeclaredPool) -> Iterator[Finding]:
    """Yield a pool whose operating system doesn't fit on the machine's own disk."""
    ephemeral = cloud(pool.cloud).pool.ephemeral
    machine = known_machine(pool.cloud, pool.machine)
    if ephemeral is None:
        return
    path, value = ephemeral.setting
    if pool.machine and re.fullmatch(ephemeral.without, pool.machine):
        settings = ((path, value, ephemeral.otherwise), *ephemeral.other_settings)
        for each, wrong, right in settings:
            if pool.own.text(each) == wrong:
                yield Finding(
                    message=f"{pool.title}: {each} is {wrong}, but {pool.machine} doesn't have a "
                    "local disk",
                    fix=f'set {each} to "{right}", or use a machine type with a local disk',
                    urn=pool.urn,
                )
        return
    if machine is None or machine.temporary_disk_gib is None:
        return
    wanted = pool.own.count(ephemeral.size, ephemeral.default_gib)
    largest = machine.temporary_disk_gib
    if pool.own.text(path) == value and wanted is not None and wanted > largest:
        yield Finding(
            message=f"{pool.title}: its OS disk ({wanted} GiB) doesn't fit on the local disk "
            f"of {machine.name} ({largest} GiB)",
            fix=f'set {path} to "{ephemeral.otherwise}", or set {ephemeral.size} to {largest} '
            "or less",
            urn=pool.urn,
            certain=machine.family in ephemeral.only_temporary,
        )


RULE = Rule(
    id="disk-refused-by-machine",
    description="The machine type doesn't support the pool's disk type.",
    why="The cloud can't create nodes with this disk type.",
    fix="Remove the disk type, or use a disk type that the machine type supports.",
    level="mandatory",
    needs="stack",
    check=check,
)
