"""Pipelines: the number of their steps that run at the same time.

Source: argoproj/argo-workflows:pkg/apis/workflow/v1alpha1@v3.7 and v4.1,
tektoncd/pipeline:pkg/apis/pipeline/v1@v1.3.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from dra_planner.documents.json_reader import read_json
from dra_planner.documents.yaml_reader import Fault, read_yaml
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
_DEEPEST: Final = 100


def read_workflow(reading: Reading) -> list[PodSet]:
    """Read a Workflow: every template that runs a container, as often as the entry point reaches
    it, but at most `parallelism` at a time.
    """
    root = reading.root
    spec = (
        root.at("spec.workflowSpec") if reading.object.kind == "CronWorkflow" else root.at("spec")
    )
    templates = dict(spec.at("templates").members())
    uses = _count_uses(reading, templates, str(spec.get("entrypoint", "")), {}, _DEEPEST)
    limit = spec.get("parallelism")
    if any(node.get("dag") for node in templates.values()):
        reading.assume("the plan counts all tasks of a graph as if they ran at the same time")
    if any(node.get("steps") for node in templates.values()) and len(uses) > 1:
        reading.assume("the plan counts successive steps as if they ran at the same time")
    sets = []
    for name, count in uses.items():
        node = templates[name]
        most = count if limit is None else min(count, spec.number("parallelism", count))
        own = node.get("parallelism")
        most = most if own is None else min(most, node.number("parallelism", most))
        figures = Figures(0, 0 if reading.suspended else most, most, most)
        sets += reading.pod_set(
            name, ObjectPart(_pod(spec, node), node.place), figures, inline=True
        )
    return sets


def _count_uses(
    reading: Reading,
    templates: Mapping[str, ObjectPart],
    name: str,
    known: dict[str, dict[str, int]],
    room: int,
) -> dict[str, int]:
    """Return the number of pods of each template that one run of the named template creates at the
    same time. The runs of a recursive template follow each other, so it's counted once.
    """
    node = templates.get(name)
    if node is None or not room:
        return {}
    if name in known:
        return known[name]
    known[name] = {}
    most: dict[str, int] = {}
    for group in _groups(node):
        together: dict[str, int] = {}
        for step in group:
            inner = _count_uses(reading, templates, str(step.get("template", "")), known, room - 1)
            times = _items(reading, step)
            for leaf, count in inner.items():
                together[leaf] = together.get(leaf, 0) + times * count
        for leaf, count in together.items():
            most[leaf] = max(most.get(leaf, 0), count)
    if node.get("container") is not None or node.get("script") is not None:
        most[name] = most.get(name, 0) + 1
    known[name] = most
    return most


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
    container = dict(node.get("container") or node.get("script") or {})
    container.setdefault("name", "main")
    pod["containers"] = [container]
    for part in (spec, node):
        pod = _patched(pod, _patch(part.get("podSpecPatch")))
    return pod


def _patch(text: Any) -> Mapping[str, Any]:
    if not isinstance(text, str) or "{{" in text:
        return {}
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
