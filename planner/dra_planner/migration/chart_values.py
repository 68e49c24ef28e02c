"""Values of known charts whose pods request GPUs: the values that enable claims, and the charts
without such values.

Sources: vllm-project/production-stack:helm/templates/_helpers.tpl@a6c01db,
triton-inference-server/server:deploy@e1db8a6, NVIDIA/dcgm-exporter:deployment/values.yaml@d5e5f51,
llm-d/llm-d-modelservice:charts/llm-d-modelservice@3051935.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from dra_planner.documents.plain_values import block, blocks, indexed_blocks, listed, number
from dra_planner.drivers.nvidia import GPU_CLASS, GPU_DRIVER
from dra_planner.drivers.protocol.device_plugin import LabelTerm, NotTranslatable
from dra_planner.migration.device_plugins import is_about_devices, is_device, needs_of
from dra_planner.migration.editor import Editor, Path
from dra_planner.migration.other_requests import requested_below
from dra_planner.migration.pods import device_counts

IMPLICIT: Final = "deviceclass.resource.kubernetes.io/"
_EXPORTER_WITH_CLAIMS: Final = (4, 6, 0)
_EXPORTER_TAG: Final = "4.6.0-4.8.3"
_SERVED: Final = (
    "Set extendedResourceName: nvidia.com/gpu on a DeviceClass (Kubernetes 1.36 or later), "
    "without any change to the chart"
)
_POST_RENDERER: Final = (
    "Migrate the rendered manifests in a post-renderer, so that the next upgrade keeps the change"
)


class ValuesOutcome(Struct, frozen=True, kw_only=True):
    """The result for the values of a chart: the changes, or the reason why there are none, and an
    alternative.

    `device_classes` are DeviceClasses in API form that the new values need.
    """

    chart: str
    changes: Sequence[str] = ()
    reason: str = ""
    alternatives: Sequence[str] = ()
    device_classes: Sequence[Mapping[str, Any]] = ()
    devices: int = 0


def migrate_values(editor: Editor) -> ValuesOutcome | None:
    """Migrate the values of a known chart in place.

    Return None if the values belong to another chart.
    """
    data = editor.data
    if not isinstance(data, Mapping) or "kind" in data or "apiVersion" in data:
        return None
    return next((found for change in _CHARTS if (found := change(editor, data)) is not None), None)


def _vllm_stack(editor: Editor, data: Mapping[str, Any]) -> ValuesOutcome | None:
    """Migrate the values of vLLM's chart. `requestGPUType` accepts any resource name, including the
    implicit name of a class.
    """
    engine = data.get("servingEngineSpec")
    engine = engine if isinstance(engine, Mapping) else {}
    models = engine.get("modelSpec")
    if not isinstance(models, list) or not any(map(_requests_gpus, models)):
        return None
    changes: list[str] = []
    classes: dict[str, Mapping[str, Any]] = {}
    devices = 0
    for index, model in enumerate(models):
        if not _requests_gpus(model):
            continue
        path: Path = ("servingEngineSpec", "modelSpec", index)
        try:
            name, device_class = _class_of_model(model)
        except NotTranslatable as error:
            return ValuesOutcome(
                chart="vllm-stack", reason=str(error), alternatives=(_SERVED, _POST_RENDERER)
            )
        if device_class:
            classes[name] = device_class
            editor.remove((*path, "nodeSelectorTerms"))
        editor.set((*path, "requestGPUType"), f"{IMPLICIT}{name}")
        devices += number(model["requestGPU"]) or 0
        changes.append(
            f"model {model.get('name', index)} requests devices from the DeviceClass {name}"
        )
    if engine.get("runtimeClassName") == "nvidia":
        editor.replace_text(("servingEngineSpec", "runtimeClassName"), '""')
        changes.append(
            "containers get claimed devices through CDI, so they don't need the nvidia RuntimeClass"
        )
    if not any(each.get("key") == "nvidia.com/gpu" for each in blocks(engine, "tolerations")):
        toleration = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
        editor.append(("servingEngineSpec", "tolerations"), [toleration])
        changes.append("the pods tolerate the taint of DRA nodes")
    return ValuesOutcome(
        chart="vllm-stack", changes=changes, device_classes=list(classes.values()), devices=devices
    )


def _requests_gpus(model: Any) -> bool:
    """Return whether a model requests GPUs of a device plugin."""
    is_claim = isinstance(model, Mapping) and str(model.get("requestGPUType", "")).startswith(
        IMPLICIT
    )
    return isinstance(model, Mapping) and bool(model.get("requestGPU")) and not is_claim


def _class_of_model(model: Mapping[str, Any]) -> tuple[str, Mapping[str, Any] | None]:
    """Return the class for a model's GPUs, and its definition unless the driver installs it."""
    terms = [
        LabelTerm(
            str(each.get("key")),
            str(each.get("operator")),
            tuple(map(str, listed(each.get("values")))),
        )
        for term in blocks(model, "nodeSelectorTerms")
        for each in blocks(term, "matchExpressions")
    ]
    if not any(is_about_devices(term.key) for term in terms):
        return GPU_CLASS, None
    if len(blocks(model, "nodeSelectorTerms")) > 1 or not all(
        is_about_devices(term.key) for term in terms
    ):
        raise NotTranslatable(
            "nodeSelectorTerms also select nodes without GPUs, but a class can select only devices"
        )
    needs = needs_of(terms)
    if needs.profile or needs.sharing:
        raise NotTranslatable(
            "nodeSelectorTerms select parts of GPUs, but a class's implicit extended "
            "resource always requests whole GPUs"
        )
    names = [value for term in terms for value in term.values]
    name = "-".join(names).lower().removeprefix("nvidia-").replace("_", "-")[:63].strip("-.")
    base = f'device.driver == "{GPU_DRIVER}" && device.attributes["{GPU_DRIVER}"].type == "gpu"'
    expression = " && ".join((base, *needs.conditions))
    return name, {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": name},
        "spec": {"selectors": [{"cel": {"expression": expression}}]},
    }


def _triton(editor: Editor, data: Mapping[str, Any]) -> ValuesOutcome | None:
    image = data.get("image")
    if (
        not isinstance(image, Mapping)
        or not image.get("numGpus")
        or "tritonserver" not in str(image.get("imageName"))
    ):
        return None
    reason = (
        "Triton's chart doesn't have a value for resourceClaims, and its template sets "
        "nvidia.com/gpu from numGpus"
    )
    return ValuesOutcome(
        chart="triton",
        reason=reason,
        alternatives=(_SERVED, _POST_RENDERER),
        devices=number(image["numGpus"]) or 0,
    )


def _dcgm_exporter(editor: Editor, data: Mapping[str, Any]) -> ValuesOutcome | None:
    image = data.get("image")
    tag = str(image.get("tag", "")) if isinstance(image, Mapping) else ""
    is_exporter = "dcgm-exporter" in str(image) or "kubernetesDRA" in data or _is_exporter_tag(tag)
    if not is_exporter or block(data, "kubernetesDRA").get("enabled") is True:
        return None
    changes = ["kubernetesDRA.enabled adds pod labels to the metrics for pods with claims"]
    if tag and _version(tag) < _EXPORTER_WITH_CLAIMS:
        suffix = tag.partition("-")[2].partition("-")[2]
        editor.replace_text(
            ("image", "tag"), "-".join(each for each in (_EXPORTER_TAG, suffix) if each)
        )
        changes.append(
            f"versions before {_EXPORTER_TAG} read resource.k8s.io/v1beta1, which newer clusters "
            "don't serve"
        )
    editor.set(("kubernetesDRA", "enabled"), True)
    return ValuesOutcome(chart="dcgm-exporter", changes=changes)


def _is_exporter_tag(tag: str) -> bool:
    """Return whether a tag has the exporter's form: the exporter's and DCGM's versions
    (4.5.1-4.8.0-distroless).
    """
    parts = tag.split("-")
    return len(parts) >= 2 and all(
        len(each.split(".")) == 3 and each.replace(".", "").isdigit() for each in parts[:2]
    )


def _version(tag: str) -> tuple[int, ...]:
    numbers = tag.partition("-")[0].split(".")
    return tuple(found for each in numbers if (found := number(each)) is not None)


def _modelservice(editor: Editor, data: Mapping[str, Any]) -> ValuesOutcome | None:
    accelerator = data.get("accelerator")
    if (
        not isinstance(accelerator, Mapping)
        or "modelArtifacts" not in data
        or accelerator.get("dra") is True
    ):
        return None
    editor.set(("accelerator", "dra"), True)
    changes = [
        "with accelerator.dra, the chart adds resourceClaims (llm-d-modelservice 0.4.12 or later)"
    ]
    for role in ("decode", "prefill"):
        for index, container in indexed_blocks(block(data, role).get("containers")):
            for section in ("limits", "requests"):
                for name in device_counts(
                    {section: block(block(container, "resources"), section)}, is_device
                ):
                    editor.remove((role, "containers", index, "resources", section, name))
                    changes.append(
                        f"{role} no longer requests {name}, because the chart's claim requests "
                        "the devices"
                    )
    return ValuesOutcome(chart="llm-d-modelservice", changes=changes)


def _other_chart(editor: Editor, data: Mapping[str, Any]) -> ValuesOutcome | None:
    """Leave the values of an unknown chart unchanged, and report their requests."""
    resources = sorted(set(requested_below(data, is_device)))
    if not resources:
        return None
    reason = (
        f"they request {' and '.join(resources)}, and it's unknown whether the chart has a value "
        "for claims"
    )
    return ValuesOutcome(
        chart="that isn't known", reason=reason, alternatives=(_SERVED, _POST_RENDERER)
    )


_CHARTS: Final[Sequence[Callable[[Editor, Mapping[str, Any]], ValuesOutcome | None]]] = (
    _vllm_stack,
    _triton,
    _modelservice,
    _dcgm_exporter,
    _other_chart,
)
