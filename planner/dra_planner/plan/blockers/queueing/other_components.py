"""Pods that wait for another component: one that removes their scheduling gates, or another
scheduler.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dra_planner.claims.admission.schedulers import TITLES, lacks_other_schedulers, other_scheduler
from dra_planner.manifests.workloads.queue_labels import KAI, VOLCANO, is_queued
from dra_planner.model import PodSpec, Workload
from dra_planner.plan.blockers.blocker import Blocker, ClusterSituation
from dra_planner.wording import named, verb

_HINTS: Final = {
    VOLCANO: "set predicate.DynamicResourceAllocationEnable to true in the plugin arguments of "
    "Volcano's scheduler, because Volcano otherwise ignores claims. Then run a Job to verify that "
    "Volcano schedules its pods",
    KAI: "check in KAI that the pods can run, because the plan simulates only kube-scheduler",
}


def find_waits_for_others(situation: ClusterSituation) -> Iterator[Blocker]:
    """Yield the workloads whose pods need a component other than kube-scheduler."""
    manifests = situation.manifests
    for workload in manifests.workloads:
        if workload.ref in manifests.existing:
            continue
        for spec in dict.fromkeys(pods.template.spec for pods in workload.pod_sets):
            yield from _gated(workload, spec)
            name = other_scheduler(workload, spec)
            if name and not lacks_other_schedulers(manifests):  # otherwise, its pods are rejected
                yield _elsewhere(workload, name)


def _gated(workload: Workload, spec: PodSpec) -> Iterator[Blocker]:
    if spec.scheduling_gates and not is_queued(workload):
        is_pod = workload.ref.kind == "Pod"
        who = f"{workload.ref} stays" if is_pod else f"the pods of {workload.ref} stay"
        gates = named("scheduling gate", list(spec.scheduling_gates))
        yield Blocker(
            code="pod-waits-for-others",
            message=f"{who} pending until {gates} {verb(len(spec.scheduling_gates), 'are')} removed, "
            "and the plan assumes that a controller removes "
            f"{'it' if len(spec.scheduling_gates) == 1 else 'them'}",
            fix="remove schedulingGates, unless a controller removes them",
            place=workload.place,
            workloads=(workload.ref,),
            verdict="cannot-tell",
        )


def _elsewhere(workload: Workload, name: str) -> Blocker:
    title = TITLES.get(name)
    uses = "uses" if workload.ref.kind == "Pod" else "has pods that use"
    who = title or f'"{name}"'
    return Blocker(
        code="pod-waits-for-others",
        message=f"{workload.ref} {uses} scheduler {who}, which the plan doesn't simulate",
        fix=_HINTS.get(
            name,
            "remove schedulerName, or make sure that the cluster runs this scheduler and that it "
            "supports DRA",
        ),
        place=workload.place,
        workloads=(workload.ref,),
        verdict="cannot-tell",
    )
