"""NVIDIA's device plugin: the meaning of its resources, its node labels, and its configuration."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from dra_planner.catalog import Machine
from dra_planner.clouds import PluginServing
from dra_planner.drivers.nvidia.device_plugin import counterparts, facts, labels, operator, serving
from dra_planner.drivers.protocol.device_plugin import (
    ClaimSupport,
    Counterpart,
    LabelTerm,
    NoCounterpart,
    PluginFacts,
    SelectionNeeds,
    VendorDevicePlugin,
)


class NvidiaDevicePlugin(VendorDevicePlugin):
    """NVIDIA's device plugin, with GPU feature discovery."""

    is_installable = True

    def serves(self, resource: str) -> bool:
        return resource.startswith("nvidia.com/")

    def counts_devices(self, resource: str) -> bool:
        return counterparts.counts_gpus(resource)

    def counterpart(
        self,
        resource: str,
        count: int,
        needs: SelectionNeeds,
        labels: Mapping[str, str],
        facts: PluginFacts,
        support: ClaimSupport,
    ) -> Counterpart | NoCounterpart:
        return counterparts.nvidia_counterpart(resource, count, needs, labels, facts, support)

    def class_of(self, resource: str, facts: PluginFacts) -> str:
        return counterparts.nvidia_class(resource, facts)

    def knows_label(self, key: str) -> bool:
        return labels.is_about_devices(key)

    def needs_of(self, term: LabelTerm) -> SelectionNeeds:
        return labels.needs_of(term)

    def facts_of(self, kind: str, name: str, data: Mapping[str, Any]) -> PluginFacts | None:
        return facts.facts_of(kind, name, data)

    def operator_notes(
        self, objects: Iterable[tuple[str, str, str, Mapping[str, Any]]]
    ) -> Iterator[str]:
        return operator.operator_notes(objects)

    def units(self, machine: Machine, plugin: PluginServing) -> Mapping[str, int]:
        return serving.nvidia_units(machine, plugin)

    def discovered_labels(self, machine: Machine, plugin: PluginServing) -> Mapping[str, str]:
        return serving.nvidia_labels(machine, plugin)

    def serving_faults(self, machine: Machine, plugin: PluginServing) -> Iterator[tuple[str, str]]:
        return serving.nvidia_serving_faults(machine, plugin)
