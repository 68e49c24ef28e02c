"""Kustomize Components that patch the pods of workloads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from dra_planner.manifests import Manifests, render_pod_spec
from dra_planner.model import (
    Guards,
    PodSet,
    PodSpec,
    PodTemplate,
    Workload,
    WorkloadRef,
    templates_in,
)
from dra_planner.placement import guard_pod

_GUARDS: Final = "pulumi-dra/guards"
_MARK: Final = {"metadata": {"annotations": {_GUARDS: "true"}}}
_OF_OTHER_OBJECTS: Final = frozenset({"TrainJob"})
"""Kinds whose pod template is in another object. A TrainJob's template is in its runtime."""


def guards_component(
    guards: Guards, manifests: Manifests
) -> tuple[dict[str, Any] | None, tuple[WorkloadRef, ...]]:
    """Return a Component that applies guards to pods, and the workloads that it can't change.

    A patch can't change pods whose template a controller generates. None if there is nothing to
    patch.
    """
    patches: list[dict[str, Any]] = []
    left: list[WorkloadRef] = []
    for workload in manifests.workloads:
        for pods in workload.pod_sets:
            rule = guards.rule_of(
                workload.ref, pods.name, templates_in(workload.ref.namespace, pods.template.spec)
            )
            if rule is None:
                continue
            before = pods.template.spec
            values = _changed(before, guard_pod(before, rule, packs=guards.packs))
            path = spec_path(workload, pods)
            if values and path is None:
                left.append(workload.ref)
            elif values:
                operations = [
                    *_labelled(path, pods.template, rule.labels),
                    *(
                        {"op": "add", "path": f"{path}/{key}", "value": value}
                        for key, value in values.items()
                    ),
                ]
                patches.append({"target": patch_target(workload), "patch": operations})
    made = {**component(patches), **_MARK} if patches else None
    return made, tuple(dict.fromkeys(left))


def is_guards_component(data: Mapping[str, Any]) -> bool:
    """Return whether a kustomization is a guards Component, whose changes a plan with guards
    already includes.
    """
    marks = data.get("metadata")
    annotations = marks.get("annotations") if isinstance(marks, Mapping) else None
    return isinstance(annotations, Mapping) and annotations.get(_GUARDS) == "true"


def component(patches: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return a kustomize Component with these patches."""
    return {
        "apiVersion": "kustomize.config.k8s.io/v1alpha1",
        "kind": "Component",
        "patches": list(patches),
    }


def _changed(before: PodSpec, after: PodSpec) -> dict[str, Any]:
    """Return the fields of the pod that guards change, with their new values."""
    old, new = render_pod_spec(before), render_pod_spec(after)
    return {key: value for key, value in new.items() if value != old.get(key)}


def _labelled(
    path: str | None, template: PodTemplate, labels: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    """Yield the operation that adds labels to the pods of a template with its spec at `path`."""
    if not labels or path is None:
        return
    above = path.removesuffix("/spec")
    whole = {**template.labels, **labels}
    if isinstance(template.written.get("metadata"), Mapping) or not above:
        yield {"op": "add", "path": f"{above}/metadata/labels", "value": whole}
    else:
        yield {"op": "add", "path": f"{above}/metadata", "value": {"labels": whole}}


def patch_target(workload: Workload) -> dict[str, str]:
    """Return the target of a patch of a workload."""
    group, _, version = workload.api_version.rpartition("/")
    ref = workload.ref
    target = {
        "group": group,
        "version": version,
        "kind": ref.kind,
        "namespace": ref.namespace,
        "name": ref.name,
    }
    return {key: value for key, value in target.items() if value}


def spec_path(workload: Workload, pods: PodSet) -> str | None:
    """Return the JSON pointer of the spec in the pod template, or None if the manifest contains no
    template.
    """
    template = pods.template
    if workload.kind == "Pod":
        return "/spec"
    if (
        workload.kind in _OF_OTHER_OBJECTS
        or not template.written
        or not template.place.path.lower().endswith("template")
    ):
        return None
    return f"/{template.place.path.replace('[', '.').replace(']', '').replace('.', '/')}/spec"
