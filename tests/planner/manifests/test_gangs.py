"""PodGroups of other schedulers: a finding reports why a gang can't start."""

from __future__ import annotations

import pytest
from workload_cases import JOB_POD, manifest

from dra_planner.manifests import Manifests
from dra_planner.plan import read_checked
from dra_planner.plan.blockers import Blocker, ClusterSituation
from dra_planner.plan.blockers.queueing.small_gangs import find_small_gangs
from dra_planner.releases import features_of
from dra_planner.sources import Source


def read(*documents: str) -> Manifests:
    return read_checked([Source("m.yaml", "\n---\n".join(documents))], features_of(36))


def small_gangs(*documents: str) -> list[Blocker]:
    situation = ClusterSituation(manifests=read(*documents), features=features_of(36))
    return list(find_small_gangs(situation))


def job(pods: int, meta: str) -> str:
    return manifest(
        "batch/v1",
        "Job",
        f"parallelism: {pods}, template: {{metadata: {{{meta}}}, spec: {JOB_POD}}}",
    )


SCHEDULERS = {
    "scheduler-plugins": (
        "scheduling.x-k8s.io/v1alpha1",
        "labels: {scheduling.x-k8s.io/pod-group: w}",
        "minMember: 4",
    ),
    "KAI": ("scheduling.run.ai/v2alpha2", "annotations: {pod-group-name: w}", "minMember: 4"),
    "KAI, by subgroups": (
        "scheduling.run.ai/v2alpha2",
        "annotations: {pod-group-name: w}",
        "subGroups: [{name: a, minMember: 1}, {name: b, minMember: 3}]",
    ),
    "Volcano": (
        "scheduling.volcano.sh/v1beta1",
        "annotations: {scheduling.k8s.io/group-name: w}",
        "minMember: 4",
    ),
    "Volcano, by tasks": (
        "scheduling.volcano.sh/v1beta1",
        "annotations: {scheduling.volcano.sh/group-name: w}",
        "minMember: 2, minTaskMember: {ps: 1, worker: 3}",
    ),
}


@pytest.mark.parametrize("name", SCHEDULERS)
def test_gang_with_too_few_pods_never_starts(name: str) -> None:
    version, tie, spec = SCHEDULERS[name]
    group = manifest(version, "PodGroup", spec)
    (found,) = small_gangs(job(3, tie), group)
    assert found.verdict == "does-not-fit"
    assert "waits for 4 pods, but only 3 pods in these manifests join the group" in found.message
    assert found.fix == "set the group's minimum to 3, or add 1 pod to the group"
    assert small_gangs(job(4, tie), group) == []
    # its pods may be elsewhere
    assert small_gangs(job(3, "labels: {app: other}"), group) == []


def test_outdated_group_version_and_label_are_reported() -> None:
    tie = "labels: {pod-group.scheduling.sigs.k8s.io: w}"
    group = manifest("scheduling.sigs.k8s.io/v1alpha1", "PodGroup", "minMember: 2")
    gone, unread = read(job(2, tie), group).diagnostics
    assert (gone.code, unread.code) == ("version-not-served", "gang-label-not-read")
    assert "scheduling.x-k8s.io/pod-group: w" in gone.fix
    assert unread.fix == "add the label scheduling.x-k8s.io/pod-group: w to the pods"


def test_job_suspended_for_kueue_is_noted() -> None:
    queue = ", labels: {kueue.x-k8s.io/queue-name: q}"
    text = manifest("batch/v1", "Job", f"suspend: true, template: {{spec: {JOB_POD}}}", queue)
    (workload,) = read(text).workloads
    assumption = (
        'is suspended until Kueue admits it from the queue "q", but the plan counts its pods '
        "as admitted"
    )
    assert workload.assumptions == (assumption,)
