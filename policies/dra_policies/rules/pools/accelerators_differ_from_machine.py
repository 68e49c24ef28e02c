"""GPUs attached to a machine type that has other GPUs or doesn't support any, and pools that mix
machine types with and without GPUs.
"""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.clouds import cloud
from dra_planner.wording import counted
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.pool_machines import known_machine
from dra_policies.view.stack_view import DeclaredPool, StackView


def check(view: StackView) -> Iterator[Finding]:
    for pool in view.pools:
        yield from _mixed(pool)
        paths = cloud(pool.cloud).pool
        name = pool.own.text(paths.machine) if paths.attached else None
        attached = pool.own.items(paths.attached.path) if paths.attached and name else None
        if not name or not attached or paths.attached is None:
            continue
        kind, count = (
            attached[0].text(paths.attached.type),
            attached[0].count(paths.attached.count, 1),
        )
        if kind and count is not None:
            yield from _compare(pool, name, kind, count)


def _mixed(pool: DeclaredPool) -> Iterator[Finding]:
    """Yield a pool with several machine types, only some of which have GPUs."""
    path = cloud(pool.cloud).pool.machine
    names = [name for name in pool.own.texts(path) or () if name]
    counts = {name: known_machine(pool.cloud, name) for name in names}
    if len(names) > 1 and None not in counts.values():
        plain = [name for name, machine in counts.items() if machine and not machine.gpu_count]
        if plain and len(plain) < len(counts):
            yield Finding(
                message=f"{pool.title} has machine types with and without GPUs, so nodes of type "
                f"{plain[0]} don't publish devices",
                fix=f"move {plain[0]} to another pool",
                urn=pool.urn,
            )


def _compare(pool: DeclaredPool, name: str, kind: str, count: int) -> Iterator[Finding]:
    machine = known_machine(pool.cloud, name)
    if machine is None:
        return
    accelerator = machine.accelerator
    if accelerator is None or not accelerator.gke_type or not accelerator.count:
        if not name.startswith(_TAKE_GPUS):
            yield Finding(
                message=f"{pool.title}: machine type {name} doesn't support GPUs, but "
                f"the pool attaches {counted(count, 'GPU')} ({kind})",
                fix="use a machine type with built-in GPUs, or an N1 machine type, which supports "
                "attached GPUs",
                urn=pool.urn,
            )
    elif (kind, count) != (accelerator.gke_type, accelerator.count):
        yield Finding(
            message=f"{pool.title}: machine type {name} has {accelerator.count} × "
            f"{accelerator.gke_type}, but the pool requests {count} × {kind}",
            fix=f"set type to {accelerator.gke_type} and count to {accelerator.count} in "
            "guestAccelerators",
            urn=pool.urn,
        )


_TAKE_GPUS = ("n1-", "custom-")

RULE = Rule(
    id="accelerators-differ-from-machine",
    description="A pool's GPUs don't match its machine type.",
    why="The cloud rejects the pool. The plan checked the claims against the machine type's GPUs.",
    fix="Set the GPU type and count to match the machine type.",
    level="mandatory",
    needs="stack",
    check=check,
)
