"""Gangs: pods that start together or not at all.

PodGroups are compared with the pods that join them.

Source: kubernetes-sigs/scheduler-plugins:apis/scheduling/v1alpha1/types.go@903da7df,
kai-scheduler/KAI-Scheduler: pkg/apis/scheduling/v2alpha2/podgroup_types.go@d5bc503a,
volcano-sh/apis:pkg/apis/scheduling/v1beta1@536f121,
volcano-sh/volcano:pkg/webhooks/admission/jobs/mutate/mutate_job.go@ed72c7c8, kubernetes-sigs/kueue:
pkg/controller/jobs@ff69552e, kubernetes-sigs/lws:api/leaderworkerset/v1@060ab4d,
kubernetes/api:scheduling/{v1alpha2,v1beta1}/types.go@v0.36.3 and v0.37.0-beta.0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from dra_planner.documents.plain_values import number
from dra_planner.errors import Diagnostic
from dra_planner.manifests.objects import KubernetesObject
from dra_planner.manifests.workloads.kind_description import KUEUE_QUEUE, ObjectPart
from dra_planner.model import Gang, GangPart, PodSet, PodTemplate, Workload

OLD_GROUP: Final = "scheduling.sigs.k8s.io"
OLD_LABEL: Final = "pod-group.scheduling.sigs.k8s.io"
NATIVE_GROUP: Final = "scheduling.k8s.io"
_LABEL: Final = "scheduling.x-k8s.io/pod-group"
_KAI: Final = "scheduling.run.ai"
_TIES: Final = {
    "scheduling.x-k8s.io": (_LABEL,),
    "scheduling.run.ai": ("pod-group-name",),
    "scheduling.volcano.sh": ("scheduling.k8s.io/group-name", "scheduling.volcano.sh/group-name"),
}
"""Labels or annotations that name the PodGroup of a pod, by API group."""
_HOLDERS: Final = {
    "scheduling.x-k8s.io": "the coscheduling plugin",
    "scheduling.run.ai": "KAI",
    "scheduling.volcano.sh": "Volcano",
    NATIVE_GROUP: "the scheduler",
}
_LEADERS: Final = ("leaderworkerset.x-k8s.io", "LeaderWorkerSet")
_VOLCANO_JOB: Final = ("batch.volcano.sh", "Job")
_KUEUE_GROUP: Final = "kueue.x-k8s.io/pod-group-name"
_KUEUE_LEAST: Final = "kueue.x-k8s.io/job-min-parallelism"
_QUEUED_WHOLE: Final = frozenset(
    {
        "AppWrapper",
        "JAXJob",
        "Job",
        "JobSet",
        "MPIJob",
        "PaddleJob",
        "PyTorchJob",
        "RayCluster",
        "RayJob",
        "SparkApplication",
        "StatefulSet",
        "TFJob",
        "TrainJob",
        "XGBoostJob",
    }
)
"""Kinds that Kueue admits as a whole. It admits each pod of a Deployment separately."""


def groups_pods(item: KubernetesObject) -> bool:
    """Return True if an object groups pods that start together."""
    return _is_pod_group(item) or (item.group, item.kind) in (_LEADERS, _VOLCANO_JOB)


def find_gangs(
    objects: Iterable[KubernetesObject], workloads: Sequence[Workload]
) -> tuple[Gang, ...]:
    """Return the gangs of workloads, by name. Each pod set is in at most one gang.

    `objects` are the objects for which `groups_pods` is True. A PodGroup that too few pods join
    isn't a gang, because it never starts. If a PodGroup isn't in the manifests, its pods are
    counted one by one, because its minimum is unknown.
    """
    found: dict[str, Gang] = {}
    taken: set[tuple[object, str]] = set()
    candidates = (*(_of_object(item, workloads) for item in objects), *_of_kueue(workloads))
    for gang in candidates:
        keys = {(part.workload, part.pod_set) for part in gang.parts} if gang else set()
        if gang is not None and keys and not keys & taken:
            taken |= keys
            found[gang.name] = gang
    return tuple(found[name] for name in sorted(found))


def gang_findings(
    objects: Iterable[KubernetesObject], workloads: Iterable[Workload]
) -> Iterator[Diagnostic]:
    """Yield problems that prevent gangs from starting: PodGroups of old versions, and ignored
    labels.
    """
    objects, workloads = list(objects), list(workloads)
    yield from _unread_by_kai(objects, workloads)
    for gang in objects:
        if _is_pod_group(gang) and gang.group == OLD_GROUP:
            yield Diagnostic(
                "error",
                "version-not-served",
                f"{gang}: scheduler-plugins 0.25 and later don't serve kind PodGroup in version "
                f"{gang.api_version}",
                gang.place,
                f"set apiVersion to scheduling.x-k8s.io/v1alpha1, and add the label {_LABEL}: "
                f"{gang.name} to the pods",
            )
    for workload in workloads:
        for pods in workload.pod_sets:
            name = pods.template.labels.get(OLD_LABEL)
            if name is not None:
                yield Diagnostic(
                    "warning",
                    "gang-label-not-read",
                    f"{workload.ref}: its pods don't join a gang, because no current scheduler "
                    f"reads the label {OLD_LABEL}",
                    workload.place,
                    f"add the label {_LABEL}: {name} to the pods",
                )


def _unread_by_kai(
    objects: Iterable[KubernetesObject], workloads: Iterable[Workload]
) -> Iterator[Diagnostic]:
    """Yield pods that name a KAI PodGroup in a label instead of the annotation that KAI reads.

    Source: kai-scheduler/KAI-Scheduler:pkg/common/constants/constants.go@d5bc503a
    (PodGroupAnnotationForPod).
    """
    (tie,) = _TIES[_KAI]
    groups = {
        (item.namespace, item.name)
        for item in objects
        if item.group == _KAI and _is_pod_group(item)
    }
    for workload in workloads:
        for pods in workload.pod_sets:
            template = pods.template
            label, name = next(
                ((key, value) for key, value in template.labels.items() if _KAI in key), ("", "")
            )
            if (workload.meta.namespace, name) in groups and tie not in {
                **template.annotations,
                **template.labels,
            }:
                yield Diagnostic(
                    "warning",
                    "gang-label-not-read",
                    f'{workload.ref}: its pods don\'t join PodGroup "{name}", because KAI '
                    f"doesn't read the label {label}",
                    workload.place,
                    f"add the annotation {tie}: {name} to the pods",
                )


def _is_pod_group(item: KubernetesObject) -> bool:
    return item.kind == "PodGroup" and (item.group in _HOLDERS or item.group == OLD_GROUP)


def _joining(
    gang: KubernetesObject, workloads: Iterable[Workload]
) -> Iterator[tuple[Workload, PodSet]]:
    for workload in workloads:
        for pods in workload.pod_sets if workload.meta.namespace == gang.namespace else ():
            if gang.name in _groups_of(pods.template, gang.group):
                yield workload, pods


def _groups_of(template: PodTemplate, group: str) -> set[str]:
    if group == NATIVE_GROUP:
        return {template.spec.pod_group} - {""}
    found: Mapping[str, str] = {**template.annotations, **template.labels}
    return {found[key] for key in _TIES.get(group, ()) if key in found}


def _of_object(item: KubernetesObject, workloads: Sequence[Workload]) -> Gang | None:
    if _is_pod_group(item):
        least = _minimum(item)
        parts = tuple(
            GangPart(workload.ref, pods.name) for workload, pods in _joining(item, workloads)
        )
        if item.group not in _HOLDERS or not least:
            return None
        name = f"PodGroup {item.namespace}/{item.name}"
        return Gang(name=name, parts=parts, least=least, held_by=_HOLDERS[item.group])
    mine = next((each for each in workloads if _is_of(each, item)), None)
    if mine is None:
        return None
    spec = ObjectPart(item.data, item.place)
    if (item.group, item.kind) == _VOLCANO_JOB:
        parts = tuple(GangPart(mine.ref, pods.name) for pods in mine.pod_sets)
        tasks = sum(
            task.number("minAvailable", task.number("replicas", 1))
            for _, task in spec.at("spec.tasks").members()
        )
        least = spec.number("spec.minAvailable", 0) or tasks
        return Gang(
            name=str(mine.ref), parts=parts, least=least, held_by=_HOLDERS["scheduling.volcano.sh"]
        )
    size = spec.number("spec.leaderWorkerTemplate.size", 1)
    each = {"leader": 1, "worker": size - 1 if len(mine.pod_sets) > 1 else size}
    parts = tuple(GangPart(mine.ref, pods.name, each.get(pods.name, 0)) for pods in mine.pod_sets)
    return (
        Gang(name=str(mine.ref), parts=parts)
        if size > 1 and all(part.pods for part in parts)
        else None
    )


def _is_of(workload: Workload, item: KubernetesObject) -> bool:
    return (workload.kind, workload.api_version, *workload.meta.key) == (
        item.kind,
        item.api_version,
        *item.key,
    )


def _of_kueue(workloads: Iterable[Workload]) -> Iterator[Gang]:
    grouped: dict[str, list[GangPart]] = {}
    for workload in workloads:
        if workload.kind in _QUEUED_WHOLE and KUEUE_QUEUE in workload.meta.labels:
            parts = tuple(
                GangPart(workload.ref, pods.name) for pods in workload.pod_sets if not pods.per_node
            )
            least = (
                number(workload.meta.annotations.get(_KUEUE_LEAST))
                if workload.kind == "Job"
                else None
            )
            yield Gang(name=str(workload.ref), parts=parts, least=least or 0, held_by="Kueue")
        elif workload.kind == "Pod" and workload.pod_sets and _KUEUE_GROUP in workload.meta.labels:
            name = f"pod group {workload.meta.namespace}/{workload.meta.labels[_KUEUE_GROUP]}"
            grouped.setdefault(name, []).append(GangPart(workload.ref, workload.pod_sets[0].name))
    for name, members in grouped.items():
        yield Gang(name=name, parts=tuple(members), held_by="Kueue")


def _minimum(item: KubernetesObject) -> int:
    """Return the number of pods that must exist before any of them starts, or 0 if each pod starts
    by itself.
    """
    gang = ObjectPart(item.data, item.place)
    if item.group == NATIVE_GROUP:
        return gang.number("spec.schedulingPolicy.gang.minCount", 0)
    tasks = gang.get("spec.minTaskMember", {})
    by_task = (
        sum(count for count in tasks.values() if isinstance(count, int))
        if isinstance(tasks, Mapping)
        else 0
    )
    leaves = sum(group.number("minMember", 0) for _, group in gang.at("spec.subGroups").members())
    policies = sum(
        policy.number("subGroupSize", 0) * policy.number("minSubGroups", 0)
        for _, policy in gang.at("spec.subGroupPolicy").members()
    )
    return max(gang.number("spec.minMember", 0), by_task, leaves, policies)
