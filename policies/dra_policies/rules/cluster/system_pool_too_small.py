"""System nodes that are too small for controllers, so the cluster starts, but its services
don't.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.pool_machines import known_machine
from dra_policies.view.stack_view import DeclaredPool, StackView

# Total requests of a cluster's DNS, network, storage, and metrics pods, with space for one driver
# controller.
VCPUS: Final = 2
MEMORY_MIB: Final = 4096


def check(view: StackView) -> Iterator[Finding]:
    system = [pool for pool in view.pools if not pool.has_gpus and not _keeps_away(pool)]
    if not view.complete or not view.wants_devices or not system:
        return  # these nodes might be created elsewhere
    vcpus, memory = 0, 0
    for pool in system:
        size = _size(pool)
        nodes = pool.count_desired if pool.count_desired is not None else pool.count_max
        if size is None or nodes is None:
            return
        vcpus, memory = vcpus + nodes * size[0], memory + nodes * size[1]
    if vcpus < VCPUS or memory < MEMORY_MIB:
        names = " and ".join(pool.title for pool in system)
        yield Finding(
            message=f"nodes without GPUs ({names}) have {vcpus} vCPUs and {memory} MiB of "
            "memory in total, which is too little for the cluster's controllers",
            fix=f"use more or larger nodes, with at least {VCPUS} vCPUs and {MEMORY_MIB} MiB "
            "in total",
            urn=system[0].urn,
        )


def _keeps_away(pool: DeclaredPool) -> bool:
    return any(taint.effect != "PreferNoSchedule" for taint in pool.taints or ())


def _size(pool: DeclaredPool) -> tuple[int, int] | None:
    machine = known_machine(pool.cloud, pool.machine)
    if machine is None or machine.vcpus is None or machine.memory_mib is None:
        return None
    return machine.vcpus, machine.memory_mib


RULE = Rule(
    id="system-pool-too-small",
    description="The system nodes are too small for the cluster's controllers.",
    why="DNS and driver controllers stay pending, so GPU nodes don't become usable.",
    fix="Use more or larger nodes in the system pool.",
    level="advisory",
    needs="stack",
    check=check,
)
