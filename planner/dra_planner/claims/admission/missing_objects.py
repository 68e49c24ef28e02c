"""Objects that pods need, and that certainly don't exist in the cluster, so the pods never run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal

from dra_planner.claims.admission.schedulers import TITLES, lacks_other_schedulers, other_scheduler
from dra_planner.claims.missing_claims import near_name
from dra_planner.manifests import NEEDS_DEFAULT_CLASS, STORAGE_CLASS, Manifests
from dra_planner.manifests.completeness import defined_namespaces, is_missing
from dra_planner.model import ObjectKey, PodTemplate, Reason, Workload

REJECTED: Final = "the API server rejects the pods"
PENDING: Final = "the pods stay pending"
EFFECTS: Final = {
    "ServiceAccount": REJECTED,
    "PersistentVolumeClaim": PENDING,
    STORAGE_CLASS: PENDING,
    "ConfigMap": "the containers don't start",
    "Secret": "the containers don't start",
    "ServingRuntime": "KServe doesn't create the pods",
}
"""The effect on pods if an object of their namespace, or the class of their volumes, is missing."""


def missing_class(
    kind: Literal["PriorityClass", "RuntimeClass"], name: str, manifests: Manifests
) -> Reason:
    """Return why the API server rejects pods of a class that certainly doesn't exist."""
    is_priority = kind == "PriorityClass"
    known = manifests.priority_classes if is_priority else manifests.runtime_classes
    code = f"{'priority' if is_priority else 'runtime'}-class-not-found"
    if manifests.is_complete:
        return _not_defined(kind, name, REJECTED, near_name(name, filter(None, known)), code)
    field = "priorityClassName" if is_priority else "runtimeClassName"
    return Reason(
        code=code,
        message=f'{kind} "{name}" doesn\'t exist, so {REJECTED}',
        fix=f'create {kind} "{name}", or correct {field} in the pods',
    )


def refuse_missing(
    workload: Workload, template: PodTemplate, manifests: Manifests
) -> Reason | None:
    """Return why the pods of a template never run without an object that doesn't exist, or None."""
    if workload.ref in manifests.existing:
        return None
    return next(_reasons(workload, template, manifests), None)


def _reasons(workload: Workload, template: PodTemplate, manifests: Manifests) -> Iterator[Reason]:
    namespace = workload.meta.namespace
    if is_missing(manifests, "Namespace", namespace) and namespace not in defined_namespaces(
        manifests
    ):
        yield _not_defined("Namespace", namespace, REJECTED)
    for kind, name in template.needs:
        key = ObjectKey(namespace, name)
        is_given = kind != STORAGE_CLASS and (kind, key) in manifests.declared
        if not is_given and (kind, key) not in manifests.refused:
            yield from _missing_object(kind, key, manifests)
    scheduler = other_scheduler(workload, template.spec)
    if scheduler and lacks_other_schedulers(manifests):
        yield _no_scheduler(scheduler)


def _missing_object(kind: str, key: ObjectKey, manifests: Manifests) -> Iterator[Reason]:
    if not is_missing(manifests, kind, key.name):
        return
    if (kind, key.name) == NEEDS_DEFAULT_CLASS:
        yield Reason(
            code="object-not-defined",
            message="the pods have a volume without storageClassName, and nothing in the manifests "
            f"defines a default StorageClass, so {PENDING}",
            fix="set storageClassName, or add a manifest for a default StorageClass",
        )
        return
    known = [
        each.name
        for declared, each in manifests.declared
        if declared == kind and (kind == STORAGE_CLASS or each.namespace == key.namespace)
    ]
    yield _not_defined(kind, key.name, EFFECTS[kind], near_name(key.name, known))


def _not_defined(
    kind: str, name: str, effect: str, hint: str = "", code: str = "object-not-defined"
) -> Reason:
    return Reason(
        code=code,
        message=f'nothing in the manifests defines {kind} "{name}", so {effect}',
        fix=f'add a manifest for {kind} "{name}"{hint}',
    )


def _no_scheduler(name: str) -> Reason:
    title = TITLES.get(name) or f'"{name}"'
    return Reason(
        code="scheduler-not-defined",
        message=f"nothing in the manifests runs scheduler {title}, so {PENDING}",
        fix="remove schedulerName, or add the manifests of this scheduler",
    )
