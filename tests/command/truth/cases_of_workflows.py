"""Argo Workflows: every pod that a run can create is counted, or the verdict is *cannot tell*."""

from __future__ import annotations

import json
from typing import Any

from truth_cases import Case
from truth_objects import TOLERATION, Object, api

ARGO = "argoproj.io/v1alpha1"


def container(gpus: int = 1) -> Object:
    return {"name": "main", "image": "app:1", "resources": {"limits": {"nvidia.com/gpu": gpus}}}


def step(name: str, **fields: Any) -> Object:
    return {"name": name, "tolerations": [TOLERATION], **fields}


def workflow(*templates: Object, **spec: Any) -> Object:
    return api(ARGO, "Workflow", "run", {"entrypoint": "main", "templates": [*templates], **spec})


def main(*tasks: Object) -> Object:
    """The entry point, which runs these tasks at the same time."""
    return {"name": "main", "steps": [[*tasks]]}


def shared(*templates: Object, kind: str = "WorkflowTemplate", **spec: Any) -> Object:
    """Templates that Workflows refer to."""
    namespace = "ml" if kind == "WorkflowTemplate" else ""
    return api(ARGO, kind, "shared", {"templates": [*templates], **spec}, namespace=namespace)


def created(job: str, action: str = "create", **fields: Any) -> Object:
    """A step that creates an object."""
    return {"name": "train", "resource": {"action": action, "manifest": job, **fields}}


def job(gpus: int, name: str = "train") -> str:
    pod = {"containers": [container(gpus)], "tolerations": [TOLERATION], "restartPolicy": "Never"}
    spec = {"parallelism": 2, "completions": 2, "template": {"spec": pod}}
    return json.dumps(api("batch/v1", "Job", name, spec))


CPU_STEP = {"name": "load", "container": {"image": "app:1"}}
LOAD = {"name": "a", "template": "load"}
TRAIN = {"name": "b", "template": "train"}
OF_SHARED = {"name": "b", "templateRef": {"name": "shared", "template": "train"}}
CLUSTER = {"name": "shared", "template": "train", "clusterScope": True}

WORKFLOWS = (
    Case(
        name="a step of a Workflow with one GPU",
        given=[workflow(main(LOAD, TRAIN), CPU_STEP, step("train", container=container()))],
        verdict="fits",
    ),
    Case(
        name="a step of a Workflow with more GPUs than a node",
        given=[workflow(main(LOAD, TRAIN), CPU_STEP, step("train", container=container(2)))],
        verdict="does-not-fit",
        texts=("Workflow ml/run",),
    ),
    Case(
        name="a step of a Workflow that creates a Job with GPUs",
        given=[workflow(main(LOAD, TRAIN), CPU_STEP, created(job(1)))],
        verdict="fits",
    ),
    Case(
        name="a step of a Workflow that creates a Job with more GPUs than a node",
        given=[workflow(main(LOAD, TRAIN), CPU_STEP, created(job(2)))],
        verdict="does-not-fit",
        texts=("Workflow ml/run",),
    ),
    Case(
        name="a step of a Workflow that only waits for a Job",
        given=[workflow(main(LOAD, TRAIN), CPU_STEP, created(job(2), "get"))],
        verdict="fits",
    ),
    Case(
        name="a step of a Workflow that creates a ConfigMap",
        given=[
            workflow(
                main(LOAD, TRAIN),
                CPU_STEP,
                created("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: '{{workflow.name}}'}"),
            )
        ],
        verdict="fits",
    ),
    Case(
        name="a step of a Workflow that creates a Job with parameters",
        given=[workflow(main(LOAD, TRAIN), CPU_STEP, created(job(1, "{{workflow.name}}")))],
        verdict="cannot-tell",
        texts=('template "train" creates',),
    ),
    Case(
        name="a step of a Workflow that creates an object from an artifact",
        given=[
            workflow(
                main(LOAD, TRAIN),
                CPU_STEP,
                {"name": "train", "resource": {"action": "create", "manifestFrom": {}}},
            )
        ],
        verdict="cannot-tell",
        texts=('template "train" creates',),
    ),
    Case(
        name="a step of a Workflow whose nodes are a parameter",
        given=[
            workflow(
                main(LOAD, TRAIN),
                CPU_STEP,
                step("train", container=container(), nodeSelector={"pool": "{{inputs.pool}}"}),
            )
        ],
        verdict="cannot-tell",
        texts=(
            "contains {{inputs.pool}}, which is known only at run time",
            "write fixed values instead of {{inputs.pool}}",
        ),
    ),
    *(
        Case(
            name=f"a step of a Workflow whose pool is an argument: {pool}",
            given=[
                workflow(
                    main(LOAD, TRAIN),
                    CPU_STEP,
                    step(
                        "train",
                        container=container(),
                        nodeSelector={"pulumi-dra/pool": "{{workflow.parameters.pool}}"},
                    ),
                    arguments={"parameters": [{"name": "pool", "value": pool}]},
                )
            ],
            verdict="fits" if pool == "l4" else "does-not-fit",
        )
        for pool in ("l4", "a100")
    ),
    Case(
        name="a step of a Workflow whose command has parameters",
        given=[
            workflow(
                main(LOAD, TRAIN),
                CPU_STEP,
                step("train", container={**container(), "args": ["{{inputs.pool}}"]}),
            )
        ],
        verdict="fits",
    ),
    Case(
        name="a step of a WorkflowTemplate that isn't given",
        given=[workflow(main(LOAD, OF_SHARED), CPU_STEP)],
        verdict="cannot-tell",
        texts=("WorkflowTemplate shared isn't in the manifests",),
    ),
    Case(
        name="a step of a WorkflowTemplate with more GPUs than a node",
        given=[
            workflow(main(LOAD, OF_SHARED), CPU_STEP),
            shared(step("train", container=container(2))),
        ],
        verdict="does-not-fit",
        texts=("Workflow ml/run",),
    ),
    Case(
        name="steps of a WorkflowTemplate that refer to each other",
        given=[
            workflow(main(LOAD, OF_SHARED), CPU_STEP),
            shared(
                {"name": "train", "steps": [[{"name": "c", "template": "inner"}]]},
                step("inner", container=container(2)),
            ),
        ],
        verdict="does-not-fit",
        texts=("Workflow ml/run",),
    ),
    Case(
        name="a step of a ClusterWorkflowTemplate",
        given=[
            workflow(main(LOAD, {"name": "b", "templateRef": CLUSTER}), CPU_STEP),
            shared(step("train", container=container()), kind="ClusterWorkflowTemplate"),
        ],
        verdict="fits",
    ),
    Case(
        name="a Workflow from a WorkflowTemplate with more GPUs than a node",
        given=[
            api(ARGO, "Workflow", "run", {"workflowTemplateRef": {"name": "shared"}}),
            shared(main(TRAIN), step("train", container=container(2)), entrypoint="main"),
        ],
        verdict="does-not-fit",
        texts=("Workflow ml/run",),
    ),
    Case(
        name="a Workflow from a WorkflowTemplate that isn't given",
        given=[api(ARGO, "Workflow", "run", {"workflowTemplateRef": {"name": "shared"}})],
        verdict="cannot-tell",
        texts=("WorkflowTemplate shared isn't in the manifests",),
    ),
    Case(
        name="a step of a Workflow with its own template",
        given=[
            workflow(
                main(LOAD, {"name": "b", "inline": step("", container=container(2))}), CPU_STEP
            )
        ],
        verdict="does-not-fit",
        texts=("Workflow ml/run",),
    ),
    Case(
        name="a step of a Workflow with a set of containers",
        given=[
            workflow(
                main(LOAD, TRAIN),
                CPU_STEP,
                step(
                    "train",
                    containerSet={"containers": [container(), {**container(), "name": "other"}]},
                ),
            )
        ],
        verdict="does-not-fit",
        texts=("Workflow ml/run",),
    ),
    Case(
        name="a step of a Workflow with a GPU in a sidecar",
        given=[
            workflow(
                main(LOAD, TRAIN),
                CPU_STEP,
                step("train", container={"image": "app:1"}, sidecars=[container(2)]),
            )
        ],
        verdict="does-not-fit",
        texts=("Workflow ml/run",),
    ),
)
