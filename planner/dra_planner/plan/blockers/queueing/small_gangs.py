"""Groups of pods that wait for more pods than the manifests create."""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner.model import Gang, PodSet, WorkloadRef
from dra_planner.plan.blockers.blocker import Blocker, ClusterSituation
from dra_planner.wording import counted, verb


def find_small_gangs(situation: ClusterSituation) -> Iterator[Blocker]:
    """Yield gangs whose minimum exceeds the pods that join them even at their autoscalers'
    maximums.
    """
    manifests = situation.manifests
    known = {
        (workload.ref, pod_set.name): pod_set
        for workload in manifests.workloads
        if workload.ref not in manifests.existing
        for pod_set in workload.pod_sets
    }
    places = {workload.ref: workload.place for workload in manifests.workloads}
    for gang in manifests.gangs:
        count = _most_pods(gang, known)
        if not gang.name.startswith("PodGroup "):
            continue  # Volcano's webhook rejects its Job
        if count is None or count >= gang.least:
            continue
        first, missing = gang.parts[0].workload, gang.least - count
        yield Blocker(
            code="pod-cannot-be-scheduled",
            message=f"{gang.name} waits for {gang.least} pods, but only {counted(count, 'pod')} in "
            f"these manifests {verb(count, 'join')} the group, so none of its pods start",
            fix=f"set the group's minimum to {count}, or add {counted(missing, 'pod')} to the group",
            place=places[first],
            workloads=tuple(dict.fromkeys(part.workload for part in gang.parts)),
        )


def _most_pods(gang: Gang, known: dict[tuple[WorkloadRef, str], PodSet]) -> int | None:
    """Return the maximum pods of a gang, or None if it's unknown."""
    sets = [known.get((part.workload, part.pod_set)) for part in gang.parts]
    counts = [None if found is None else found.figures.ceiling for found in sets]
    return sum(each for each in counts if each is not None) if None not in counts else None
