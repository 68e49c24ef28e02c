"""Devices of the ComputeDomain plugin: one channel and one daemon on each of its nodes.

Source:
kubernetes-sigs/dra-driver-nvidia-gpu:cmd/compute-domain-kubelet-plugin/{deviceinfo,driver}.go@95932046.
"""

from __future__ import annotations

from dra_planner.model import Device

COMPUTE_DOMAIN_DRIVER = "compute-domain.nvidia.com"


def compute_domain_devices() -> tuple[Device, ...]:
    """Return the devices of a node, which don't depend on its GPUs."""
    return tuple(
        Device(name=f"{kind}-0", attributes={"type": kind, "id": 0})
        for kind in ("channel", "daemon")
    )
