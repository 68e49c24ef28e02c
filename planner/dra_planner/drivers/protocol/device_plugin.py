"""The vendor's device plugin, which a driver takes the place of: what its resource names stand for,
and in claims.

A workload alone doesn't say what a unit of an extended resource is: `nvidia.com/gpu: 1` is a GPU,
one of N replicas, a tenth under MPS, or a MIG device. Node labels, the plugin's configuration, or
the user say it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from dra_planner.catalog import Machine
from dra_planner.clouds import PluginServing


@dataclass(frozen=True, slots=True, kw_only=True)
class Counterpart:
    """The devices of a claim that stand for one unit of an extended resource.

    `conditions` are CEL expressions about one device, all of which must hold. `capacity` is what a
    request takes of a device that several claims share; empty for whole devices. `noun` names the
    devices in names of claims. `toleration` is the key of the taint of nodes with these devices, ""
    if their pools have none.
    """

    device_class: str
    conditions: tuple[str, ...] = ()
    capacity: Mapping[str, str] = field(default_factory=dict, hash=False)
    noun: str = "gpu"
    toleration: str = ""

    def request(self, name: str, count: int) -> dict[str, Any]:
        """Return the request of `count` such devices, in API form."""
        exactly: dict[str, Any] = {"deviceClassName": self.device_class}
        if count != 1:
            exactly["count"] = count
        if self.conditions:
            expression = " && ".join(self.conditions)
            exactly["selectors"] = [{"cel": {"expression": expression}}]
        if self.capacity:
            exactly["capacity"] = {"requests": dict(self.capacity)}
        return {"name": name, "exactly": exactly}


@dataclass(frozen=True, slots=True)
class NoCounterpart:
    """Why no claim can stand for an extended resource, and what to do instead, the best first."""

    reason: str
    alternatives: tuple[str, ...] = ()


class NotTranslatable(Exception):
    """A condition on node labels that no condition on devices can stand for; the message says
    why.
    """


@dataclass(frozen=True, slots=True)
class LabelTerm:
    """A condition on one node label, as node affinity writes it."""

    key: str
    operator: str = "In"
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectionNeeds:
    """What a pod's node selection says about devices, apart from what it says about nodes.

    `conditions` are CEL expressions that devices must meet. `profile` is a partition's profile,
    `sharing` a strategy (`time-slicing` or `mps`) if the labels demand shared devices, with
    `clients` per device (0 if unknown).
    """

    conditions: tuple[str, ...] = ()
    profile: str = ""
    sharing: str = ""
    clients: int = 0
    notes: tuple[str, ...] = ()

    def joined(self, other: SelectionNeeds) -> SelectionNeeds:
        """Return both needs together; those of `other` count where this one says nothing."""
        new = tuple(each for each in other.conditions if each not in self.conditions)
        return SelectionNeeds(
            conditions=(*self.conditions, *new),
            profile=self.profile or other.profile,
            sharing=self.sharing or other.sharing,
            clients=self.clients or other.clients,
            notes=(*self.notes, *other.notes),
        )


@dataclass(frozen=True, slots=True)
class DeviceSharing:
    """How one device is handed out several times: `time-slicing` or `mps`, into how many units (0:
    unknown).
    """

    strategy: str
    replicas: int
    source: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginFacts:
    """Facts about the device plugins of the source cluster.

    `shared` maps a resource name to its sharing. `by_config` does so for each named configuration
    of the plugin. `partition` is the profile that a whole device's name stands for, "" if it stands
    for whole devices. `is_known` is false if no input says anything, so that whole devices are an
    assumption.
    """

    shared: Mapping[str, DeviceSharing] = field(default_factory=dict)
    by_config: Mapping[str, Mapping[str, DeviceSharing]] = field(default_factory=dict)
    partition: str = ""
    is_known: bool = False

    def joined(self, other: PluginFacts) -> PluginFacts:
        """Return both together; those of `other` take precedence."""
        return PluginFacts(
            shared={**self.shared, **other.shared},
            by_config={**self.by_config, **other.by_config},
            partition=other.partition or self.partition,
            is_known=self.is_known or other.is_known,
        )


class VendorDevicePlugin(ABC):
    """A vendor's device plugin."""

    # a fleet can install it, and `units` knows its resources
    is_installable: ClassVar[bool] = False

    @abstractmethod
    def serves(self, resource: str) -> bool:
        """Whether the plugin may serve an extended resource of this name."""

    @abstractmethod
    def counterpart(
        self,
        resource: str,
        count: int,
        needs: SelectionNeeds,
        labels: Mapping[str, str],
        facts: PluginFacts,
        shares: str,
    ) -> Counterpart | NoCounterpart:
        """Return what a claim requests instead of `count` units of a resource.

        `labels` are those that the pod's node selector names. `shares` is how the driver lets
        several claims share a device in the target cluster: "" for not at all, a number of shares,
        or a word of the driver.
        """

    @abstractmethod
    def class_of(self, resource: str, facts: PluginFacts) -> str:
        """Return the DeviceClass whose devices take the place of a resource in quotas; "" if there
        is none.
        """

    def knows_label(self, key: str) -> bool:
        """Whether a node label is about devices, so that it may be missing on nodes without the
        plugin.
        """
        return False

    def needs_of(self, term: LabelTerm) -> SelectionNeeds:
        """Return what a condition on a label that the plugin knows demands of devices. Raises
        NotTranslatable.
        """
        raise NotTranslatable(
            f"the node label {term.key} has no counterpart among the attributes of devices"
        )

    def facts_of(self, kind: str, name: str, data: Mapping[str, Any]) -> PluginFacts | None:
        """Return what an object of the source cluster says about the plugin; None if it says
        nothing.
        """
        return None

    def operator_notes(
        self, objects: Iterable[tuple[str, str, str, Mapping[str, Any]]]
    ) -> Iterator[str]:
        """Yield what objects of the vendor's operator mean for a migration.

        Each object is given as its version, kind, name, and data.
        """
        yield from ()

    def units(self, machine: Machine, plugin: PluginServing) -> Mapping[str, int]:
        """Return the extended resources that the plugin advertises on a node, with their amounts.

        Empty if this isn't known. Raises CatalogError for a MIG configuration that the machine type
        can't have.
        """
        return {}

    def discovered_labels(self, machine: Machine, plugin: PluginServing) -> Mapping[str, str]:
        """Return the labels that the vendor's feature discovery sets on a node, as far as they are
        known before.
        """
        return {}

    def serving_faults(self, machine: Machine, plugin: PluginServing) -> Iterator[tuple[str, str]]:
        """Yield what the plugin rejects, by the key of the fleet's pool."""
        yield from ()


@dataclass(frozen=True, slots=True)
class WholeDevices(VendorDevicePlugin):
    """A device plugin each of whose units is one device that the driver publishes too."""

    resources: tuple[str, ...]
    device_class: str

    def serves(self, resource: str) -> bool:
        return resource in self.resources

    def counterpart(
        self,
        resource: str,
        count: int,
        needs: SelectionNeeds,
        labels: Mapping[str, str],
        facts: PluginFacts,
        shares: str,
    ) -> Counterpart | NoCounterpart:
        return Counterpart(device_class=self.device_class)

    def class_of(self, resource: str, facts: PluginFacts) -> str:
        return self.device_class if resource in self.resources else ""


@dataclass(frozen=True, slots=True)
class NoDirectCounterpart(VendorDevicePlugin):
    """A device plugin whose units no request of a claim stands for, with the reason."""

    resources: tuple[str, ...]
    reason: str

    def serves(self, resource: str) -> bool:
        return resource in self.resources

    def counterpart(
        self,
        resource: str,
        count: int,
        needs: SelectionNeeds,
        labels: Mapping[str, str],
        facts: PluginFacts,
        shares: str,
    ) -> Counterpart | NoCounterpart:
        return NoCounterpart(self.reason, ("Keep the pods on the device plugin's pool",))

    def class_of(self, resource: str, facts: PluginFacts) -> str:
        return ""
