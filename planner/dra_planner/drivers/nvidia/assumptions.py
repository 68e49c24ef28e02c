"""Assumptions of a prediction, as sentences: facts without a source, and choices that are made only
on the node.
"""

from __future__ import annotations

from dra_planner.catalog import Machine, gpu_places
from dra_planner.clouds import WHOLE
from dra_planner.drivers.nvidia.gpus import MigProfile, gpu
from dra_planner.drivers.nvidia.mig import mig_layout
from dra_planner.drivers.nvidia.partitions import whole_beside_partitions
from dra_planner.drivers.nvidia.releases import DriverRelease
from dra_planner.drivers.nvidia.settings import PublishingSettings

_DEFAULTS = PublishingSettings()
_FACTS = {
    "product_name": "productName",
    "brand": "brand",
    "architecture": "architecture",
    "cuda_compute_capability": "cudaComputeCapability",
    "memory_mib": "memory",
}


def slice_assumptions(
    machine: Machine,
    driver: DriverRelease,
    *,
    mig: str = "none",
    settings: PublishingSettings = _DEFAULTS,
) -> tuple[str, ...]:
    """Return the assumptions and unknown facts of `predict_slices` for such a node.

    The result is empty without NVIDIA GPUs.
    """
    if machine.accelerator is None or machine.accelerator.gpu is None:
        return ()
    model = gpu(machine.accelerator.gpu)
    name = model.product_name or model.id
    is_share = machine.accelerator.fraction is not None and not model.is_virtual
    missing = [attribute for column, attribute in _FACTS.items() if getattr(model, column) is None]
    if is_share:
        missing = ["productName", "brand", "memory"]
    sentences: list[str] = []
    if missing:
        sentences.append(f"{machine.name}: unknown values of its GPUs: {', '.join(missing)}")
    if model.provenance.confidence == "derived":
        sentences.append(
            f"{name}: no published ResourceSlice for this GPU is known, so its attributes "
            "come from other sources"
        )
    if machine.gpu_count > 1 and all(place.pcie_root is None for place in gpu_places(machine)):
        sentences.append(f"{machine.name}: it's unknown which of its GPUs share a PCIe root")
    if driver.known_as:
        sentences.append(
            f"NVIDIA DRA driver {driver.version} isn't in the tables, so the plan uses the data "
            f"of {driver.known_as}, the newest known patch version"
        )
    if driver.provenance.confidence == "derived":
        sentences.append(
            f"NVIDIA DRA driver {driver.version}: the facts about this version come from the "
            "repository's default branch shortly before the release"
        )
    sentences.extend(_partition_sentences(machine, driver, mig, settings))
    if settings.compute_domains:
        sentences.append(
            f"{machine.name}: the plan assumes that the ComputeDomain plugin runs (it needs GPU "
            "driver 570.158.01 or later and the device nvidia-caps-imex-channels)"
        )
    if settings.has("PassthroughSupport", driver):
        sentences.append(
            "the driver publishes both a GPU and its VFIO device, and only the driver (not "
            "the scheduler) prevents the use of both"
        )
    return tuple(sentences)


def _partition_sentences(
    machine: Machine, driver: DriverRelease, mig: str, settings: PublishingSettings
) -> list[str]:
    """Return the assumptions about MIG: its feature gate, its configuration, and the memory of
    instances.
    """
    if machine.accelerator is None or machine.accelerator.gpu is None:
        return []
    model = gpu(machine.accelerator.gpu)
    name = model.product_name or model.id
    sentences: list[str] = []
    has_gate = settings.has("DynamicMIG", driver) and model.mig_capable
    dynamic = has_gate and whole_beside_partitions(model, driver, mig) is not None
    if has_gate and not dynamic:
        sentences.append(
            f"{name}: DynamicMIG is on, but the driver publishes only whole GPUs, because "
            "this model needs MIG mode before the driver starts (mig: all-enabled)"
        )
    elif dynamic:
        sentences.append(f"{name}: the driver publishes MIG partitions, because DynamicMIG is on")
    elif mig not in WHOLE:
        sentences.extend(_layout_sentences(machine, mig, name))
    if dynamic or mig not in WHOLE:
        sentences.append(
            f"{name}: the memory of MIG instances differs by up to 0.25 GiB between GPU driver "
            "branches"
        )
    return sentences


def _layout_sentences(machine: Machine, mig: str, name: str) -> list[str]:
    instances = [instance for geometry in mig_layout(machine, mig) for instance in geometry or ()]
    profiles = {instance.profile: None for instance in instances}
    sentences = [
        (f"the plan assumes that the MIG instances in {mig} exist before the driver starts")
    ]
    unknown = [profile.name for profile in profiles if _is_incomplete(profile)]
    if unknown:
        sentences.append(f"{name}: some properties of {', '.join(unknown)} are unknown")
    return sentences


def _is_incomplete(profile: MigProfile) -> bool:
    return (
        profile.memory_mib is None
        or profile.multiprocessors is None
        or profile.gi_profile_id is None
    )
