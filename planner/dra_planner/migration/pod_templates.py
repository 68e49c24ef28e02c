"""The places of pod templates in an object, and the place for a claim in each template.

Most kinds contain whole pod specs, which are found by their `containers`. Other kinds have custom
fields, or no field for claims. Sources: kubernetes/kubernetes,
ray-project/kuberay:ray-operator/controllers/ray/utils/resources.go@feeaf72,
argoproj/argo-workflows:.features/released/v4.1.0,
knative/serving:pkg/apis/serving/fieldmask.go@98e5ef9, kserve/kserve (PR 5828),
NVIDIA/k8s-nim-operator:api/apps/v1alpha1/dra_types.go@f63f74d.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from dra_planner.documents.plain_values import block, blocks, indexed_blocks, labels
from dra_planner.manifests.objects import KubernetesObject
from dra_planner.migration.editor import Path

_NO_CLAIMS: Final[Mapping[tuple[str, str], str]] = {
    ("serving.knative.dev", "Service"): "Knative's webhook rejects resourceClaims in pod templates",
    (
        "serving.knative.dev",
        "Configuration",
    ): "Knative's webhook rejects resourceClaims in pod templates",
    (
        "serving.knative.dev",
        "Revision",
    ): "Knative's webhook rejects resourceClaims in pod templates",
    ("tekton.dev", "Task"): "Tekton's pod template doesn't support resourceClaims",
    ("tekton.dev", "TaskRun"): "Tekton's pod template doesn't support resourceClaims",
    ("tekton.dev", "PipelineRun"): "Tekton's pod template doesn't support resourceClaims",
    (
        "trainer.kubeflow.org",
        "TrainJob",
    ): "its runtime creates the pods, so the runtime's template must request the claim",
    (
        "sparkoperator.k8s.io",
        "SparkApplication",
    ): "the Spark operator doesn't have a field for resourceClaims",
    (
        "kubevirt.io",
        "VirtualMachine",
    ): "its GPUs are passed-through GPUs or vGPUs, which still need the sandbox device plugin",
    (
        "kubevirt.io",
        "VirtualMachineInstance",
    ): "its GPUs are passed-through GPUs or vGPUs, which still need the sandbox device plugin",
}
_NOTES: Final[Mapping[tuple[str, str], str]] = {
    ("argoproj.io", "Workflow"): "needs Argo Workflows 4.1.0 or later (in earlier versions, "
    "use podSpecPatch)",
    (
        "argoproj.io",
        "CronWorkflow",
    ): "needs Argo Workflows 4.1.0 or later (in earlier versions, use podSpecPatch)",
    (
        "argoproj.io",
        "WorkflowTemplate",
    ): "needs Argo Workflows 4.1.0 or later (in earlier versions, use podSpecPatch)",
    (
        "argoproj.io",
        "ClusterWorkflowTemplate",
    ): "needs Argo Workflows 4.1.0 or later (in earlier versions, use podSpecPatch)",
    ("apps.nvidia.com", "NIMService"): "needs a NIM Operator version with spec.draResources",
    (
        "serving.kserve.io",
        "ServingRuntime",
    ): "needs a KServe version with resourceClaims in runtimes, after 0.20.0",
    (
        "serving.kserve.io",
        "ClusterServingRuntime",
    ): "needs a KServe version with resourceClaims in runtimes, after 0.20.0",
    (
        "serving.kserve.io",
        "InferenceService",
    ): "works only in KServe's Standard mode, not in its Knative mode",
}
_ARGO: Final = frozenset(
    {"Workflow", "CronWorkflow", "WorkflowTemplate", "ClusterWorkflowTemplate"}
)
_KSERVE_MODELS: Final = (
    "model", "sklearn", "xgboost", "tensorflow", "pytorch", "triton", "onnx", "huggingface", "pmml",
    "lightgbm", "paddle", "art",
)  # fmt: skip
"""Fields that describe a model, whose container is kserve-container.

Source: kserve/kserve:pkg/apis/serving/v1beta1/{predictor,explainer}.go.
"""
_KSERVE_MODE: Final = "serving.kserve.io/deploymentMode"
_ON_KNATIVE: Final = ("Serverless", "Knative")
_ROLE_KEYS: Final = ("leaderTemplate", "workerTemplate", "worker", "prefill")
"""Fields of LeaderWorkerSet and LLMInferenceService that don't contain all pods of the object."""
_ROLE_NAMES: Final = ("name", "groupName")


POD_CLAIMS: Final = "resourceClaims"


class PodPart(Struct, frozen=True, kw_only=True):
    """A pod template: the path of the part that contains fields of a pod spec, and the paths of its
    containers.

    `spec` is that part as a pod spec, with `containers` and `initContainers`. `role` names the
    template if the object has several.
    """

    path: Path
    spec: Mapping[str, Any]
    containers: Mapping[str, Path]
    role: str = ""
    # the place for claims; the controller might distinguish containers
    claims_field: str = POD_CLAIMS


def no_claims_reason(item: KubernetesObject) -> str:
    """Return why pods of an object can't request claims, or "" if they can."""
    annotations = labels(item.metadata.get("annotations"))
    if item.group == "serving.kserve.io" and annotations.get(_KSERVE_MODE) in _ON_KNATIVE:
        return "in this mode, KServe creates a Knative service, and Knative's webhook rejects "
        "resourceClaims"
    return _NO_CLAIMS.get((item.group, item.kind), "")


def version_note(group: str, kind: str) -> str:
    """Return the version of its controller that a kind needs for claims, or "" if every version
    supports them.
    """
    return _NOTES.get((group, kind), "")


def patch_note(part: PodPart) -> str:
    """Return a note about a pod template without images, such as a Kustomize patch."""
    containers = blocks(part.spec, "containers")
    if part.path[-2:] != ("template", "spec") or any(each.get("image") for each in containers):
        return ""
    return (
        "its containers don't have an image, so the object seems to be a patch. Tolerations "
        "in a patch replace the base's tolerations, so repeat the base's tolerations in the "
        "patch"
    )


def find_pod_parts(data: Mapping[str, Any], group: str, kind: str) -> list[PodPart]:
    """Return the pod templates at all places in an object."""
    if group == "argoproj.io" and kind in _ARGO:
        return list(_argo(data, ()))
    if group == "serving.kserve.io" and kind == "InferenceService":
        return [*_kserve(data), *_find(data, (), "")]
    if group == "apps.nvidia.com" and kind == "NIMService":
        return list(_nim(data))
    return list(_find(data, (), ""))


def _find(data: Any, path: Path, role: str) -> Iterator[PodPart]:
    if isinstance(data, Mapping):
        containers = data.get("containers")
        if isinstance(containers, list) and any(isinstance(each, Mapping) for each in containers):
            yield PodPart(path=path, spec=data, containers=dict(_containers(data, path)), role=role)
            return
        own = next((str(data[key]) for key in _ROLE_NAMES if isinstance(data.get(key), str)), "")
        for key, value in data.items():
            if key != "metadata":
                yield from _find(value, (*path, str(key)), own or role or _role_of_key(str(key)))
    elif isinstance(data, list):
        for index, value in enumerate(data):
            yield from _find(value, (*path, index), role)


def _role_of_key(key: str) -> str:
    """Return the role that a key names, for example `Worker` in `pytorchReplicaSpecs`,
    `leaderTemplate`, or `worker`.
    """
    if key in _ROLE_KEYS:
        return key.removesuffix("Template")
    return "" if key[:1].islower() else key.lower()


def _containers(spec: Mapping[str, Any], path: Path) -> Iterator[tuple[str, Path]]:
    for key in ("initContainers", "containers"):
        for index, container in indexed_blocks(spec.get(key)):
            yield str(container.get("name", "")), (*path, key, index)


def _argo(data: Any, path: Path) -> Iterator[PodPart]:
    """Yield the templates of a workflow that run a container. Other templates can't have claims."""
    if isinstance(data, Mapping):
        for index, template in indexed_blocks(data.get("templates")):
            own = (*path, "templates", index)
            name = str(template.get("name", ""))
            for key in ("container", "script"):
                if isinstance(template.get(key), Mapping):
                    container = {"name": name, **template[key]}
                    spec = {**template, "containers": [container]}
                    yield PodPart(path=own, spec=spec, containers={name: (*own, key)}, role=name)
        for key, value in data.items():
            if key not in ("templates", "metadata"):
                yield from _argo(value, (*path, str(key)))


def _kserve(data: Mapping[str, Any]) -> Iterator[PodPart]:
    """Yield the predictor, transformer, and explainer if they describe a model instead of
    containers.
    """
    for role in ("predictor", "transformer", "explainer"):
        part = block(block(data, "spec"), role)
        for field in _KSERVE_MODELS:
            model = part.get(field)
            if isinstance(model, Mapping):
                path: Path = ("spec", role)
                container = {**model, "name": "kserve-container"}
                yield PodPart(
                    path=path,
                    spec={**part, "containers": [container]},
                    containers={"kserve-container": (*path, field)},
                    role=role,
                )


def _nim(data: Mapping[str, Any]) -> Iterator[PodPart]:
    """Yield the pods of a NIMService, which describes their only container with its own fields."""
    spec = data.get("spec")
    if isinstance(spec, Mapping) and isinstance(spec.get("resources"), Mapping):
        container = {"name": "nim", "resources": spec["resources"]}
        yield PodPart(
            path=("spec",),
            spec={**spec, "containers": [container]},
            containers={"nim": ("spec",)},
            claims_field="draResources",
        )
