"""The EKS image of a node, selected by processor, GPUs, and image version."""

import re

from dra_planner import catalog
from dra_planner.catalog import Machine
from dra_planner.catalog.dated_facts import fact
from dra_planner.catalog.image_releases import image_release_fault
from dra_planner.clouds.eks import CLOUD
from dra_planner.errors import CatalogError
from pulumi_dra.inputs.reader import InputReader

_SEEN = fact("eks-image")
NEWEST_IMAGE = _SEEN.newest if _SEEN is not None else ""
"""The newest known EKS image version, to which Karpenter's pools are pinned."""


def architecture_of(machine: str) -> str:
    """Return amd64 or arm64 for an EC2 machine type, from the catalog or by its name (m7g, c8gn:
    Graviton).
    """
    if known := known_machine(machine):
        return known.arch
    return "arm64" if re.match(r"(?:a1|[a-z]+\d+g[a-z]*)\.", machine) else "amd64"


def known_machine(machine: str) -> Machine | None:
    """Return an EC2 machine type's catalog entry, or None if it has none."""
    try:
        return catalog.machine(CLOUD.name, machine)
    except CatalogError:
        return None


def gpu_image(architecture: str) -> str:
    """Return the AMI type of GPU nodes: Amazon Linux 2023 with the NVIDIA driver and without device
    plugin.
    """
    return CLOUD.gpu_images[architecture]


def system_image(architecture: str) -> str:
    """Return the AMI type of nodes without GPUs."""
    return CLOUD.system_images[architecture]


def read_release(read: InputReader, machine: str) -> str:
    """Return `release_version`, an EKS image version. It's rejected if the machine type doesn't
    work with it.
    """
    return read.text(
        "release_version",
        pattern=r"\d+\.\d+\.\d+-\d{8}",
        meaning="an image release such as 1.34.2-20260115",
        check=lambda release: image_release_fault(CLOUD.name, machine, release),
    )
