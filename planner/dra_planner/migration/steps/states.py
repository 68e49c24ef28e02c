"""The manifests of a migration at each step, as objects: which workloads have moved, and which have
not.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Final

from dra_planner.documents.plain_values import plain
from dra_planner.drivers.protocol.device_plugin import PluginFacts
from dra_planner.manifests.documents import read_documents
from dra_planner.manifests.objects import KubernetesObject, read_objects
from dra_planner.migration.migrate import migrate
from dra_planner.migration.outcome import Migration, Result
from dra_planner.migration.target import Target
from dra_planner.migration.templates import find_pod_parts
from dra_planner.sources import Source

_BATCH: Final = ("Job", "CronJob", "JobSet", "Workflow", "CronWorkflow", "TrainJob")
_DOUBLES: Final = ("RayService",)
"""Kinds whose controllers start a second copy of everything for an update."""


def movable_workloads(found: Migration) -> tuple[str, ...]:
    """Return the workloads that are rewritten, as `Target.keep` names them, in the order in which
    they move.

    Batch workloads move first, because their pods end by themselves, and workloads that double in
    an update last.
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


def in_groups(names: Sequence[str], most: int) -> list[tuple[str, ...]]:
    """Return the names in at most `most` groups, in order; one name each if there are no more."""
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
    """Return all manifests when only `moved` of the movable workloads request claims."""
    keep = target.keep | (frozenset(movable) - frozenset(moved))
    return migrate(sources, replace(target, keep=keep), facts)


def sources_of(found: Migration) -> tuple[Source, ...]:
    """Return the files of a migration as they are afterwards."""
    return tuple(Source(each.source.name, each.text) for each in found.files)


def objects_of(sources: Iterable[Source]) -> list[KubernetesObject]:
    """Return the objects of sources; documents that can't be read are left out."""
    documents, _ = read_documents(sources)
    return list(read_objects(documents))


def as_source(objects: Iterable[KubernetesObject], name: str) -> Source:
    """Return objects as one source of JSON documents."""
    return Source(name, "---\n".join(f"{json.dumps(plain(item.data))}\n" for item in objects))


def workload_of(item: KubernetesObject) -> str:
    """Return an object's name as `Target.keep` has it."""
    return f"{item.namespace}/{item.name}"


def without(
    objects: Iterable[KubernetesObject], workloads: Collection[str]
) -> list[KubernetesObject]:
    """Return objects without these workloads; other kinds of the same name stay."""
    return [item for item in objects if workload_of(item) not in workloads or not _has_pods(item)]


def old_copies(
    objects: Iterable[KubernetesObject], workloads: Collection[str]
) -> list[KubernetesObject]:
    """Return these workloads under other names, so that they can be planned beside their
    successors.
    """
    copies = []
    for item in objects:
        if workload_of(item) in workloads and _has_pods(item):
            metadata = {**plain(item.metadata), "name": f"{item.name}-before"}
            copies.append(item.with_data({**plain(item.data), "metadata": metadata}))
    return copies


def without_quotas(objects: Iterable[KubernetesObject]) -> list[KubernetesObject]:
    """Return objects without quotas: a rollout never has both versions of all pods, and quotas
    would count them.
    """
    return [item for item in objects if item.kind != "ResourceQuota"]


def _has_pods(item: KubernetesObject) -> bool:
    return bool(find_pod_parts(item.data, item.group, item.kind))
