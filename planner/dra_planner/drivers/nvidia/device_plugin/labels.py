"""Node labels about NVIDIA GPUs as conditions on the devices of a claim.

Sources: NVIDIA/k8s-device-plugin:internal/lm/{resource,mig-strategy,nvml}.go@1b826ac (GPU feature
discovery),
kubernetes-sigs/dra-driver-nvidia-gpu:site/content/docs/reference/resourceslice-attributes.md@9593204,
Karpenter's and GKE's documentation of node labels.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Final

from msgspec.structs import replace

from dra_planner.catalog.machines import Accelerator, machines
from dra_planner.catalog.tables import read_table
from dra_planner.clouds import cloud, names
from dra_planner.documents.plain_values import number
from dra_planner.drivers.nvidia.gpus import gpu, gpus, mig_profiles
from dra_planner.drivers.protocol.device_plugin import LabelTerm, NotTranslatable, SelectionNeeds

_DRIVER: Final = "gpu.nvidia.com"
_ATTRIBUTE: Final = f'device.attributes["{_DRIVER}"]'
_CAPACITY: Final = f'device.capacity["{_DRIVER}"]'
_FAMILIES: Final = {"ada-lovelace": "Ada Lovelace"}
_STAYS: Final = frozenset({"nvidia.com/gpu.present", "nvidia.com/gpu.dra"})
_ABOUT_THE_PLUGIN: Final = (
    "nvidia.com/mig.strategy",
    "nvidia.com/mig.capable",
    "nvidia.com/mig.config",
    "nvidia.com/gpu.deploy.",
    "nvidia.com/device-plugin.config",
    "nvidia.com/vgpu.",
    "nvidia.com/gfd.",
)


def is_about_devices(key: str) -> bool:
    """Return whether a label concerns GPUs, so that it might be missing on nodes without the device
    plugin.
    """
    return key not in _STAYS and (key in _MEANINGS or key.startswith(("nvidia.com/", _KARPENTER)))


def needs_of(term: LabelTerm) -> SelectionNeeds:
    """Return a label condition's requirements for devices. Raises NotTranslatable."""
    if term.key.startswith(_ABOUT_THE_PLUGIN):
        return SelectionNeeds()
    meaning = _MEANINGS.get(term.key)
    if meaning is None:
        raise NotTranslatable(f"the node label {term.key} doesn't correspond to a device attribute")
    return meaning(term)


def profile_condition(profile: str) -> str:
    """Return the condition that a device is a MIG device of this profile."""
    return f'{_ATTRIBUTE}.profile == "{profile}"'


def _product(term: LabelTerm) -> SelectionNeeds:
    """Return the GPU name in a label.

    Labels end in -SHARED on nodes with shared GPUs, and in -MIG-<profile> under the strategy
    *single*.
    """
    profiles = {value.partition("-MIG-")[2] for value in term.values}
    is_shared = {value.endswith("-SHARED") for value in term.values}
    if len(profiles) > 1 or len(is_shared) > 1:
        raise NotTranslatable(
            f"{term.key} selects GPUs with different MIG profiles or "
            "sharing modes, but a single claim can't request both"
        )
    names = [
        _product_name(value.partition("-MIG-")[0].removesuffix("-SHARED")) for value in term.values
    ]
    condition = _among(f"{_ATTRIBUTE}.productName", names, term.operator)
    sharing = "time-slicing" if True in is_shared else ""
    return SelectionNeeds(conditions=(condition,), profile="".join(profiles), sharing=sharing)


def _product_name(label: str) -> str:
    """Return the GPU name that matches a label.

    It's looked up, because labels replace both blanks and dashes with dashes.
    """
    for candidate in (label, f"NVIDIA-{label}"):
        if candidate in _products():
            return _products()[candidate]
    raise NotTranslatable(f"no known GPU has the label value {label}")


@cache
def _products() -> Mapping[str, str]:
    names = {gpu.product_name for gpu in gpus() if gpu.product_name}
    return {label_value(name): name for name in sorted(names)}


def label_value(name: str) -> str:
    """Return the label value for a GPU name (internal/lm/resource.go, sanitise)."""
    return "-".join(re.sub(r"[^A-Za-z0-9\-_. ]", "", name).split())


def _accelerator(term: LabelTerm) -> SelectionNeeds:
    return SelectionNeeds(conditions=(_of_products(term, _gpus_by_gke_type(), "GKE"),))


def _gpu_name(term: LabelTerm) -> SelectionNeeds:
    return SelectionNeeds(conditions=(_of_products(term, _gpus_by_ec2_name(), "EC2"),))


def _of_products(term: LabelTerm, known: Mapping[str, set[str]], cloud: str) -> str:
    unknown = [value for value in term.values if value not in known]
    if unknown or not term.values:
        raise NotTranslatable(f"no known {cloud} GPU has the label value {', '.join(unknown)}")
    names = sorted({name for value in term.values for name in known[value]})
    return _among(f"{_ATTRIBUTE}.productName", names, term.operator)


@cache
def _gpus_by_gke_type() -> Mapping[str, set[str]]:
    found: dict[str, set[str]] = {}
    for accelerator in _accelerators(names()):
        if accelerator.gke_type and accelerator.gpu:
            found.setdefault(accelerator.gke_type, set()).update(_names_of(accelerator.gpu))
    # GPUs that are attached to machine types without built-in GPUs
    for row in read_table("attachable_gpus"):
        found.setdefault(row["gke_type"], set()).update(_names_of(row["gpu"]))
    return found


@cache
def _gpus_by_ec2_name() -> Mapping[str, set[str]]:
    """Return GPUs by EC2's name in lowercase (t4, a10g, h100), which Karpenter's label contains."""
    found: dict[str, set[str]] = {}
    for accelerator in _accelerators(
        name for name in names() if cloud(name).karpenter == _KARPENTER_GROUP
    ):
        if accelerator.gpu:
            name = accelerator.model.lower().replace(" ", "-")
            found.setdefault(name, set()).update(_names_of(accelerator.gpu))
    return found


def _accelerators(clouds: Iterable[str]) -> Iterator[Accelerator]:
    return (
        machine.accelerator
        for name in clouds
        for machine in machines(name)
        if machine.accelerator is not None
    )


def _names_of(gpu_id: str) -> set[str]:
    found = gpu(gpu_id)
    return {found.product_name} if found.product_name and not found.is_virtual else set()


def _family(term: LabelTerm) -> SelectionNeeds:
    names = [_FAMILIES.get(value, value.capitalize()) for value in term.values]
    return SelectionNeeds(conditions=(_among(f"{_ATTRIBUTE}.architecture", names, term.operator),))


def _memory(term: LabelTerm) -> SelectionNeeds:
    """Convert a memory label to a condition.

    Labels of GFD and Karpenter contain MiB, but the capacity is in bytes.
    """
    signs = {"Gt": ">", "Lt": "<", "In": "=="}
    mib = number(term.values[0]) if len(term.values) == 1 else None
    if term.operator not in signs or mib is None:
        raise NotTranslatable(f"{term.key} {term.operator} must compare with one number")
    quantity = f'quantity("{mib}Mi")'
    return SelectionNeeds(
        conditions=(f"{_CAPACITY}.memory.compareTo({quantity}) {signs[term.operator]} 0",)
    )


def _compute_major(term: LabelTerm) -> SelectionNeeds:
    major = number(term.values[0]) if len(term.values) == 1 else None
    if major is None or term.operator not in ("In", "Gt", "Lt"):
        raise NotTranslatable(f"{term.key} {term.operator} must compare with one number")
    capability = f"{_ATTRIBUTE}.cudaComputeCapability"
    match term.operator:
        case "Gt":
            conditions = [_at_least(capability, major + 1)]
        case "Lt":
            conditions = [f"!({_at_least(capability, major)})"]
        case _:
            conditions = [_at_least(capability, major), f"!({_at_least(capability, major + 1)})"]
    return SelectionNeeds(conditions=tuple(conditions))


def _version_part(attribute: str, part: str) -> Callable[[LabelTerm], SelectionNeeds]:
    """Return the condition for a label that contains one part of a version."""

    def needs(term: LabelTerm) -> SelectionNeeds:
        numbers = [number(each) for each in term.values]
        version = f"{_ATTRIBUTE}.{attribute}.{part}()"
        if term.operator in ("Gt", "Lt") and len(numbers) == 1 and numbers[0] is not None:
            sign = ">" if term.operator == "Gt" else "<"
            return SelectionNeeds(conditions=(f"{version} {sign} {numbers[0]}",))
        if term.operator not in ("In", "NotIn") or not numbers or None in numbers:
            raise NotTranslatable(f"{term.key} {term.operator} must compare with numbers")
        condition = f"{version} in [{', '.join(map(str, numbers))}]"
        if len(numbers) == 1:
            condition = f"{version} == {numbers[0]}"
        return SelectionNeeds(
            conditions=(condition if term.operator == "In" else f"!({condition})",)
        )

    return needs


def _at_least(version: str, major: int) -> str:
    return f'{version}.compareTo(semver("{major}.0.0")) >= 0'


def _partition(term: LabelTerm) -> SelectionNeeds:
    if term.operator != "In" or len(term.values) != 1:
        raise NotTranslatable(f"{term.key} {term.operator} must select one partition size")
    return SelectionNeeds(profile=term.values[0])


def _sharing(term: LabelTerm) -> SelectionNeeds:
    strategies = {"time-sharing": "time-slicing", "time-slicing": "time-slicing", "mps": "mps"}
    return SelectionNeeds(
        sharing=next((strategies[value] for value in term.values if value in strategies), "")
    )


def _clients(term: LabelTerm) -> SelectionNeeds:
    counts = [count for value in term.values if (count := number(value)) is not None and count > 1]
    return SelectionNeeds(sharing="time-slicing" if counts else "", clients=min(counts, default=0))


def _mps(term: LabelTerm) -> SelectionNeeds:
    return SelectionNeeds(sharing="mps") if "true" in term.values else SelectionNeeds()


def _count(term: LabelTerm) -> SelectionNeeds:
    note = (
        f"{term.key} selects nodes by their number of GPUs, which a claim can't express; select a "
        "pool instead"
    )
    return SelectionNeeds(notes=(note,))


def _nothing(term: LabelTerm) -> SelectionNeeds:
    return SelectionNeeds()


def _among(attribute: str, values: Sequence[str], operator: str) -> str:
    if operator not in ("In", "NotIn") or not values:
        raise NotTranslatable(
            f"the operator {operator} isn't supported for {attribute.rpartition('.')[2]}"
        )
    if len(values) == 1:
        return f'{attribute} {"==" if operator == "In" else "!="} "{values[0]}"'
    listed = ", ".join(f'"{value}"' for value in values)
    condition = f"{attribute} in [{listed}]"
    return condition if operator == "In" else f"!({condition})"


_KARPENTER_GROUP: Final = "karpenter.k8s.aws"
_KARPENTER: Final = f"{_KARPENTER_GROUP}/instance-gpu-"
_MEANINGS: Final[Mapping[str, Callable[[LabelTerm], SelectionNeeds]]] = {
    "nvidia.com/gpu.product": _product,
    "nvidia.com/gpu.family": _family,
    "nvidia.com/gpu.memory": _memory,
    "nvidia.com/gpu.compute.major": _compute_major,
    "nvidia.com/cuda.driver-version.major": _version_part("driverVersion", "major"),
    "nvidia.com/cuda.driver-version.minor": _version_part("driverVersion", "minor"),
    "nvidia.com/cuda.driver.major": _version_part("driverVersion", "major"),
    "nvidia.com/cuda.driver.minor": _version_part("driverVersion", "minor"),
    "nvidia.com/cuda.runtime-version.major": _version_part("cudaDriverVersion", "major"),
    "nvidia.com/cuda.runtime-version.minor": _version_part("cudaDriverVersion", "minor"),
    "nvidia.com/cuda.runtime.major": _version_part("cudaDriverVersion", "major"),
    "nvidia.com/cuda.runtime.minor": _version_part("cudaDriverVersion", "minor"),
    "nvidia.com/gpu.count": _count,
    "nvidia.com/gpu.replicas": _clients,
    "nvidia.com/gpu.sharing-strategy": _sharing,
    "nvidia.com/mps.capable": _mps,
    "cloud.google.com/gke-accelerator": _accelerator,
    "cloud.google.com/gke-gpu-partition-size": _partition,
    "cloud.google.com/gke-gpu-sharing-strategy": _sharing,
    "cloud.google.com/gke-max-shared-clients-per-gpu": _clients,
    "cloud.google.com/gke-gpu-driver-version": _nothing,
    f"{_KARPENTER}name": _gpu_name,
    f"{_KARPENTER}manufacturer": _nothing,
    f"{_KARPENTER}memory": _memory,
    f"{_KARPENTER}count": _count,
}


def without_implied_product(needs: SelectionNeeds) -> SelectionNeeds:
    """Return needs without the GPU's name if only one GPU of GKE has partitions of this profile."""
    names = {name for types in _gpus_by_gke_type().values() for name in types}
    owners = {
        each.product_name
        for each in gpus()
        if each.product_name in names and _has_profile(each.id, needs.profile)
    }
    if len(owners) != 1:
        return needs
    return replace(
        needs, conditions=tuple(each for each in needs.conditions if ".productName" not in each)
    )


def _has_profile(gpu_id: str, profile: str) -> bool:
    return any(each.name == profile for each in mig_profiles(gpu_id))
