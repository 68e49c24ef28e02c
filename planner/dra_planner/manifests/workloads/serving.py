"""Serving kinds: KServe, Knative, Argo Rollouts, with their own bounds and with claims that
their controllers create.

Source: kserve/kserve:pkg/apis/serving@v0.16 (and its annotations for devices),
knative/serving:pkg/apis/autoscaling@v1.19,
argoproj/argo-rollouts:pkg/apis/rollouts@v1.8.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec.structs import replace

from dra_planner.documents.plain_values import number
from dra_planner.manifests.workloads.kind_description import ObjectPart, Reading
from dra_planner.manifests.workloads.pod_counts import NO_SURGE, Bounds, Surge
from dra_planner.manifests.workloads.updates import (
    all_first,
    rolling_start,
    unknown_updates,
    with_new_first,
)
from dra_planner.model import Figures, PodSet

_KSERVE: Final = "serving.kserve.io/"
_KNATIVE: Final = "autoscaling.knative.dev/"
_COMPONENTS: Final = ("predictor", "transformer", "explainer")
_FRAMEWORKS: Final = (
    "model",
    "sklearn",
    "xgboost",
    "tensorflow",
    "pytorch",
    "triton",
    "onnx",
    "huggingface",
    "pmml",
    "lightgbm",
    "paddle",
)
_INSTALLED_RUNTIMES: Final = "kserve-"
"""The prefix of the runtimes that KServe installs."""
DEFAULT_SURGE: Final = Surge("25%")
NEW_REVISION: Final = "a new revision must run before the old revision stops"
MULTI_NODE: Final = unknown_updates("a replica has pods on several nodes")


def rollout_surge(root: ObjectPart) -> Surge:
    """Return the surge of an Argo Rollout. Blue-green rollouts run both colors at the same time.

    The default surge of canary rollouts is 25%.
    """
    if isinstance(root.get("spec.strategy.blueGreen"), Mapping):
        return Surge("100%")
    return Surge(root.get("spec.strategy.canary.maxSurge", "25%"))


def read_rollout(reading: Reading) -> list[PodSet]:
    """Read an Argo Rollout, with its own pod template or the template of the object in workloadRef.

    If that object is a Deployment, it also keeps its own pods, unless it's scaled to zero. Source:
    argoproj/argo-rollouts:docs/migrating.md@v1.8 ("Reference an existing Deployment").
    """
    root = reading.root
    figures = reading.figures(
        root.number("spec.replicas", 1), bounds=reading.bounds, surge=rollout_surge(root)
    )
    template, ref = root.at("spec.template"), root.get("spec.workloadRef")
    if not isinstance(template.data, Mapping) and isinstance(ref, Mapping):
        kind, name = str(ref.get("kind", "")), str(ref.get("name", ""))
        found = reading.lookup(kind, name)
        if found is None or found.namespace != reading.object.namespace:
            reading.unresolved(f"its workloadRef, {kind} {name}, isn't in the manifests", figures)
            return []
        own = ObjectPart(found.data, found.place)
        template = own.at("template" if kind == "PodTemplate" else "spec.template")
    is_counted = root.get("spec.replicas") is not None
    sets = [replace(each, is_counted=is_counted) for each in reading.pod_set("", template, figures)]
    return _with_start_of_rollout(reading, sets)


def _with_start_of_rollout(reading: Reading, sets: list[PodSet]) -> list[PodSet]:
    """Return the pod set of an Argo Rollout with the start of its updates."""
    root = reading.root
    if isinstance(root.get("spec.strategy.blueGreen"), Mapping):
        cause = "the blueGreen strategy runs all new pods before it stops the old pods"
        return all_first(
            sets, cause, "use the canary strategy with maxSurge 0 and maxUnavailable 1"
        )
    if root.get("spec.strategy.canary.trafficRouting"):
        reading.assume(
            unknown_updates("with trafficRouting, the steps determine the number of canary pods")
        )
        return sets
    replicas = sets[0].figures.steady if sets else 0
    strategy = {"rollingUpdate": root.get("spec.strategy.canary", {})}
    canary = ObjectPart({"spec": root.get("spec", {}), "strategy": strategy}, root.place)
    return with_new_first(sets, rolling_start(canary, "strategy", replicas))


def read_knative_service(reading: Reading) -> list[PodSet]:
    """Read a Knative Service: from `min-scale` (default: 0) to `max-scale` (default: no limit),
    with two revisions during a rollout.
    """
    template = reading.root.at("spec.template")
    annotations = template.get("metadata.annotations", {})
    return all_first(reading.pod_set("", template, _knative(reading, annotations)), NEW_REVISION)


def _knative(reading: Reading, annotations: Mapping[str, Any]) -> Figures:
    least = _scale(annotations, "min-scale", "minScale")
    most = _scale(annotations, "max-scale", "maxScale") or None
    if least == 0:
        reading.assume("the service can scale to zero, so the plan counts 0 pods at steady demand")
    if most is None:
        reading.assume("max-scale isn't set, so the maximum number of pods is unlimited")
    return Figures(least, least, most, None if most is None else 2 * most)


def _scale(annotations: Mapping[str, Any], *names: str) -> int:
    for name in names:
        found = number(annotations.get(_KNATIVE + name))
        if found is not None and found >= 0:
            return found
    return 0


def read_inference_service(reading: Reading) -> list[PodSet]:
    """Read an InferenceService: predictor, transformer, and explainer. With `workerSpec`, each
    replica also has workers.
    """
    root = reading.root
    mode = str(root.get("metadata.annotations", {}).get(f"{_KSERVE}deploymentMode", "Serverless"))
    serverless = mode in ("Serverless", "Knative")
    sets: list[PodSet] = []
    for name in _COMPONENTS:
        component = root.at(f"spec.{name}")
        if not isinstance(component.data, Mapping):
            continue
        figures = _inference_figures(reading, component, serverless)
        pod = ObjectPart(_inference_pod(component.data), component.place)
        found = _with_runtime(reading, component, reading.pod_set(name, pod, figures, inline=True))
        workers = component.at("workerSpec")
        if serverless:
            sets += all_first(found, NEW_REVISION)
        elif isinstance(workers.data, Mapping):
            sets += found
            reading.assume(MULTI_NODE)
        else:
            start = rolling_start(component, "deploymentStrategy", figures.steady)
            sets += with_new_first(found, start)
        if isinstance(workers.data, Mapping):
            count = max(workers.number("pipelineParallelSize", 1) - 1, 1)
            each = Figures(*(None if pods is None else pods * count for pods in figures))  # type: ignore[arg-type]
            sets += reading.pod_set(
                f"{name}-worker",
                ObjectPart(_inference_pod(workers.data), workers.place),
                each,
                inline=True,
            )
    return sets


def _with_runtime(reading: Reading, component: ObjectPart, sets: list[PodSet]) -> list[PodSet]:
    """Return the pod sets of a component, which need the runtime of its model if no manifest
    defines that runtime.

    KServe searches the namespace first, and then the cluster (kserve/kserve:
    pkg/controller/v1beta1/inferenceservice/utils/utils.go@v0.16, GetServingRuntime).
    """
    name = str(component.get("model.runtime") or "")
    own = reading.lookup("ServingRuntime", name)
    is_own = own is not None and own.namespace == reading.object.namespace
    if (
        not name
        or name.startswith(_INSTALLED_RUNTIMES)
        or is_own
        or reading.lookup("ClusterServingRuntime", name) is not None
    ):
        return sets
    need = ("ServingRuntime", name)
    return [
        replace(each, template=replace(each.template, needs=(*each.template.needs, need)))
        for each in sets
    ]


def _inference_figures(reading: Reading, component: ObjectPart, serverless: bool) -> Figures:
    least = component.number("minReplicas", 1)
    most = component.get("maxReplicas")
    # Without Knative, an HPA keeps at least one replica, unless another component scales it.
    annotations = reading.root.get("metadata.annotations", {})
    alone = str(annotations.get(f"{_KSERVE}autoscalerClass", "hpa")) == "hpa" and not serverless
    replicas = max(least, 1 if alone else 0)
    if serverless:
        ceiling = component.number("maxReplicas", 0) or None
        if ceiling is None:
            reading.assume(
                "neither maxReplicas nor a Knative default is set, so the maximum number of "
                "pods is unlimited"
            )
        return Figures(replicas, replicas, ceiling, None if ceiling is None else 2 * ceiling)
    bounds = (
        None
        if most is None
        else Bounds(replicas, max(component.number("maxReplicas", replicas), replicas))
    )
    return reading.figures(replicas, bounds=bounds, surge=DEFAULT_SURGE)


def _inference_pod(component: Mapping[str, Any]) -> dict[str, Any]:
    """Return the pod of a component: its inline pod spec, and a container for the model."""
    pod = {
        key: value
        for key, value in component.items()
        if key not in _FRAMEWORKS and key != "workerSpec"
    }
    containers = [dict(item) for item in pod.get("containers") or ()]
    for framework in _FRAMEWORKS:
        model = component.get(framework)
        if isinstance(model, Mapping):
            container = {"name": "kserve-container", "resources": model.get("resources") or {}}
            containers = [item for item in containers if item.get("name") != "kserve-container"]
            containers.insert(0, container)
    return {**pod, "containers": containers or [{"name": "kserve-container"}]}


def read_llm_inference_service(reading: Reading) -> list[PodSet]:
    """Read an LLMInferenceService: decode and prefill with replicas. With a worker, each replica is
    a group.
    """
    root = reading.root
    annotations = root.get("metadata.annotations", {})
    claim = _annotated_claim(reading, annotations)
    sets: list[PodSet] = []
    for name, part in (("", root.at("spec")), ("prefill", root.at("spec.prefill"))):
        template = part.at("template")
        if not isinstance(template.data, Mapping):
            continue
        replicas = part.number("replicas", 1)
        size = _group_size(part)
        worker = part.at("worker")
        figures = reading.figures(replicas, surge=NO_SURGE if size > 1 else DEFAULT_SURGE)
        found = reading.pod_set(
            name,
            ObjectPart(_with_claim(template.data, claim), template.place),
            figures,
            inline=True,
        )
        sets += _with_default_start(reading, found, nodes=size)
        if isinstance(worker.data, Mapping) and size > 1:
            role = f"{name}-worker" if name else "worker"
            figures = reading.figures(replicas, pods=size - 1)
            sets += reading.pod_set(
                role,
                ObjectPart(_with_claim(worker.data, claim), worker.place),
                figures,
                inline=True,
            )
    return sets


def _group_size(part: ObjectPart) -> int:
    """Return the number of pods per replica: pipeline stages, or data-parallel ranks divided by the
    ranks of one pod.
    """
    pipeline = part.number("parallelism.pipeline", 0)
    if pipeline:
        return pipeline
    data, local = part.number("parallelism.data", 0), part.number("parallelism.dataLocal", 0)
    return -(-data // local) if data and local else (2 if part.get("worker") is not None else 1)


def _annotated_claim(reading: Reading, annotations: Mapping[str, Any]) -> str:
    """Return the template that the controller creates for annotated devices, or an empty text."""
    name = annotations.get(f"{_KSERVE}dra-device-class")
    if not name:
        return ""
    count = number(annotations.get(f"{_KSERVE}dra-gpu-count"))
    exactly: dict[str, Any] = {"deviceClassName": str(name), "count": 1 if count is None else count}
    return reading.generate("dra", {"devices": {"requests": [{"name": "gpu", "exactly": exactly}]}})


def _with_claim(pod: Mapping[str, Any], template: str) -> dict[str, Any]:
    if not template:
        return dict(pod)
    entries = [
        *(pod.get("resourceClaims") or ()),
        {"name": "gpu", "resourceClaimTemplateName": template},
    ]
    return {**pod, "resourceClaims": entries}


def _with_default_start(reading: Reading, sets: list[PodSet], *, nodes: int) -> list[PodSet]:
    """Return the pod sets of a Deployment without a strategy, if a replica has only one pod."""
    if nodes > 1:
        reading.assume(MULTI_NODE)
        return sets
    replicas = sets[0].figures.steady if sets else 0
    start = rolling_start(ObjectPart({}, reading.root.place), "strategy", replicas)
    return with_new_first(sets, None if start is None else start._replace(fix=""))
