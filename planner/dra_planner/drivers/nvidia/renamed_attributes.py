"""Attributes that versions of the NVIDIA driver have renamed or dropped.

Source: kubernetes-sigs/dra-driver-nvidia-gpu:cmd/gpu-kubelet-plugin/deviceinfo.go at v25.3.2,
v25.8.1, v25.12.0.
"""

from __future__ import annotations

from typing import Final

RENAMED: Final[dict[tuple[str, str], str]] = {
    (
        "gpu.nvidia.com",
        "pcieBusID",
    ): "driver versions 25.12 and later publish "
    'device.attributes["resource.kubernetes.io"].pciBusID '
    "instead",
    (
        "gpu.nvidia.com",
        "pcieRoot",
    ): 'the driver publishes device.attributes["resource.kubernetes.io"].pcieRoot',
    ("gpu.nvidia.com", "memory"): 'the driver publishes device.capacity["gpu.nvidia.com"].memory',
    (
        "gpu.nvidia.com",
        "index",
    ): 'driver version 25.8 removed the attribute "index"',
    (
        "gpu.nvidia.com",
        "minor",
    ): 'driver version 25.8 removed the attribute "minor"',
}
"""Attributes by domain and name, with their replacements."""
