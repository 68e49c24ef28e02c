"""Planned pods that a running cluster doesn't schedule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from dra_planner.manifests import Manifests
from dra_planner.model import WorkloadRef
from dra_planner.offers import NodeDifference
from dra_planner.wording import counted


def verify_pods(snapshot: Manifests, planned: Iterable[WorkloadRef]) -> tuple[NodeDifference, ...]:
    """Return the planned workloads with pending pods, one row for each workload.

    Pods of other workloads aren't differences, because the plan has no nodes for them.
    """
    return tuple(_rows(snapshot, frozenset(planned)))


def _rows(snapshot: Manifests, planned: frozenset[WorkloadRef]) -> Iterator[NodeDifference]:
    pending = Counter(_workload(pod.owner, pod.meta.key) for pod in snapshot.waiting_pods)
    bound = Counter(_workload(pod.owner, pod.meta.key) for pod in snapshot.bound_pods)
    for workload in sorted(planned & pending.keys()):
        number = pending[workload]
        yield NodeDifference(
            pool="",
            node="",
            aspect="pod",
            subject=str(workload),
            field="",
            predicted="scheduled",
            observed=f"{number} of {counted(number + bound[workload], 'pod')} pending",
        )


def _workload(owner: WorkloadRef | None, pod: tuple[str, str]) -> WorkloadRef:
    return owner or WorkloadRef("Pod", *pod)
