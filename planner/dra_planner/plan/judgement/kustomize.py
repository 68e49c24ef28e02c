"""Components of kustomize that patch the pods of workloads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dra_planner.manifests import Manifests, render_pod_spec
from dra_planner.model import Guards, PodSet, PodSpec, Workload, WorkloadRef, templates_in
from dra_planner.placement import guard_pod


def guards_component(guards: Guards, manifests: Manifests) -> tuple[dict[str, Any] | None, tuple[WorkloadRef, ...]]:
    """Return a Component that changes pods as the guards do, and workloads of the guards that it can't change.

    A patch can't change pods whose template is made up by a controller. None if there is nothing to patch.
    """
    patches: list[dict[str, Any]] = []
    left: list[WorkloadRef] = []
    for workload in manifests.workloads:
        for pods in workload.pod_sets:
            rule = guards.rule_of(workload.ref, pods.name, templates_in(workload.ref.namespace, pods.template.spec))
            if rule is None:
                continue
            path = spec_path(workload, pods)
            if path is None:
                left.append(workload.ref)
                continue
            before = pods.template.spec
            operations = list(_operations(path, before, guard_pod(before, rule.pool, packs=guards.packs)))
            patches.append({"target": patch_target(workload), "patch": operations})
    return (component(patches) if patches else None), tuple(dict.fromkeys(left))


def component(patches: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return a Component with these patches."""
    return {"apiVersion": "kustomize.config.k8s.io/v1alpha1", "kind": "Component", "patches": list(patches)}


def _operations(path: str, before: PodSpec, after: PodSpec) -> Iterator[dict[str, Any]]:
    """Yield an operation for each field of the pod that guards change."""
    old, new = render_pod_spec(before), render_pod_spec(after)
    for key in new:
        if new[key] != old.get(key):
            yield {"op": "add", "path": f"{path}/{key}", "value": new[key]}


def patch_target(workload: Workload) -> dict[str, str]:
    """Return the target of a patch of a workload."""
    group, _, version = workload.api_version.rpartition("/")
    ref = workload.ref
    target = {"group": group, "version": version, "kind": ref.kind, "namespace": ref.namespace, "name": ref.name}
    return {key: value for key, value in target.items() if value}


def spec_path(workload: Workload, pods: PodSet) -> str | None:
    """Return where the pod's spec stands, as a JSON pointer; None where a controller makes it up."""
    path = pods.template.place.path
    if workload.kind == "Pod":
        return "/spec"
    if not path.endswith("template"):
        return None
    return f"/{path.replace('[', '.').replace(']', '').replace('.', '/')}/spec"
