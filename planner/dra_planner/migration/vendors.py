"""Which extended resources stand for devices, and what a claim requests instead, by vendor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from dra_planner.migration.devices import Counterpart, NoCounterpart, NodeNeeds
from dra_planner.migration.nvidia import is_nvidia, nvidia_class, nvidia_counterpart
from dra_planner.migration.plugin_facts import PluginFacts
from dra_planner.migration.target import Target

_WHOLE_DEVICES: Final = {"amd.com/gpu": "gpu.amd.com", "rebellions.ai/npu": "npu.rebellions.ai"}
"""Classes whose drivers publish one device for each unit of the resource.

Source: ROCm/k8s-gpu-dra-driver:deviceclass.yaml@b52b585; rebellions-sw/rbln-k8s-dra-driver@dd9af1b.
"""
_ALL_OF_A_NODE: Final = {
    "google.com/tpu": "the TPU driver allocates all TPU chips of a node to one claim",
    "aws.amazon.com/neuron": "the devices of a Neuron claim must be connected, which the class's attributes express",
    "aws.amazon.com/neuroncore": "the Neuron DRA driver allocates devices, not cores",
}


def is_device(resource: str) -> bool:
    """Return whether an extended resource stands for devices of a vendor whose driver is known."""
    return is_nvidia(resource) or resource in _WHOLE_DEVICES or resource in _ALL_OF_A_NODE


def counterpart(
    resource: str, count: int, needs: NodeNeeds, labels: Mapping[str, str], facts: PluginFacts, target: Target
) -> Counterpart | NoCounterpart:
    """Return what a claim requests instead of `count` units of a resource on nodes with these labels and needs."""
    if is_nvidia(resource):
        return nvidia_counterpart(resource, count, needs, labels, facts, target)
    if resource in _WHOLE_DEVICES:
        return Counterpart(device_class=_WHOLE_DEVICES[resource])
    return NoCounterpart(_ALL_OF_A_NODE[resource], ("Keep the pods on the device plugin's pool",), stays=True)


def class_of(resource: str, facts: PluginFacts) -> str:
    """Return the DeviceClass whose devices take the place of a resource in quotas; "" if there is none."""
    if resource in _WHOLE_DEVICES:
        return _WHOLE_DEVICES[resource]
    return nvidia_class(resource, facts) if is_nvidia(resource) else ""
