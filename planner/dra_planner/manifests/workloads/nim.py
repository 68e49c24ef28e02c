"""Services of the NVIDIA NIM Operator, with the claims and GPUs that the operator requests.

Source: NVIDIA/k8s-nim-operator@f63f74d: api/apps/v1alpha1/nimservice_types.go (GetLWSSize),
internal/controller/platform/standalone/nimservice.go (addGPUResources),
internal/shared/resourceclaims.go (GetDRADeviceCELExpressions), internal/k8sutil/cel/cel.go, and
manifests/deployment.yaml (maxSurge 0).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from dra_planner.drivers import nvidia
from dra_planner.manifests.workloads.kind_description import ObjectPart, Reading
from dra_planner.manifests.workloads.pod_counts import Bounds
from dra_planner.model import Figures, PodSet

_GPU: Final = "nvidia.com/gpu"
_CHANNEL_CLASS: Final = "compute-domain-default-channel.nvidia.com"
_DRIVER: Final = nvidia.GPU_CLASS
"""The default of a device's driverName and deviceClassName."""
_OPERATORS: Final = {
    "NotEqual": "!=",
    "GreaterThan": ">",
    "GreaterThanOrEqual": ">=",
    "LessThan": "<",
    "LessThanOrEqual": "<=",
}


def read_nim_service(reading: Reading) -> list[PodSet]:
    return _nim(reading, reading.root.at("spec"), "")


def read_nim_pipeline(reading: Reading) -> list[PodSet]:
    """Read a NIMPipeline: its enabled services."""
    sets: list[PodSet] = []
    for name, service in reading.root.at("spec.services").members():
        if service.get("enabled") is not False:
            sets += _nim(reading, service.at("spec"), name)
    return sets


def _nim(reading: Reading, spec: ObjectPart, name: str) -> list[PodSet]:
    if not isinstance(spec.data, Mapping):
        return []
    figures = _figures(reading, spec)
    entries = [*_dra_claims(reading, spec, name), *_channel_claims(reading, spec, name)]
    unknown = _unknown_pods(reading, spec)
    if unknown:
        reading.unresolved(unknown, figures)
        return []
    pod = {
        field: spec.get(field)
        for field in ("nodeSelector", "tolerations", "affinity")
        if spec.get(field) is not None
    }
    pod["resourceClaims"] = entries
    used = {"claims": [{"name": entry["name"]} for entry in entries]} if entries else {}
    pod["containers"] = [{"name": "nim", "resources": {**_resources(reading, spec), **used}}]
    return reading.pod_set(name, ObjectPart(pod, spec.place), figures, inline=True)


def _figures(reading: Reading, spec: ObjectPart) -> Figures:
    replicas = spec.number("replicas", 1)
    bounds = None
    if spec.get("scale.enabled") is True:
        least = spec.number("scale.hpa.minReplicas", 1)
        bounds = Bounds(least, spec.number("scale.hpa.maxReplicas", max(replicas, least)))
    stages = spec.number("multiNode.parallelism.pipeline", 1)  # one pod for each stage
    return reading.figures(replicas, pods=stages, bounds=bounds)


def _unknown_pods(reading: Reading, spec: ObjectPart) -> str:
    """Return why the pods of a service can't be read, or ""."""
    if spec.get("multiNode") is not None:
        if spec.number("multiNode.parallelism.pipeline", 0) < 1:
            return (
                "multiNode.parallelism.pipeline isn't set, so the number of pods in each replica "
                "is unknown"
            )
        if spec.get("multiNode.computeDomain") is not None and not _channel_template(reading, spec):
            return "its ComputeDomain isn't in the manifests"
    elif _cached(spec) and not spec.get("draResources") and not _requests_gpus(spec):
        return (
            f"{_GPU} isn't set in spec.resources, so the operator requests the GPUs of a model "
            "profile that is known only at run time"
        )
    return ""


def _resources(reading: Reading, spec: ObjectPart) -> dict[str, Any]:
    """Return the resources of a container, with the GPUs that the operator adds."""
    resources = dict(spec.get("resources", {}))
    tensor = spec.number("multiNode.parallelism.tensor", 0)
    if not tensor or not _cached(spec) or spec.get("draResources") or _requests_gpus(spec):
        return resources
    reading.assume(
        f"the operator requests {tensor} {_GPU} for each pod (multiNode.parallelism.tensor)"
    )
    for field in ("requests", "limits"):
        resources[field] = {**(resources.get(field) or {}), _GPU: tensor}
    return resources


def _cached(spec: ObjectPart) -> bool:
    """Return True if the service uses a NIMCache, whose profile determines the GPUs."""
    return bool(spec.get("storage.nimCache.name"))


def _requests_gpus(spec: ObjectPart) -> bool:
    return any(_GPU in spec.get(f"resources.{field}", {}) for field in ("limits", "requests"))


def _dra_claims(reading: Reading, spec: ObjectPart, name: str) -> Iterator[dict[str, Any]]:
    for index, (_, entry) in enumerate(spec.at("draResources").members()):
        claim = _dra_claim(reading, entry, f"{name}-{index}" if name else str(index))
        if claim:
            yield claim


def _dra_claim(reading: Reading, entry: ObjectPart, suffix: str) -> dict[str, Any]:
    """Return the pod's claim entry for one item of `draResources`.

    A claim that the controller creates becomes a template.
    """
    named = {
        field: entry.get(field) for field in ("resourceClaimName", "resourceClaimTemplateName")
    }
    named = {field: value for field, value in named.items() if value is not None}
    if named:
        return {"name": f"claim-{suffix}", **named}
    requests = []
    for index, (name, device) in enumerate(entry.at("claimCreationSpec.devices").members()):
        exactly = {
            "deviceClassName": str(device.get("deviceClassName", _DRIVER)),
            "count": device.number("count", 1),
            "selectors": [{"cel": {"expression": text}} for text in _device_expressions(device)],
        }
        requests.append({"name": name if name else f"device-{index}", "exactly": exactly})
    if not requests:
        return {}
    template = reading.generate(f"claim-{suffix}", {"devices": {"requests": requests}})
    return {"name": f"claim-{suffix}", "resourceClaimTemplateName": template}


def _device_expressions(device: ObjectPart) -> list[str]:
    """Return the expressions that select the devices of one item of `devices`."""
    driver = str(device.get("driverName", _DRIVER))
    return [
        f"device.driver == {json.dumps(driver)}",
        *(str(text) for text in device.get("celExpressions", ())),
        *_attribute_expressions(device, driver),
        *_capacity_expressions(device, driver),
    ]


def _attribute_expressions(device: ObjectPart, driver: str) -> Iterator[str]:
    for _, each in device.at("attributeSelectors").members():
        attribute, operator = _field("attributes", each, driver), _operator(each)
        version = each.get("value.versionValue")
        if version is not None:
            yield _comparison(attribute, operator, "semver", version)
            continue
        for kind in ("boolValue", "intValue", "stringValue"):
            if (value := each.get(f"value.{kind}")) is not None:
                yield f"{attribute} {operator} {json.dumps(value)}"


def _capacity_expressions(device: ObjectPart, driver: str) -> Iterator[str]:
    for _, each in device.at("capacitySelectors").members():
        value = each.get("value")
        if value is not None:
            yield _comparison(_field("capacity", each, driver), _operator(each), "quantity", value)


def _comparison(field: str, operator: str, function: str, value: Any) -> str:
    return f"({field}).compareTo({function}({json.dumps(str(value))})) {operator} 0"


def _field(group: str, selector: ObjectPart, driver: str) -> str:
    """Return the field of a key. A key without a domain is the driver's."""
    domain, _, name = str(selector.get("key", "")).rpartition("/")
    return f"device.{group}[{json.dumps(domain or driver)}].{name}"


def _operator(selector: ObjectPart) -> str:
    return _OPERATORS.get(str(selector.get("op", "Equal")), "==")


def _channel_claims(reading: Reading, spec: ObjectPart, name: str) -> Iterator[dict[str, Any]]:
    template = _channel_template(reading, spec)
    if not template:
        return
    if spec.get("multiNode.computeDomain.create") is True:
        channel = {"name": "channel", "exactly": {"deviceClassName": _CHANNEL_CLASS}}
        title = f"{name}-channel" if name else "channel"
        template = reading.generate(title, {"devices": {"requests": [channel]}})
    yield {"name": "channel", "resourceClaimTemplateName": template}


def _channel_template(reading: Reading, spec: ObjectPart) -> str:
    """Return the claim template of the service's ComputeDomain, or "" if it's unknown."""
    if spec.get("multiNode.computeDomain.create") is True:
        return "created"
    domain = reading.lookup("ComputeDomain", str(spec.get("multiNode.computeDomain.name", "")))
    if domain is None:
        return ""
    return str(
        ObjectPart(domain.data, domain.place).get("spec.channel.resourceClaimTemplate.name", "")
    )
