"""Convert parameters of classic drivers to requests of v1.

Sources: kubernetes-sigs/dra-driver-nvidia-gpu:api/nvidia.com/resource/gpu/v1alpha1@dc531f3a and
api/utils/{selector,sharing}@dc531f3a;
intel/intel-resource-drivers-for-kubernetes:deployments/gpu/static/crds@8df153e.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec import Struct

from dra_planner.drivers import nvidia
from dra_planner.manifests.rendering.claims import plain
from dra_planner.manifests.rewriting import replacement_examples
from dra_planner.manifests.rewriting.old_forms import (
    NotConvertible,
    Old,
    members,
    refuse_unknown,
    section,
)
from dra_planner.wording import listed

NVIDIA: Final = nvidia.GPU_DRIVER
NVIDIA_GROUP: Final = "gpu.resource.nvidia.com"
RENAMED_DRIVERS: Final = {NVIDIA_GROUP: NVIDIA}
"""Drivers that were renamed together with the change of model."""

_MISTAKEN_GROUPS: Final = {NVIDIA: NVIDIA_GROUP}
"""Wrong groups in guides for parameters, and the driver's real group."""
_ATTRIBUTES: Final = f'device.attributes["{NVIDIA}"]'
_OPERATORS: Final = {
    "Equals": "== 0",
    "LessThan": "< 0",
    "LessThanOrEqualTo": "<= 0",
    "GreaterThan": "> 0",
    "GreaterThanOrEqualTo": ">= 0",
}
_GLOBS: Final = frozenset({"productName", "brand", "architecture"})
_VERSIONS: Final = frozenset({"cudaComputeCapability", "driverVersion", "cudaDriverVersion"})
_GPU_TYPE: Final = f'{_ATTRIBUTES}.type == "gpu"'
_GATES: Final = {"TimeSlicing": "TimeSlicingSettings", "MPS": "MPSSupport"}


class Wanted(Struct):
    """The requests of parameters, without their class, and configurations by the names of these
    requests.
    """

    requests: list[dict[str, Any]] = []
    config: list[dict[str, Any]] = []
    device_class: str = ""  # the class that contains these devices, if it isn't the claim's class
    notes: list[str] = []


def nvidia_default() -> Wanted:
    """Return the devices of a claim without parameters of NVIDIA's driver: one whole GPU."""
    return Wanted([_request(1, [_GPU_TYPE])])


def wanted_by(parameters: Old) -> Wanted:
    """Return the requests of a driver's parameters. Raises NotConvertible if v1 can't
    express them.
    """
    convert = _KINDS.get(_type(parameters.group, parameters.kind))
    if convert is None:
        raise NotConvertible(
            f"only the driver knows which devices {parameters} of {parameters.group} requests, and "
            "how many",
            replacement_examples.CLAIM,
        )
    return convert(section(parameters.data, "spec"), str(parameters))


def _nvidia_gpu(spec: Mapping[str, Any], name: str) -> Wanted:
    refuse_unknown(spec, frozenset({"count", "selector", "sharing"}), name)
    selectors = [_GPU_TYPE]
    if spec.get("selector") is not None:
        condition = _condition(section(spec, "selector"), name)
        selectors += [condition] if condition else []
    return _with_sharing(Wanted([_request(_count(spec, name), selectors)]), spec, "GpuConfig")


def _nvidia_mig(spec: Mapping[str, Any], name: str) -> Wanted:
    refuse_unknown(spec, frozenset({"profile", "sharing", "gpuClaimName"}), name)
    if spec.get("gpuClaimName"):
        raise NotConvertible(
            f"{name} gets its MIG device from the GPU of another claim, "
            f'"{spec["gpuClaimName"]}", but v1 can require the same GPU only for devices in '
            "one claim",
            replacement_examples.SLICES_OF_ONE_GPU,
        )
    profile = str(spec.get("profile") or "")
    if not profile:
        raise NotConvertible(
            f"{name} doesn't set a profile", replacement_examples.SLICES_OF_ONE_GPU
        )
    selectors = [f'{_ATTRIBUTES}.type == "mig" && {_ATTRIBUTES}.profile == "{profile}"']
    wanted = Wanted([_request(1, selectors)], device_class=nvidia.MIG_CLASS)
    return _with_sharing(wanted, spec, "MigDeviceConfig")


def _nvidia_compute_instance(spec: Mapping[str, Any], name: str) -> Wanted:
    raise NotConvertible(
        f"{name} requests a compute instance of a MIG device, but the driver publishes only "
        "whole MIG devices",
        replacement_examples.SLICES_OF_ONE_GPU,
    )


def _intel_gpu(spec: Mapping[str, Any], name: str) -> Wanted:
    refuse_unknown(spec, frozenset({"count", "type", "memory", "millicores", "shareable"}), name)
    shares = [key for key in ("memory", "millicores") if spec.get(key)]
    if shares:
        raise NotConvertible(
            f"{name} requests {listed(shares)} of a shared GPU. In v1, a claim requests "
            "capacity instead. The driver must publish this capacity, and Kubernetes versions "
            "before 1.36 discard the capacity request",
            replacement_examples.SHARE_OF_A_GPU,
        )
    kind = str(spec.get("type") or "gpu")
    if kind == "vf":
        raise NotConvertible(
            f"{name} requests a virtual function, but the attribute that identifies virtual "
            "functions is unknown",
            replacement_examples.CLAIM,
        )
    wanted = Wanted([_request(_count(spec, name), [])])
    if kind == "gpu":
        wanted.notes.append(
            "type gpu excluded virtual functions; add a selector if the driver also publishes "
            "virtual functions"
        )
    return wanted


def _intel_gaudi(spec: Mapping[str, Any], name: str) -> Wanted:
    refuse_unknown(spec, frozenset({"count"}), name)
    return Wanted([_request(_count(spec, name), [])])


_KINDS: Final[dict[tuple[str, str], Callable[[Mapping[str, Any], str], Wanted]]] = {
    (NVIDIA_GROUP, "GpuClaimParameters"): _nvidia_gpu,
    (NVIDIA_GROUP, "MigDeviceClaimParameters"): _nvidia_mig,
    (NVIDIA_GROUP, "ComputeInstanceClaimParameters"): _nvidia_compute_instance,
    ("gpu.resource.intel.com", "GpuClaimParameters"): _intel_gpu,
    ("gaudi.resource.intel.com", "GaudiClaimParameters"): _intel_gaudi,
}
_CLASS_KINDS: Final = frozenset(
    {
        (NVIDIA_GROUP, "DeviceClassParameters"),
        ("gpu.resource.intel.com", "GpuClassParameters"),
        ("gaudi.resource.intel.com", "GaudiClassParameters"),
    }
)
_STATE: Final = frozenset(
    {"nas.gpu.resource.nvidia.com", "gpu.resource.intel.com", "gaudi.resource.intel.com"}
)


def is_parameters(group: str, kind: str) -> bool:
    """Return True if these are parameters of a known driver."""
    return _type(group, kind) in {*_KINDS, *_CLASS_KINDS}


def _type(group: str, kind: str) -> tuple[str, str]:
    return _MISTAKEN_GROUPS.get(group, group), kind


def is_state(group: str, kind: str) -> bool:
    """Return True if an object contains the internal state of a classic driver."""
    return group in _STATE and kind.endswith("AllocationState")


def class_notes(parameters: Old) -> list[str]:
    """Return notes about the parameters of a class. Raises NotConvertible if v1 can't
    express them.
    """
    spec = section(parameters.data, "spec")
    if _type(parameters.group, parameters.kind) not in _CLASS_KINDS:
        raise NotConvertible(
            f"only the driver knows which devices {parameters} of {parameters.group} requests",
            replacement_examples.CLASS,
        )
    refuse_unknown(
        spec, frozenset({"sharable", "shared", "monitor", "deviceSelector"}), str(parameters)
    )
    if spec.get("monitor"):
        raise NotConvertible(
            f"{parameters} requests monitoring access, which v1 claims request with adminAccess",
            replacement_examples.MONITOR,
        )
    if spec.get("deviceSelector"):
        raise NotConvertible(
            f"{parameters} selects devices by driver-specific properties, not by attributes",
            replacement_examples.CLASS,
        )
    return ["the class no longer controls sharing, because up to 256 pods can share any claim"]


def _request(count: int, selectors: list[str]) -> dict[str, Any]:
    request: dict[str, Any] = {"count": count} if count != 1 else {}
    if selectors:
        request["selectors"] = [{"cel": {"expression": each}} for each in selectors]
    return request


def _count(spec: Mapping[str, Any], name: str) -> int:
    count = spec.get("count")
    if count is None:
        return 1
    if not isinstance(count, int) or count < 1:
        raise NotConvertible(f"{name} has the count {count!r}")
    return count


def _condition(selector: Mapping[str, Any], name: str) -> str:
    """Return a selector of NVIDIA's parameters as CEL.

    Returns an empty text if the selector only excludes MIG, which the request already does.
    """
    if len(selector) != 1:
        raise NotConvertible(
            f"a selector of {name} must have one condition, but this selector has {len(selector)}"
        )
    ((key, value),) = selector.items()
    if key in ("andExpression", "orExpression"):
        parts = [
            part for part in (_condition(each, name) for each in members(selector, key)) if part
        ]
        if not parts:
            raise NotConvertible(
                f"v1 can't express the condition {key} of {name}",
                replacement_examples.CLAIM,
            )
        joined = (" && " if key == "andExpression" else " || ").join(f"({part})" for part in parts)
        return joined if len(parts) > 1 else parts[0]
    if key == "uuid":
        return f'{_ATTRIBUTES}.uuid == "{value}"'
    if key == "memory":
        amount, sign = _compared(value, name)
        return f'device.capacity["{NVIDIA}"].memory.compareTo(quantity("{amount}")) {sign}'
    if key in _VERSIONS:
        amount, sign = _compared(value, name)
        return f'{_ATTRIBUTES}.{key}.compareTo(semver("{amount}", true)) {sign}'
    if key in _GLOBS:
        return f'{_ATTRIBUTES}.{key}.lowerAscii().matches("{_pattern(str(value))}")'
    if key == "migEnabled" and value is False:
        return ""
    raise NotConvertible(
        f"v1 can't express {key} of {name}, because the driver doesn't publish this attribute",
        replacement_examples.CLAIM,
    )


def _compared(value: Any, name: str) -> tuple[str, str]:
    pair = value if isinstance(value, Mapping) else {}
    amount, sign = pair.get("value"), _OPERATORS.get(str(pair.get("operator")))
    if amount is None or sign is None or '"' in str(amount):
        raise NotConvertible(
            f"{name} compares with {value!r}, but a comparison needs a value and an operator"
        )
    return str(amount), sign


def _pattern(glob: str) -> str:
    """Convert a pattern, in which `*` matches any text, to a regular expression inside a CEL
    string.
    """
    regex = ".*".join(re.sub(r"([^\w\s-])", r"\\\1", part) for part in glob.lower().split("*"))
    return f"^{regex}$".replace("\\", "\\\\").replace('"', '\\"')


def _with_sharing(wanted: Wanted, spec: Mapping[str, Any], kind: str) -> Wanted:
    """Add a driver configuration for the sharing settings of the parameters."""
    sharing = section(spec, "sharing")
    if not sharing:
        return wanted
    refuse_unknown(sharing, frozenset({"strategy", "timeSlicingConfig", "mpsConfig"}), "sharing")
    slicing = section(sharing, "timeSlicingConfig")
    refuse_unknown(slicing, frozenset({"timeSlice"}), "timeSlicingConfig")
    settings: dict[str, Any] = {"strategy": sharing.get("strategy") or "TimeSlicing"}
    if slicing:
        settings["timeSlicingConfig"] = {"interval": slicing.get("timeSlice") or "Default"}
    if section(sharing, "mpsConfig"):
        settings["mpsConfig"] = plain(section(sharing, "mpsConfig"))
    parameters = {"apiVersion": "resource.nvidia.com/v1beta1", "kind": kind, "sharing": settings}
    wanted.config.append({"opaque": {"driver": NVIDIA, "parameters": parameters}})
    gate = _GATES.get(str(settings["strategy"]))
    if gate is not None:
        wanted.notes.append(
            f"the driver needs its {gate} feature gate for the {settings['strategy']} sharing strategy"
        )
    return wanted
