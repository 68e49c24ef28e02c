"""Map public parameters with the IDs of EKS node images to the images' names in the EKS API.

Sources: Amazon EKS user guide, "Retrieve recommended Amazon Linux AMI IDs" and "Retrieve
recommended Bottlerocket AMI IDs".
"""

from __future__ import annotations

import re
from typing import Final

_AMAZON_LINUX: Final = re.compile(
    r"/aws/service/eks/optimized-ami/[^/]+/amazon-linux-2023/(x86_64|arm64)/(standard|nvidia|neuron)/"
)
_BOTTLEROCKET: Final = re.compile(
    r"/aws/service/bottlerocket/aws-k8s-[0-9.]+(-nvidia)?(-fips)?/(x86_64|arm64)/"
)
_ARCHITECTURES: Final = {"x86_64": "x86_64", "arm64": "ARM_64"}


def image_of_parameter(name: str) -> str | None:
    """Return the image that a parameter names, as in the EKS API, or None for other parameters."""
    if found := _AMAZON_LINUX.search(name):
        return f"AL2023_{_ARCHITECTURES[found[1]]}_{found[2].upper()}"
    if found := _BOTTLEROCKET.search(name):
        parts = ("_NVIDIA" if found[1] else "", "_FIPS" if found[2] else "")
        return f"BOTTLEROCKET_{_ARCHITECTURES[found[3]]}{''.join(parts)}"
    return None
