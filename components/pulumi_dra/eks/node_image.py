"""Which EKS image a node boots: by processor and by whether it has GPUs."""

import re

from dra_planner import catalog
from dra_planner.errors import CatalogError

GPU_IMAGES = {"amd64": "AL2023_x86_64_NVIDIA", "arm64": "AL2023_ARM_64_NVIDIA"}
SYSTEM_IMAGES = {"amd64": "AL2023_x86_64_STANDARD", "arm64": "AL2023_ARM_64_STANDARD"}

BOTTLEROCKET_REFUSAL = (
    "Bottlerocket is not supported with DRA here: its NVIDIA images bundle the device plugin, which would hand out "
    "the same GPUs a second time; use al2023"
)


def architecture_of(machine: str) -> str:
    """Return amd64 or arm64 for an EC2 machine type: from the catalogue, else by its name (m7g, c8gn: Graviton)."""
    try:
        return catalog.machine("eks", machine).arch
    except CatalogError:
        return "arm64" if re.match(r"(?:a1|[a-z]+\d+g[a-z]*)\.", machine) else "amd64"


def gpu_image(architecture: str) -> str:
    """Return the AMI type of GPU nodes: Amazon Linux 2023 with the NVIDIA driver and without device plugin."""
    return GPU_IMAGES[architecture]


def system_image(architecture: str) -> str:
    """Return the AMI type of nodes without GPUs."""
    return SYSTEM_IMAGES[architecture]
