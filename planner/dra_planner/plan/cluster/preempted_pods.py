"""Running pods that the applied pods preempt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from dra_planner.errors import Diagnostic
from dra_planner.model import Demand, WorkloadRef
from dra_planner.wording import counted

if TYPE_CHECKING:  # used only if pods are simulated
    from dra_planner.manifests import BoundPod
    from dra_planner.simulation import SimulationOutcome


def find_displaced(
    demand: Demand, running: Iterable[BoundPod], outcome: SimulationOutcome
) -> Iterator[Diagnostic]:
    """Yield a warning for each workload that exists only in the cluster, if its `running` pods are
    preempted.
    """
    given = {
        member.workload for shape in demand.shapes for member in shape.members if not member.ahead
    }
    owners = {pod.meta.key: pod.owner or WorkloadRef("Pod", *pod.meta.key) for pod in running}
    lost = Counter(owners[name] for name in outcome.preempted if name in owners)
    for ref, pods in sorted(lost.items()):
        if ref in given:
            continue
        after = outcome.workloads.get(ref)
        left = pods if after is None else min(pods, after.pending + after.not_created + after.lost)
        then = f"and {left} of them don't fit on another node" if left else "and run on other nodes"
        subject = f"{counted(pods, 'pod')} of {ref}"
        yield Diagnostic(
            "warning",
            "gives-way",
            f"pods with higher priority preempt {subject}, {then}",
        )
