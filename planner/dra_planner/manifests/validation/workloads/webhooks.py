"""Rules that the admission webhooks of JobSet and LeaderWorkerSet add to the schemas of their
resources.

Source: kubernetes-sigs/jobset:pkg/webhooks/jobset_webhook.go@v0.12.0 (ValidateCreate,
validateCoordinator), kubernetes-sigs/lws:pkg/webhooks/leaderworkerset_webhook.go@v0.9.0
(generalValidate, validateUpdateSubGroupPolicy). Counts are checked when pods are counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from dra_planner.manifests.objects import KubernetesObject
from dra_planner.manifests.validation.violations import Violation, Violations, invalid

_JOBS: Final = "spec.replicatedJobs"
_EXCLUSIVE: Final = "leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology"


def webhook_faults(item: KubernetesObject) -> Violations:
    """Yield the reasons why the webhook of the object's kind rejects a new object."""
    spec = item.data.get("spec")
    if not isinstance(spec, Mapping):
        return
    match item.group, item.kind:
        case "jobset.x-k8s.io", "JobSet":
            yield from _job_set(spec)
        case "leaderworkerset.x-k8s.io", "LeaderWorkerSet":
            annotations = item.metadata.get("annotations")
            yield from _leader_worker_set(spec, annotations)


def _denied(field: str, text: str, fix: str = "") -> Violation:
    return Violation(field, "Forbidden", text, fix)


def _job_set(spec: Mapping[str, Any]) -> Violations:
    jobs = [each for each in _items(spec.get("replicatedJobs")) if isinstance(each, Mapping)]
    known: list[str] = []
    for index, job in enumerate(jobs):
        known.append(str(job.get("name")))
        depends = _items(job.get("dependsOn"))
        path = f"{_JOBS}[{index}].dependsOn"
        if not index and depends:
            text = "DependsOn can't be set for the first ReplicatedJob"
            yield _denied(path, text, "move this replicated job after the job that it depends on")
            continue
        for at, each in enumerate(depends):
            name = str(each.get("name")) if isinstance(each, Mapping) else ""
            if name not in known:
                text = f"replicatedJob: {known[-1]} cannot depend on replicatedJob: {name}"
                fix = "use a replicated job that comes before this one"
                yield _denied(f"{path}[{at}].name", text, fix)
    policy = spec.get("successPolicy")
    targets = _items(policy.get("targetReplicatedJobs")) if isinstance(policy, Mapping) else ()
    for at, name in enumerate(targets):
        if name not in known:
            text = f"invalid replicatedJob name '{name}' does not appear in .spec.ReplicatedJobs"
            path = f"spec.successPolicy.targetReplicatedJobs[{at}]"
            yield _denied(path, text, f"use one of the replicated jobs: {', '.join(known)}")
    coordinator = spec.get("coordinator")
    if isinstance(coordinator, Mapping) and coordinator.get("replicatedJob") not in known:
        text = f"coordinator replicatedJob {coordinator.get('replicatedJob')} does not exist"
        fix = f"use one of the replicated jobs: {', '.join(known)}"
        yield _denied("spec.coordinator.replicatedJob", text, fix)


def _leader_worker_set(spec: Mapping[str, Any], annotations: Any) -> Violations:
    template = spec.get("leaderWorkerTemplate")
    size = template.get("size", 1) if isinstance(template, Mapping) else 1
    policy = template.get("subGroupPolicy") if isinstance(template, Mapping) else None
    if isinstance(policy, Mapping):
        yield from _sub_groups(
            policy, size, "spec.leaderWorkerTemplate.subGroupPolicy.subGroupSize"
        )
    elif isinstance(annotations, Mapping) and _EXCLUSIVE in annotations:
        detail = "cannot have subgroup-exclusive-topology without subGroupSize set"
        yield invalid(f"metadata.annotations[{_EXCLUSIVE}]", annotations[_EXCLUSIVE], detail)


def _sub_groups(policy: Mapping[str, Any], size: Any, path: str) -> Iterator[Violation]:
    own = policy.get("subGroupSize")
    if not isinstance(own, int) or not isinstance(size, int):
        return
    if own < 1:
        yield invalid(path, own, "subGroupSize must be equal or greater than 1")
        return
    if size % own and (size - 1) % own:
        yield invalid(path, own, "size or size - 1 must be divisible by subGroupSize")
    if size < own:
        yield invalid(path, own, "subGroupSize cannot be larger than size")
    if policy.get("type") == "LeaderExcluded" and (size - 1) % own:
        detail = "size-1 must be divisible by subGroupSize when using LeaderExcluded"
        yield invalid(path, own, detail)


def _items(value: Any) -> Sequence[Any]:
    return value if isinstance(value, Sequence) and not isinstance(value, str) else ()
