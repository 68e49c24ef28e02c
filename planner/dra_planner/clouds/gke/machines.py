"""Machine types of GKE: attached GPUs, and zones for accelerators."""

from __future__ import annotations

import re

from dra_planner.catalog import Machine

GPU_EXAMPLE = "use a machine type with GPUs, or attach GPUs: n1-standard-8+nvidia-tesla-t4:1"


def attachment(machine: Machine) -> tuple[str, int] | None:
    """Return the type and number of a machine type's NVIDIA GPUs in the form of a node pool, or
    None without GPUs.
    """
    accelerator = machine.accelerator
    if (
        accelerator is None
        or accelerator.vendor != "nvidia"
        or not accelerator.gke_type
        or not accelerator.count
    ):
        return None
    return accelerator.gke_type, accelerator.count


def is_for_accelerators(zone: str) -> bool:
    """Return whether a zone is an AI zone such as us-central1-ai1a.

    Google lists AI zones among a region's other zones. Source: googleapis/google-cloud-go issue
    13734.
    """
    return re.fullmatch(r".*-ai\d+[a-z]", zone) is not None
