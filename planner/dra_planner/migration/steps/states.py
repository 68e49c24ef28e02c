"""The manifests of a migration at each step, as objects: the workloads that have moved, and the
workloads that haven't.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from dra_planner.documents.plain_values import block, number, plain
from dra_planner.drivers.protocol.device_plugin import PluginFacts
from dra_planner.manifests.documents import read_documents
from dra_planner.manifests.objects import KubernetesObject, read_objects
from dra_planner.manifests.workloads.pod_counts import Surge, share_of
from dra_planner.migration.migrate import migrate
from dra_planner.migration.outcome import Migration, Result
from dra_planner.migration.pod_templates import find_pod_parts
from dra_planner.migration.target_cluster import Target
from dra_planner.model import WorkloadRef
from dra_planner.sources import Source

_BATCH: Final = ("Job", "CronJob", "JobSet", "Workflow", "CronWorkflow", "TrainJob")
_BEFORE: Final = "-before"
_DOUBLES: Final = ("RayService",)
"""Kinds whose controllers start a second copy of all pods for an update."""


def movable_workloads(found: Migration) -> tuple[str, ...]:
    """Return the workloads that are rewritten, named as in `Target.keep`, in the order in which
    they move. Batch workloads move first, because their pods end by themselves. Workloads that
    double during an update move last.
    """
    kinds: dict[str, str] = {}
    for each in found.templates:
        if each.result is Result.REWRITTEN and each.workload:
            kinds.setdefault(each.workload, each.object.partition(" ")[0])
    stuck = {each.workload for each in found.templates if each.result is Result.CANNOT}
    rank = {
        name: 0 if kind in _BATCH else 2 if kind in _DOUBLES else 1 for name, kind in kinds.items()
    }
    return tuple(sorted((name for name in kinds if name not in stuck), key=lambda name: rank[name]))


def served_workloads(found: Migration) -> dict[str, Mapping[str, str]]:
    """Return the workloads whose unchanged pods a DeviceClass serves, with names as in
    `Target.keep`, each with the classes by `extendedResourceName`.
    """
    others = {each.workload for each in found.templates if each.result is not Result.SERVED}
    served: dict[str, Mapping[str, str]] = {}
    for each in found.templates:
        if each.served and each.workload and each.workload not in others:
            served[each.workload] = {**served.get(each.workload, {}), **each.served}
    return served


def in_groups(names: Sequence[str], most: int) -> list[tuple[str, ...]]:
    """Return the names in at most `most` groups, in order, with one name per group if possible."""
    if len(names) <= most:
        return [(name,) for name in names]
    size, larger = divmod(len(names), most)
    groups: list[tuple[str, ...]] = []
    start = 0
    for index in range(most):
        end = start + size + (index < larger)
        groups.append(tuple(names[start:end]))
        start = end
    return groups


def state_of(
    sources: Sequence[Source],
    target: Target,
    facts: PluginFacts,
    movable: Collection[str],
    moved: Collection[str],
) -> Migration:
    """Return all manifests at the point where only the `moved` workloads request claims."""
    keep = target.keep | (frozenset(movable) - frozenset(moved))
    return migrate(sources, replace(target, keep=keep), facts)


def sources_of(found: Migration) -> tuple[Source, ...]:
    """Return the files after a migration."""
    return tuple(Source(each.source.name, each.text) for each in found.files)


def objects_of(sources: Iterable[Source]) -> list[KubernetesObject]:
    """Return the objects in sources. Documents that can't be read are omitted."""
    documents, _ = read_documents(sources)
    return list(read_objects(documents))


def as_source(objects: Iterable[KubernetesObject], name: str) -> Source:
    """Return objects as one source of JSON documents."""
    return Source(name, "---\n".join(f"{json.dumps(plain(item.data))}\n" for item in objects))


def workload_of(item: KubernetesObject) -> str:
    """Return an object's name in the form of `Target.keep`."""
    return f"{item.namespace}/{item.name}"


def without(
    objects: Iterable[KubernetesObject], workloads: Collection[str]
) -> list[KubernetesObject]:
    """Return objects without these workloads. Objects of other kinds with the same name stay."""
    return [item for item in objects if workload_of(item) not in workloads or not _has_pods(item)]


def old_copies(
    objects: Iterable[KubernetesObject], workloads: Collection[str]
) -> list[KubernetesObject]:
    """Return these workloads with other names, so that they can be planned together with their
    successors.
    """
    copies = []
    for item in objects:
        if workload_of(item) in workloads and _has_pods(item):
            metadata = {**plain(item.metadata), "name": f"{item.name}{_BEFORE}"}
            copies.append(item.with_data({**plain(item.data), "metadata": metadata}))
    return copies


def shown_name(workload: WorkloadRef) -> str:
    """Return the name of a workload in reasons. A copy's name shows that it represents the old
    pods.
    """
    name = str(workload)
    return f"{name.removesuffix(_BEFORE)} (old pods)" if name.endswith(_BEFORE) else name


def without_quotas(objects: Iterable[KubernetesObject]) -> list[KubernetesObject]:
    """Return the objects without quotas.

    A rollout never has both versions of all pods, but quotas would count both.
    """
    return [item for item in objects if item.kind != "ResourceQuota"]


def first_moment(
    before: Iterable[KubernetesObject],
    after: Iterable[KubernetesObject],
    workloads: Collection[str],
) -> list[KubernetesObject]:
    """Return the objects at the moment of a rollout at which quotas matter: the old pods that must
    stay available, and one new pod. The result is empty if no quota counts the pods of a moving
    Deployment.

    If a quota rejects the new pod, the rollout never continues. Other kinds delete their old pods
    first. Source: kubernetes/kubernetes:pkg/controller/deployment/rolling.go@v1.37.2.
    """
    after = list(after)
    limited = {item.namespace for item in after if item.kind == "ResourceQuota"}
    staying = {
        workload_of(item): count
        for item in before
        if item.kind == "Deployment"
        and item.namespace in limited
        and workload_of(item) in workloads
        and (count := _available_pods(item))
    }
    if not staying:
        return []
    old = [
        _with_replicas(item, staying[workload_of(item).removesuffix(_BEFORE)])
        for item in old_copies(before, staying)
        if item.kind == "Deployment"
    ]
    new = [
        _with_replicas(item, 1)
        if item.kind == "Deployment" and workload_of(item) in staying
        else item
        for item in after
    ]
    return [*old, *new]


def _available_pods(item: KubernetesObject) -> int:
    """Return how many pods of a Deployment stay available during a rollout."""
    spec = block(item.data, "spec")
    strategy = block(spec, "strategy")
    replicas = number(spec.get("replicas", 1)) or 0
    if strategy.get("type") == "Recreate":
        return 0
    rolling = block(strategy, "rollingUpdate")
    surge = Surge(rolling.get("maxSurge", "25%")).of(replicas)
    unavailable = share_of(rolling.get("maxUnavailable", "25%"), replicas)
    return max(0, replicas - (unavailable if surge or unavailable else 1))


def _with_replicas(item: KubernetesObject, replicas: int) -> KubernetesObject:
    data = plain(item.data)
    return item.with_data({**data, "spec": {**data["spec"], "replicas": replicas}})


def _has_pods(item: KubernetesObject) -> bool:
    return bool(find_pod_parts(item.data, item.group, item.kind))
