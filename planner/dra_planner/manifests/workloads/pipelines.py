"""Pipelines: the number of their steps that run at the same time.

Source: argoproj/argo-workflows:pkg/apis/workflow/v1alpha1@v3.7 and v4.1,
tektoncd/pipeline:pkg/apis/pipeline/v1@v1.3.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.documents.json_reader import read_json
from dra_planner.documents.yaml_reader import Fault, read_yaml
from dra_planner.manifests.objects import KubernetesObject
from dra_planner.manifests.workloads.kind_description import ObjectPart, Reading
from dra_planner.model import Figures, PodSet

_POD_FIELDS: Final = (
    "nodeSelector",
    "tolerations",
    "affinity",
    "schedulerName",
    "priorityClassName",
    "resourceClaims",  # since v4.1, the fields of a template replace the workflow's fields
)
_RUNS: Final = ("container", "script", "containerSet", "resource")
"""Fields of a template that creates pods."""
_CREATING: Final = ("create", "apply", "replace")
_OF_PODS: Final = re.compile(r"\b(?:containers|template|replicas|resourceClaims)\b|\.com/")
"""Fields of an object that might create pods."""
_PARAMETER: Final = re.compile(r"\{\{\s*([\w.-]+)\s*\}\}")
_DEEPEST: Final = 100


def read_workflow(reading: Reading) -> list[PodSet]:
    """Read a Workflow: every template that creates pods, as often as the entry point reaches it,
    but at most `parallelism` at a time.
    """
    spec = _workflow_spec(reading)
    if spec is None:
        return []
    run = _Run(reading, {"": dict(spec.at("templates").members())})
    uses = run.count_uses(("", str(spec.get("entrypoint", ""))), _DEEPEST)
    nodes = [node for templates in run.scopes.values() for node in templates.values()]
    limit = spec.get("parallelism")
    if any(node.get("dag") for node in nodes):
        reading.assume("the plan counts all tasks of a graph as if they ran at the same time")
    if any(node.get("steps") for node in nodes) and len(uses) > 1:
        reading.assume("the plan counts successive steps as if they ran at the same time")
    arguments = dict(_arguments(spec))
    sets = []
    for (scope, name), count in uses.items():
        node = run.scopes[scope][name]
        most = count if limit is None else min(count, spec.number("parallelism", count))
        own = node.get("parallelism")
        most = most if own is None else min(most, node.number("parallelism", most))
        figures = Figures(0, 0 if reading.suspended else most, most, most)
        title = f"{scope}/{name}" if scope else name
        if node.get("resource") is not None:
            resource = ObjectPart(_filled(node.get("resource"), arguments), node.place)
            sets += _created_pods(reading, title, resource, figures)
            continue
        pod = ObjectPart(_filled(_pod(spec, node), arguments), node.place)
        sets += reading.pod_set(title, pod, figures, inline=True)
    return sets


def _arguments(spec: ObjectPart) -> Iterator[tuple[str, str]]:
    for name, parameter in spec.at("arguments.parameters").members():
        if (value := parameter.get("value")) is not None:
            yield f"workflow.parameters.{name}", str(value)


def _filled(data: Any, arguments: Mapping[str, str]) -> Any:
    """Return data in which the arguments of a Workflow replace its parameters."""
    if isinstance(data, str):
        return _PARAMETER.sub(lambda found: arguments.get(found[1], found[0]), data)
    if isinstance(data, Mapping):
        return {key: _filled(value, arguments) for key, value in data.items()}
    return [_filled(each, arguments) for each in data] if isinstance(data, list) else data


def _workflow_spec(reading: Reading) -> ObjectPart | None:
    """Return the spec of a Workflow, with the fields of the template that it refers to, or None if
    this template is unknown.
    """
    path = "spec.workflowSpec" if reading.object.kind == "CronWorkflow" else "spec"
    spec = reading.root.at(path)
    reference = spec.at("workflowTemplateRef")
    if not isinstance(reference.data, Mapping):
        return spec
    found = _referenced(reading, reference)
    return None if found is None else ObjectPart({**found.data, **spec.data}, found.place)


def _referenced(reading: Reading, reference: ObjectPart) -> ObjectPart | None:
    """Return the spec of the WorkflowTemplate in a reference. If it isn't in the manifests, report
    its pods as unknown.
    """
    scope = "Cluster" if reference.get("clusterScope") is True else ""
    kind, name = f"{scope}WorkflowTemplate", str(reference.get("name", ""))
    found = reading.lookup(kind, name)
    spec = None if found is None else ObjectPart(found.data, found.place).at("spec")
    if spec is not None and isinstance(spec.data, Mapping):
        return spec
    reason = f"{kind} {name} isn't in the manifests"
    if all(each.reason != reason for each in reading.unknown):
        reading.unresolved(reason, Figures.fixed(1))
    return None


class _Run(Struct):
    """The templates that a run of a Workflow reaches, by scope: "" for the Workflow's own, or the
    name of a WorkflowTemplate.
    """

    reading: Reading
    scopes: dict[str, dict[str, ObjectPart]]
    known: dict[tuple[str, str], dict[tuple[str, str], int]] = {}

    def count_uses(self, key: tuple[str, str], room: int) -> dict[tuple[str, str], int]:
        """Return the number of pods of each template that one run of the named template creates at
        the same time. The runs of a recursive template follow each other, so it's counted once.
        """
        scope, name = key
        node = self.scopes.get(scope, {}).get(name)
        if node is None or not room:
            return {}
        if key in self.known:
            return self.known[key]
        self.known[key] = {}
        most: dict[tuple[str, str], int] = {}
        for group in _groups(node):
            together: dict[tuple[str, str], int] = {}
            for step in group:
                times = _items(self.reading, step)
                for leaf, count in self.count_uses(self._target(scope, step), room - 1).items():
                    together[leaf] = together.get(leaf, 0) + times * count
            for leaf, count in together.items():
                most[leaf] = max(most.get(leaf, 0), count)
        if any(node.get(field) is not None for field in _RUNS):
            most[key] = most.get(key, 0) + 1
        self.known[key] = most
        return most

    def _target(self, scope: str, step: ObjectPart) -> tuple[str, str]:
        """Return the template of a step."""
        inline, reference = step.at("inline"), step.at("templateRef")
        if isinstance(inline.data, Mapping):
            name = f"{step.get('name', '')} (inline)"
            self.scopes.setdefault(scope, {})[name] = inline
            return scope, name
        if not isinstance(reference.data, Mapping):
            return scope, str(step.get("template", ""))
        other = str(reference.get("name", ""))
        if other not in self.scopes:
            found = _referenced(self.reading, reference)
            self.scopes[other] = {} if found is None else dict(found.at("templates").members())
        return other, str(reference.get("template", ""))


def _created_pods(
    reading: Reading, name: str, resource: ObjectPart, figures: Figures
) -> list[PodSet]:
    """Return the pods of the object that a step creates. If its manifest is known only at run time,
    report its pods as unknown.
    """
    text = resource.get("manifest")
    if resource.get("action") not in _CREATING:
        return []
    is_text = isinstance(text, str)
    if is_text and "{{" not in text:
        data = _data(text)
        kind = str(data.get("kind", ""))
        inner = KubernetesObject(str(data.get("apiVersion", "")), kind, data, resource.place)
        return [
            replace(
                each,
                name=f"{name}-{each.name}" if each.name else name,
                figures=_multiplied(each.figures, figures),
            )
            for each in reading.nested(inner)
        ]
    if not is_text or _OF_PODS.search(text):
        reason = f'template "{name}" creates an object whose manifest is known only at run time'
        reading.unresolved(reason, figures)
    return []


def _multiplied(pods: Figures, runs: Figures) -> Figures:
    return Figures(*((a or 0) * (b or 0) for a, b in zip(pods, runs, strict=True)))


def _groups(node: ObjectPart) -> Iterator[list[ObjectPart]]:
    """Yield the steps that can run at the same time: the steps of a group, or all tasks
    of a graph.
    """
    yield [task for _, task in node.at("dag.tasks").members()]
    for _, group in node.at("steps").members():
        yield [step for _, step in group.members()] if isinstance(group.data, list) else [group]


def _items(reading: Reading, step: ObjectPart) -> int:
    """Return the number of instances of one step."""
    items = step.get("withItems")
    if isinstance(items, list):
        return max(len(items), 1)
    if step.get("withSequence") is not None:
        if step.get("withSequence.count") is not None:
            return max(step.number("withSequence.count", 1), 1)
        return abs(step.number("withSequence.end", 0) - step.number("withSequence.start", 0)) + 1
    if step.get("withParam") is not None:
        reading.assume("withParam is known only at run time, so the plan counts its template once")
    return 1


def _pod(spec: ObjectPart, node: ObjectPart) -> dict[str, Any]:
    pod: dict[str, Any] = {}
    for part in (spec, node):
        pod |= {field: part.get(field) for field in _POD_FIELDS if part.get(field) is not None}
    together = node.get("containerSet.containers")
    if not isinstance(together, list):
        container = dict(node.get("container") or node.get("script") or {})
        container.setdefault("name", "main")
        together = [container]
    sidecars = node.get("sidecars")
    pod["containers"] = [*together, *(sidecars if isinstance(sidecars, list) else ())]
    for part in (spec, node):
        pod = _patched(pod, _patch(part.get("podSpecPatch")))
    return pod


def _patch(text: Any) -> Mapping[str, Any]:
    return _data(text) if isinstance(text, str) and "{{" not in text else {}


def _data(text: str) -> Mapping[str, Any]:
    """Return the mapping in a text, or an empty one if it isn't YAML or JSON."""
    try:
        data, _ = (read_json if text.lstrip().startswith("{") else read_yaml)(text)
    except Fault:
        return {}
    return data if isinstance(data, Mapping) else {}


def _patched(pod: dict[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """Return a pod merged with a patch. Containers are merged by name."""
    merged = {**pod, **{key: value for key, value in patch.items() if key != "containers"}}
    changes = {str((item or {}).get("name")): item for item in patch.get("containers") or ()}
    merged["containers"] = [
        {**item, **changes.get(str(item.get("name")), {})} for item in pod["containers"]
    ]
    return merged


def read_task_run(reading: Reading) -> list[PodSet]:
    """Read a TaskRun: one pod with its steps as containers. A referenced task must be in the
    manifests.
    """
    root = reading.root
    spec = _task(reading, root.at("spec.taskSpec"), root.at("spec.taskRef"), reading.figures(1))
    pod = root.get("spec.podTemplate", root.get("spec.taskRunTemplate.podTemplate", {}))
    return (
        reading.pod_set("", _steps_pod(spec, pod), reading.figures(1), inline=True)
        if spec is not None
        else []
    )


def read_pipeline_run(reading: Reading) -> list[PodSet]:
    """Read a PipelineRun: one pod per task and combination of its matrix. Tasks that depend on each
    other count as parallel.
    """
    root = reading.root
    pipeline = root.at("spec.pipelineSpec")
    if pipeline.data is None:
        found = reading.lookup("Pipeline", str(root.get("spec.pipelineRef.name", "")))
        if found is None:
            reading.unresolved("its pipeline isn't in the manifests", reading.figures(1))
            return []
        pipeline = ObjectPart(found.data, found.place).at("spec")
    pod = root.get("spec.taskRunTemplate.podTemplate", root.get("spec.podTemplate", {}))
    sets = []
    for name, task in (*pipeline.at("tasks").members(), *pipeline.at("finally").members()):
        count = 1
        for _, parameter in task.at("matrix.params").members():
            values = parameter.get("value")
            count *= len(values) if isinstance(values, list) and values else 1
        figures = reading.figures(count)
        spec = _task(reading, task.at("taskSpec"), task.at("taskRef"), figures)
        if spec is not None:
            sets += reading.pod_set(name, _steps_pod(spec, pod), figures, inline=True)
    if len(sets) > 1:
        reading.assume("the plan counts dependent tasks as if they all ran at the same time")
    return sets


def _task(
    reading: Reading, inline: ObjectPart, reference: ObjectPart, figures: Figures
) -> ObjectPart | None:
    if isinstance(inline.data, Mapping):
        return inline
    found = reading.lookup(
        "Task", str(reference.get("name", "")) if reference.data is not None else ""
    )
    if found is None:
        reading.unresolved("one of its tasks isn't in the manifests", figures)
        return None
    return ObjectPart(found.data, found.place).at("spec")


def _steps_pod(spec: ObjectPart, pod: Any) -> ObjectPart:
    containers = [
        {"name": name, "resources": step.get("computeResources", step.get("resources", {}))}
        for name, step in spec.at("steps").members()
    ]
    data = {
        **(pod if isinstance(pod, Mapping) else {}),
        "containers": containers or [{"name": "step"}],
    }
    return ObjectPart(data, spec.place)
