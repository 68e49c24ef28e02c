"""Memory amounts whose unit is probably wrong: 512m is less than one byte."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from dra_planner.model import Container, Workload
from dra_planner.plan.blockers.blocker import Blocker, ClusterSituation, fact
from dra_planner.wording import counted

LIMIT_TOO_SMALL: Final = "memory-limit-too-small"
REQUEST_TOO_SMALL: Final = "memory-request-too-small"
_TINY: Final = 2**20  # in bytes
_AMOUNT: Final = re.compile(r"(?P<number>[0-9]+(\.[0-9]+)?)(?P<unit>m|k|Ki)?")
_MEBIBYTES_FROM: Final = 64  # a smaller number without a unit probably means gibibytes


def find_tiny_memory(situation: ClusterSituation) -> Iterator[Blocker]:
    """Yield containers with less than 1 MiB of memory. With such a limit, a container never starts.

    Source: opencontainers/runc:libcontainer/process_linux.go@v1.3.0 ("container init was OOM-killed
    (memory limit too low?)").
    """
    for workload in situation.manifests.workloads:
        if workload.ref in situation.manifests.existing:
            continue
        containers = [
            container
            for pods in workload.pod_sets
            for container in (*pods.template.spec.containers, *pods.template.spec.init_containers)
        ]
        for container in dict.fromkeys(containers):
            yield from _of_container(workload, container)


def _of_container(workload: Workload, container: Container) -> Iterator[Blocker]:
    subject = f'{workload.ref}: container "{container.name}"'
    limit, request = container.limits.get("memory"), container.requests.get("memory")
    of_request, of_limit = container.written_memory
    if limit and limit < _TINY:
        yield Blocker(
            code=LIMIT_TOO_SMALL,
            message=f"{subject} has a memory limit of {of_limit}, which is only "
            f"{counted(limit, 'byte')}, so the container never starts",
            fix=_fix("limits", of_limit),
            workloads=(workload.ref,),
        )
    elif request and request < _TINY:
        yield fact(
            f"{subject} requests only {_shown(of_request, request)} of memory, so the scheduler "
            "reserves almost no memory for it",
            _fix("requests", of_request),
            workload.ref,
            code=REQUEST_TOO_SMALL,
        )


def _shown(written: str, amount: int) -> str:
    size = counted(amount, "byte")
    return size if written == str(amount) else f"{written} ({size})"


def _fix(field: str, written: str) -> str:
    """Return the fix with the amount that was probably meant."""
    found = _AMOUNT.fullmatch(written)
    if found is None:
        return f"set resources.{field}.memory to an amount in Mi or Gi, for example 512Mi"
    number = found["number"]
    is_large = not found["unit"] and float(number) < _MEBIBYTES_FROM
    return f"set resources.{field}.memory to {number}{'Gi' if is_large else 'Mi'}"
