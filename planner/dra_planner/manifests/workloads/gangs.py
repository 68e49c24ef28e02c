"""Gangs: PodGroups of schedulers beside the default one, held against the pods that join them.

Source: kubernetes-sigs/scheduler-plugins:apis/scheduling/v1alpha1/types.go@903da7df, kai-scheduler/KAI-Scheduler:
pkg/apis/scheduling/v2alpha2/podgroup_types.go@d5bc503a, volcano-sh/apis:pkg/apis/scheduling/v1beta1@536f121,
kubernetes/api:scheduling/{v1alpha2,v1beta1}/types.go@v0.36.3 and v0.37.0-beta.0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from dra_planner.errors import Diagnostic
from dra_planner.manifests.objects import KubernetesObject
from dra_planner.manifests.workloads.description import Node
from dra_planner.model import PodTemplate, Workload

OLD_GROUP: Final = "scheduling.sigs.k8s.io"
OLD_LABEL: Final = "pod-group.scheduling.sigs.k8s.io"
_LABEL: Final = "scheduling.x-k8s.io/pod-group"
_TIES: Final = {
    "scheduling.x-k8s.io": (_LABEL,),
    "scheduling.run.ai": ("pod-group-name",),
    "scheduling.volcano.sh": ("scheduling.k8s.io/group-name", "scheduling.volcano.sh/group-name"),
}
"""By the group of the API: labels or annotations by which a pod names its PodGroup."""


def is_gang(item: KubernetesObject) -> bool:
    """Return whether an object is a PodGroup, of whichever scheduler."""
    return item.kind == "PodGroup" and (item.group in _TIES or item.group == OLD_GROUP)


def gang_findings(gangs: Iterable[KubernetesObject], workloads: Iterable[Workload]) -> Iterator[Diagnostic]:
    """Yield what keeps gangs from starting: groups of old, labels that nobody reads, minimums that no pods reach."""
    workloads = list(workloads)
    for gang in gangs:
        if gang.group == OLD_GROUP:
            yield Diagnostic(
                "error",
                "version-not-served",
                f'{gang}: no matches for kind "PodGroup" in version "{gang.api_version}" since scheduler-plugins 0.25',
                gang.place,
                f"write apiVersion: scheduling.x-k8s.io/v1alpha1, and label the pods {_LABEL}: {gang.name}",
            )
        else:
            yield from _too_few(gang, workloads)
    for workload in workloads:
        for pods in workload.pod_sets:
            name = pods.template.labels.get(OLD_LABEL)
            if name is not None:
                yield Diagnostic(
                    "warning",
                    "gang-label-not-read",
                    f"{workload.ref}: its pods join no gang: no scheduler reads the label {OLD_LABEL} any more",
                    workload.place,
                    f"label the pods {_LABEL}: {name}",
                )


def _too_few(gang: KubernetesObject, workloads: Iterable[Workload]) -> Iterator[Diagnostic]:
    least = _minimum(Node(gang.data, gang.place))
    joining = [
        pods.figures.ceiling
        for workload in workloads
        if workload.meta.namespace == gang.namespace
        for pods in workload.pod_sets
        if gang.name in _names(pods.template, _TIES[gang.group])
    ]
    count = sum(most for most in joining if most is not None)
    if joining and None not in joining and count < least:
        missing = least - count
        yield Diagnostic(
            "warning",
            "gang-too-small",
            f"{gang}: waits for {least} pods, and {count} pod{'s' if count != 1 else ''} of these manifests join it: "
            "none of them starts",
            gang.place,
            f"set the minimum to {count}, or add {missing} pod{'s' if missing != 1 else ''} with its name",
        )


def _names(template: PodTemplate, keys: Iterable[str]) -> set[str]:
    found: Mapping[str, str] = {**template.annotations, **template.labels}
    return {found[key] for key in keys if key in found}


def _minimum(gang: Node) -> int:
    """Return how many pods must be there before any starts."""
    tasks = gang.get("spec.minTaskMember", {})
    by_task = sum(count for count in tasks.values() if isinstance(count, int)) if isinstance(tasks, Mapping) else 0
    leaves = sum(group.number("minMember", 0) for _, group in gang.at("spec.subGroups").members())
    return max(gang.number("spec.minMember", 0), by_task, leaves)
