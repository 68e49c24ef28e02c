"""MIG configurations that AKS can create, and sizes of pools with GPUs."""

from __future__ import annotations

import re

from dra_planner.catalog import Machine
from dra_planner.clouds.protocol.settings import PoolSettings

# learn.microsoft.com/azure/aks/gpu-multi-instance: AKS accepts these profiles, and applies the same
# profile to every GPU of a pool.
INSTANCE_PROFILES = ("MIG1g", "MIG2g", "MIG3g", "MIG4g", "MIG7g")


_ONE_PROFILE = re.compile(r"all-(?P<slices>[12347])g\.(?P<memory>\d+)gb")


def instance_profile(mig: str) -> str:
    """Return the AKS name of a MIG configuration (MIG1g for all-1g.10gb), or "" if it has none."""
    found = _ONE_PROFILE.fullmatch(mig)
    return f"MIG{found['slices']}g" if found else ""


_SLICES_OF_A_GPU = 7


def partition_fault(pool: PoolSettings) -> str:
    """Return why AKS can't partition the GPUs of a pool in this way, or "".

    MIG1g is the profile with the least memory.
    """
    found = _ONE_PROFILE.fullmatch(pool.mig)
    if found is None:
        return (
            "AKS supports only one MIG profile for all GPUs in a pool (for example, "
            f'all-1g.10gb), so mig can\'t be "{pool.mig}"'
        )
    accelerator = pool.machine.accelerator if pool.machine else None
    memory = accelerator.nominal_memory_gb if accelerator else None
    if found["slices"] == "1" and memory and int(found["memory"]) > memory / _SLICES_OF_A_GPU:
        return (
            "on AKS, MIG1g creates the GPU's smallest profile, not "
            f"{pool.mig.removeprefix('all-')}; use the smallest profile or a 2g profile"
        )
    return ""


def machine_fault(machine: Machine) -> str:
    """Return why a DRA pool can't use a VM size, or "" if it can."""
    accelerator = machine.accelerator
    has_gpus = accelerator is not None and accelerator.vendor == "nvidia"
    if has_gpus and machine.driver_kind == "none":
        return f"AKS doesn't install a GPU driver on {machine.name}; use another size"
    return (
        ""
        if has_gpus
        else (
            f"{machine.name} doesn't have an NVIDIA GPU; use a machine type with GPUs, for "
            "example Standard_NC4as_T4_v3"
        )
    )
