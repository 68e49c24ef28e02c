"""The vendor's device plugin that a driver replaces: the meaning of its resource names, and the
equivalent claims.

A workload doesn't determine the unit of an extended resource: `nvidia.com/gpu: 1` can be a GPU, one
of N replicas, a tenth of a GPU under MPS, or a MIG device. Node labels, the plugin's configuration,
or the user's input determine the unit.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar

from msgspec import Struct

from dra_planner.catalog import Machine
from dra_planner.clouds import PluginServing
from dra_planner.records import equality


@equality(unhashed=("capacity",))
class Counterpart(Struct, frozen=True, kw_only=True):
    """The devices of a claim that are equivalent to one unit of an extended resource.

    `conditions` are CEL expressions about one device, all of which must be true. `capacity` is the
    requested part of a shared device (empty for whole devices). `noun` names the devices in names
    of claims. `toleration` is the key of the taint on nodes with these devices ("" if their pools
    don't have a taint).
    """

    device_class: str
    conditions: tuple[str, ...] = ()
    capacity: Mapping[str, str] = {}
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


class NoCounterpart(Struct, frozen=True):
    """The reason why no claim is equivalent to an extended resource, and alternatives, starting
    with the best.
    """

    reason: str
    alternatives: tuple[str, ...] = ()


class NotTranslatable(Exception):
    """A condition on node labels without an equivalent condition on devices. The message explains
    why.
    """


class LabelTerm(Struct, frozen=True):
    """A condition on one node label in the form of node affinity."""

    key: str
    operator: str = "In"
    values: tuple[str, ...] = ()


class SelectionNeeds(Struct, frozen=True, kw_only=True):
    """Requirements for devices in a pod's node selection.

    `conditions` are CEL expressions that devices must meet. `profile` is a partition's profile.
    `sharing` is a strategy (`time-slicing` or `mps`) if the labels require shared devices, with
    `clients` per device (0 if unknown).
    """

    conditions: tuple[str, ...] = ()
    profile: str = ""
    sharing: str = ""
    clients: int = 0
    notes: tuple[str, ...] = ()

    def joined(self, other: SelectionNeeds) -> SelectionNeeds:
        """Return both needs combined. `other` provides the values that aren't set here."""
        new = tuple(each for each in other.conditions if each not in self.conditions)
        return SelectionNeeds(
            conditions=(*self.conditions, *new),
            profile=self.profile or other.profile,
            sharing=self.sharing or other.sharing,
            clients=self.clients or other.clients,
            notes=(*self.notes, *other.notes),
        )


class DeviceSharing(Struct, frozen=True):
    """Sharing of one device: `time-slicing` or `mps`, and the number of units (0 if unknown)."""

    strategy: str
    replicas: int
    source: str = ""


class PluginFacts(Struct, frozen=True, kw_only=True):
    """Facts about the device plugins of the source cluster.

    `shared` maps a resource name to its sharing. `by_config` does the same for each named
    configuration of the plugin. `partition` is the profile that the name of whole devices means (""
    if it means whole devices). `is_known` is false if no input contains facts, so whole devices are
    an assumption.
    """

    shared: Mapping[str, DeviceSharing] = {}
    by_config: Mapping[str, Mapping[str, DeviceSharing]] = {}
    partition: str = ""
    is_known: bool = False

    def joined(self, other: PluginFacts) -> PluginFacts:
        """Return the combined facts. `other` takes precedence."""
        return PluginFacts(
            shared={**self.shared, **other.shared},
            by_config={**self.by_config, **other.by_config},
            partition=other.partition or self.partition,
            is_known=self.is_known or other.is_known,
        )


class ClaimSupport(Struct, frozen=True, kw_only=True):
    """How claims get devices in a cluster.

    `shares` is how claims share a device: "" (no sharing), `memory`, `unlimited`, or a number of
    shares. `unsupported_gates` are the driver's feature gates that the cloud doesn't support.
    `no_partitions` is the reason why claims can't get partitions such as MIG devices, or "".
    """

    shares: str = ""
    unsupported_gates: tuple[str, ...] = ()
    no_partitions: str = ""


class VendorDevicePlugin(ABC):
    """A vendor's device plugin."""

    # whether a fleet can install the plugin, so `units` returns its resources
    is_installable: ClassVar[bool] = False

    @abstractmethod
    def serves(self, resource: str) -> bool:
        """Return whether the plugin might serve an extended resource with this name."""

    def counts_devices(self, resource: str) -> bool:
        """Return whether an extended resource that the plugin might serve counts its devices."""
        return self.serves(resource)

    @abstractmethod
    def counterpart(
        self,
        resource: str,
        count: int,
        needs: SelectionNeeds,
        labels: Mapping[str, str],
        facts: PluginFacts,
        support: ClaimSupport,
    ) -> Counterpart | NoCounterpart:
        """Return the claim's request that replaces `count` units of a resource.

        `labels` are the labels in the pod's node selector. `support` describes the target
        cluster.
        """

    @abstractmethod
    def class_of(self, resource: str, facts: PluginFacts) -> str:
        """Return the DeviceClass that replaces a resource in quotas, or "" if there is none."""

    def knows_label(self, key: str) -> bool:
        """Return whether a node label concerns devices, so that nodes without the plugin might not
        have it.
        """
        return False

    def needs_of(self, term: LabelTerm) -> SelectionNeeds:
        """Return the requirements for devices in a condition on a label of the plugin. Raises
        NotTranslatable.
        """
        raise NotTranslatable(f"the node label {term.key} doesn't correspond to a device attribute")

    def facts_of(self, kind: str, name: str, data: Mapping[str, Any]) -> PluginFacts | None:
        """Return the facts about the plugin in an object of the source cluster, or None."""
        return None

    def operator_notes(
        self, objects: Iterable[tuple[str, str, str, Mapping[str, Any]]]
    ) -> Iterator[str]:
        """Yield the effects of the vendor's operator objects on a migration.

        Each object is given as its version, kind, name, and data.
        """
        yield from ()

    def units(self, machine: Machine, plugin: PluginServing) -> Mapping[str, int]:
        """Return the extended resources that the plugin advertises on a node, with their amounts.

        The result is empty if they are unknown. Raises CatalogError for a MIG configuration that
        the machine type can't have.
        """
        return {}

    def discovered_labels(self, machine: Machine, plugin: PluginServing) -> Mapping[str, str]:
        """Return the labels that the vendor's feature discovery sets on a node, if they are known
        in advance.
        """
        return {}

    def serving_faults(self, machine: Machine, plugin: PluginServing) -> Iterator[tuple[str, str]]:
        """Yield the settings that the plugin rejects, each with its key in the fleet's pool."""
        yield from ()


class WholeDevices(VendorDevicePlugin):
    """A device plugin whose units are devices that the driver also publishes."""

    def __init__(self, resources: tuple[str, ...], device_class: str) -> None:
        self.resources = resources
        self.device_class = device_class

    def serves(self, resource: str) -> bool:
        return resource in self.resources

    def counterpart(
        self,
        resource: str,
        count: int,
        needs: SelectionNeeds,
        labels: Mapping[str, str],
        facts: PluginFacts,
        support: ClaimSupport,
    ) -> Counterpart | NoCounterpart:
        return Counterpart(device_class=self.device_class)

    def class_of(self, resource: str, facts: PluginFacts) -> str:
        return self.device_class if resource in self.resources else ""


class NoDirectCounterpart(VendorDevicePlugin):
    """A device plugin whose units don't have an equivalent claim request, with the reason."""

    def __init__(self, resources: tuple[str, ...], reason: str) -> None:
        self.resources = resources
        self.reason = reason

    def serves(self, resource: str) -> bool:
        return resource in self.resources

    def counterpart(
        self,
        resource: str,
        count: int,
        needs: SelectionNeeds,
        labels: Mapping[str, str],
        facts: PluginFacts,
        support: ClaimSupport,
    ) -> Counterpart | NoCounterpart:
        return NoCounterpart(self.reason, ("Keep the pods on the device plugin's pool",))

    def class_of(self, resource: str, facts: PluginFacts) -> str:
        return ""
