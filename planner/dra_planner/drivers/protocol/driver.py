"""The protocol of a device driver: all facts that the rest of the project needs. Defaults apply to
most drivers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar, Generic, TypeVar

from msgspec import Struct

from dra_planner.catalog import Accelerator, Machine
from dra_planner.clouds import Cloud
from dra_planner.documents.models import StrictDocument
from dra_planner.drivers.protocol.charts import DriverChart, chart_of
from dra_planner.drivers.protocol.device_plugin import ClaimSupport, VendorDevicePlugin
from dra_planner.drivers.protocol.tables import availability, known_classes
from dra_planner.errors import PlannerError, UnsupportedFeature
from dra_planner.model import AttributeValue, Device, DeviceClass, ResourceSlice
from dra_planner.quantity import Quantity
from dra_planner.releases import Features

_NOTHING: Mapping[str, str] = MappingProxyType({})
Options = TypeVar("Options", bound=StrictDocument)
# key below `drivers.<name>` ("version", or "" for the driver itself), and the fault
Fault = tuple[str, PlannerError]


class DriverNode(Struct, frozen=True, kw_only=True):
    """A future node with the facts that determine its published devices. `mig` is the pool's MIG
    configuration.
    """

    machine: Machine
    name: str
    features: Features
    mig: str = "none"


class ConfigFault(Struct, frozen=True):
    """The rejected part of an opaque configuration, and the fix.

    `gate` is the feature gate that the fix turns on, or "".
    """

    message: str
    fix: str
    gate: str = ""


def api_version_faults(
    title: str, parameters: Mapping[str, Any], supported: str
) -> Iterator[ConfigFault]:
    """Yield a fault if the parameters of a driver have another apiVersion than the supported one.
    `title` is the driver's name in messages.
    """
    given = parameters.get("apiVersion")
    if given != supported:
        yield ConfigFault(
            f"{title} requires an apiVersion in its parameters"
            if given in (None, "")
            else f"{title} doesn't support apiVersion {given}",
            f"set apiVersion to {supported}",
        )


class PodUse(Struct, frozen=True, kw_only=True):
    """How a pod uses a claim that requests a driver's devices.

    `containers` are the names of the containers that use it, and `capacities` are its requests of
    these devices' capacities.
    """

    claim: str
    containers: tuple[str, ...]
    capacities: tuple[Mapping[str, Quantity], ...]


class Driver(ABC, Generic[Options]):
    """A device driver, or several drivers that one chart installs.

    Its messages contain the driver and a fix.
    """

    name: ClassVar[str]  # name in a fleet (`drivers.<name>`), and name of the module
    title: ClassVar[str]  # name in messages
    domains: ClassVar[tuple[str, ...]]  # names of drivers in ResourceSlices
    options: ClassVar[type[StrictDocument]]  # type of the options in a fleet
    meaning: ClassVar[str]  # description of the fleet's key
    # plan files have contained this key since before other drivers existed
    written_when_off: ClassVar[bool] = False

    # What runs with it, and what must not run with it.
    # what the plugin's resources become in claims
    device_plugin: ClassVar[VendorDevicePlugin | None] = None
    # resource of the vendor's device plugin, and the class that replaces it
    plugin_resources: ClassVar[Mapping[str, str]] = _NOTHING
    # domains whose devices don't count as hardware
    uncounted: ClassVar[frozenset[str]] = frozenset()
    board_kind: ClassVar[str] = ""  # name of a device that can be partitioned
    # (domain, attribute): the attribute to read instead
    renamed: ClassVar[Mapping[tuple[str, str], str]] = MappingProxyType({})
    # claims belong to the pod, so containers don't have to list them
    is_network: ClassVar[bool] = False
    has_mig: ClassVar[bool] = False  # the pool's `mig` key partitions its devices
    # configuration for "gpu" doesn't reach "gpu/alternative"
    compares_whole_request_names: ClassVar[bool] = False
    # Error when a claim with only some of a node's devices is prepared, with {asked} and {there}.
    # "" if that works.
    partial_claim_error: ClassVar[str] = ""
    # fleet settings that might make pods fit, starting with the best
    proposals: ClassVar[tuple[tuple[str, ...], ...]] = ()

    @property
    def name_in_text(self) -> str:
        """Return the title with the article that it needs inside a sentence."""
        return self.title if "'s " in self.title or " " not in self.title else f"the {self.title}"

    @property
    def accepts_true(self) -> bool:
        """Return whether a fleet can set `true`, because no option is required."""
        return not any(field.is_required() for field in self.options.model_fields.values())

    @abstractmethod
    def serves(self, machine: Machine) -> bool:
        """Return whether the driver publishes devices on nodes of a machine type."""

    def serves_accelerator(self, machine: Machine) -> bool:
        """Return whether the driver publishes the accelerators of a machine type, and not only
        other devices.
        """
        return not self.is_network and self.serves(machine)

    @abstractmethod
    def slices(self, options: Options, node: DriverNode) -> tuple[ResourceSlice, ...]:
        """Return the slices that the driver publishes on a node, by pool.

        The result is empty for machine types that it doesn't serve. Raises CatalogError for a
        version or setting that can't work on the machine type, and UnsupportedFeature for a feature
        that the cloud or the Kubernetes version doesn't support.
        """

    def assumptions(self, options: Options, node: DriverNode) -> tuple[str, ...]:
        """Return the assumptions and unknown facts of `slices` as sentences."""
        return ()

    def classes(self, options: Options, cloud: Cloud, features: Features) -> Iterator[DeviceClass]:
        """Yield the DeviceClasses that exist once the driver runs on a cloud, from the table of
        classes.
        """
        for each in known_classes().values():
            if each.driver in self.domains and each.cloud in ("", cloud.name) and each.selector:
                yield each.device_class(has_extended_resource=features.extended_resource)

    def class_fault(self, name: str) -> str:
        """Return why a custom DeviceClass can't have the name of one of the driver's classes, or
        "".
        """
        return f"{self.name_in_text} already installs the DeviceClass {name}; use another name"

    def chart(self, cloud: Cloud) -> DriverChart | None:
        """Return the chart that installs the driver on a cloud, or None if a cloud runs it or the
        tables have no chart.
        """
        return chart_of(self.name, cloud.name)

    def chart_values(
        self, options: Options, cloud: Cloud, tolerations: Sequence[Mapping[str, str]]
    ) -> Mapping[str, Any]:
        """Return the chart's values for nodes with taints that these tolerations match."""
        return {}

    def faults(self, options: Options, cloud: Cloud, features: Features) -> Iterator[Fault]:
        """Yield settings that can't work in any fleet."""
        yield from self.availability_faults(cloud)

    def availability_faults(self, cloud: Cloud) -> Iterator[Fault]:
        """Yield the reason why the driver isn't available on a cloud."""
        known = availability(self.name, cloud.name)
        if known is None:
            reason = f"it's unknown whether {self.name_in_text} runs on {cloud.title}"
            yield "", UnsupportedFeature(reason, fix=f"remove drivers.{self.name}")
        elif known.runs == "no":
            reason = f"{self.name_in_text} doesn't run on {cloud.title}, because {known.reason}"
            yield "", UnsupportedFeature(reason, fix=f"remove drivers.{self.name}")

    def pool_faults(
        self, options: Options, cloud: Cloud, machine: Machine, mig: str
    ) -> Iterator[Fault]:
        """Yield settings that can't work on a pool, each with its key in the pool."""
        yield from ()

    def config_faults(
        self, domain: str, parameters: Mapping[str, Any], options: Options | None
    ) -> Iterator[ConfigFault]:
        """Yield errors in the opaque configuration of a claim or class, which the driver rejects
        when it prepares the claim.

        Without `options`, errors that depend on settings aren't reported.
        """
        yield from ()

    def pod_faults(self, use: PodUse, features: Features) -> Iterator[ConfigFault]:
        """Yield the reasons why a pod never starts although its claim can be allocated."""
        yield from ()

    def claim_support(self, options: Options, cloud: Cloud) -> ClaimSupport:
        """Return how claims get devices on a cloud."""
        return ClaimSupport()

    def divides_claim(self, parameters: Mapping[str, Any]) -> bool:
        """Return whether an opaque configuration lets the pods of one claim share its devices.

        Pods with their own claims don't share devices.
        """
        return False

    def has_racks(self, options: Options) -> bool:
        """Return whether the driver publishes devices that connect the nodes of one rack."""
        return False

    def accelerator(self, devices: Sequence[Device]) -> Accelerator | None:
        """Return the accelerator of an unknown machine type, according to its devices.

        The labels and taints of nodes depend on the accelerator. Returns None if it doesn't affect
        them.
        """
        return None

    def kind(self, domain: str, attributes: Mapping[str, AttributeValue]) -> str:
        """Return the common name of such a device, for example "GPU" or "NIC"."""
        return f"device of {domain}"

    def board(self, device: Device) -> str:
        """Return the name of the device that contains this device, or "" for a whole device."""
        return ""

    def no_machine(self, region: str, classes: Collection[str]) -> str:
        """Return the message that no machine type in a region fits a pod that requests these
        DeviceClasses. Returns "" if the search doesn't try all machine types of the driver.
        """
        return ""
