"""Machine types that a fleet has learned from running nodes: the devices that their drivers
publish, and the size of the machine types.

`pulumi-dra catalog add` writes these rows; they take precedence over the tables of this package.
"""

from typing import Any, Literal

from msgspec.structs import replace
from pydantic import Field, model_validator

from dra_planner.catalog import Accelerator, Machine
from dra_planner.catalog.tables import Provenance
from dra_planner.documents.models import StrictDocument, empty_list, empty_mapping
from dra_planner.drivers import driver_of
from dra_planner.drivers.protocol.tables import device_class
from dra_planner.fleet.value_types import QuantityText
from dra_planner.model import (
    AttributeValue,
    CounterConsumption,
    CounterSet,
    Device,
    DeviceCapacity,
    DeviceClass,
    RequestPolicy,
    ResourceSlice,
    Unknown,
    ValidRange,
    Version,
)
from dra_planner.quantity import Quantity

_MIB = 1024 * 1024
_NODE = "node"


class LearnedValue(StrictDocument):
    """The value of an attribute, or the known facts about the value. Set exactly one key."""

    string: str | None = Field(default=None, description="A string.")
    int_: int | None = Field(default=None, alias="int", description="A number.")
    bool_: bool | None = Field(default=None, alias="bool", description="true or false.")
    version: str | None = Field(default=None, description="A semantic version.")
    strings: list[str] | None = Field(default=None, description="Multiple strings.")
    unknown: Literal["device", "node", "any"] | None = Field(
        default=None,
        description="Value that is known only at run time: device (differs between devices), node "
        "(the same for all devices on a node), or any.",
    )
    equal: str | None = Field(
        default=None,
        description="Placeholder for a value that is known only at run time. Devices with the "
        "same placeholder have the same value.",
    )

    @model_validator(mode="after")
    def _one_key(self) -> "LearnedValue":
        if len(self.model_dump(exclude_none=True)) != 1:
            raise ValueError(
                "must have exactly one of string, int, bool, version, strings, unknown, or equal"
            )
        return self

    def value(self, device: str) -> AttributeValue:
        """Return the value in the planner's form, for the device with that name."""
        if self.unknown is not None:
            return Unknown({"device": device, "node": _NODE, "any": ""}[self.unknown])
        if self.equal is not None:
            return Unknown(self.equal)
        if self.version is not None:
            return Version(self.version)
        if self.strings is not None:
            return tuple(self.strings)
        for each in (self.bool_, self.int_):
            if each is not None:
                return each
        return self.string or ""


class LearnedRange(StrictDocument):
    """Amounts that one consumer can request."""

    min: QuantityText = Field(description="Minimum amount.")
    max: QuantityText | None = Field(default=None, description="Maximum amount.")
    step: QuantityText | None = Field(default=None, description="Step between allowed amounts.")


class LearnedPolicy(StrictDocument):
    """Default and allowed amounts of a request for shared capacity."""

    default: QuantityText | None = Field(default=None, description="Default amount.")
    valid_values: list[QuantityText] = Field(
        default_factory=empty_list, description="Allowed amounts."
    )
    valid_range: LearnedRange | None = Field(default=None, description="Allowed range.")

    @property
    def policy(self) -> RequestPolicy:
        """The policy in the planner's form."""
        valid = self.valid_range
        return RequestPolicy(
            default=_quantity(self.default),
            valid_values=tuple(map(Quantity.parse, self.valid_values)),
            valid_range=None
            if valid is None
            else ValidRange(
                minimum=Quantity.parse(valid.min),
                maximum=_quantity(valid.max),
                step=_quantity(valid.step),
            ),
        )


class LearnedCapacity(StrictDocument):
    """A capacity of a device."""

    value: QuantityText | None = Field(
        default=None, description="Amount. Omitted if the amount differs between nodes."
    )
    request_policy: LearnedPolicy | None = Field(
        default=None, description="Rules for sharing the amount."
    )

    @property
    def capacity(self) -> DeviceCapacity:
        """The capacity in the planner's form."""
        policy = None if self.request_policy is None else self.request_policy.policy
        return DeviceCapacity(_quantity(self.value) or Unknown(), policy)


class LearnedCounters(StrictDocument):
    """Counters in one counter set: the available amounts, or the amounts that a device consumes."""

    name: str = Field(description="Name of the counter set.")
    counters: dict[str, QuantityText] = Field(description="Amounts by counter name.")

    @property
    def amounts(self) -> dict[str, Quantity]:
        """The amounts by name."""
        return {name: Quantity.parse(text) for name, text in self.counters.items()}


class LearnedDevice(StrictDocument):
    """A device that a driver publishes on each node with this machine type."""

    name: str = Field(description="Name of the device.")
    attributes: dict[str, LearnedValue] = Field(
        default_factory=empty_mapping, description="Attributes of the device."
    )
    capacity: dict[str, LearnedCapacity] = Field(
        default_factory=empty_mapping, description="Capacities of the device."
    )
    allow_multiple_allocations: bool = Field(
        default=False, description="Allow multiple claims to share the device."
    )
    consumes_counters: list[LearnedCounters] = Field(
        default_factory=empty_list,
        description="Counters that the device consumes when allocated.",
    )

    @property
    def device(self) -> Device:
        """The device in the planner's form."""
        return Device(
            name=self.name,
            attributes={name: each.value(self.name) for name, each in self.attributes.items()},
            capacity={name: each.capacity for name, each in self.capacity.items()},
            allow_multiple_allocations=self.allow_multiple_allocations,
            consumes_counters=tuple(
                CounterConsumption(counter_set=each.name, counters=each.amounts)
                for each in self.consumes_counters
            ),
        )


class LearnedClass(StrictDocument):
    """A DeviceClass for the driver's devices."""

    name: str = Field(description="Name that requests use.")
    selectors: list[str] = Field(
        default_factory=empty_list,
        description="CEL expressions. A device must satisfy all of them.",
    )


class LearnedDriver(StrictDocument):
    """A driver, with the devices that it publishes on a node of this machine type."""

    driver: str = Field(
        min_length=1, description="Driver name in ResourceSlices, for example gpu.vendor.com."
    )
    version: str = Field(
        default="", description="Version of the driver that published the devices, if known."
    )
    devices: list[LearnedDevice] = Field(description="Devices of one node.")
    shared_counters: list[LearnedCounters] = Field(
        default_factory=empty_list, description="Counter sets that partitions share."
    )
    classes: list[LearnedClass] = Field(
        default_factory=empty_list, description="DeviceClasses for the driver's devices."
    )

    def slices(self, node_name: str) -> tuple[ResourceSlice, ...]:
        """Return the slices on a node. Counters are in a slice without devices, as the API
        requires.
        """
        parts: list[dict[str, Any]] = []
        if self.shared_counters:
            sets = tuple(
                CounterSet(name=each.name, counters=each.amounts) for each in self.shared_counters
            )
            parts.append({"shared_counters": sets})
        parts.append({"devices": tuple(each.device for each in self.devices)})
        return tuple(
            ResourceSlice(
                name=f"{number:05}-{self.driver}-{node_name}",
                driver=self.driver,
                pool=node_name,
                node_name=node_name,
                slice_count=len(parts),
                **part,
            )
            for number, part in enumerate(parts)
        )

    def device_classes(self) -> tuple[DeviceClass, ...]:
        """Return its classes."""
        return tuple(device_class(each.name, *each.selectors) for each in self.classes)


class LearnedMachine(StrictDocument):
    """A machine type found on running nodes, with its size and the devices of each driver."""

    machine: str = Field(min_length=1, description="Machine type, as in the node label.")
    arch: Literal["amd64", "arm64"] = Field(default="amd64", description="CPU architecture.")
    cpu: QuantityText | None = Field(
        default=None, description="Number of CPUs on a node. Required for unknown machine types."
    )
    memory: QuantityText | None = Field(
        default=None, description="Memory on a node. Required for unknown machine types."
    )
    allocatable: dict[str, QuantityText] = Field(
        default_factory=empty_mapping,
        description="Allocatable resources of a node. Default: the planner's prediction for the cloud.",
    )
    accelerator_type: str = Field(
        default="",
        description="GKE: accelerator type that a node pool attaches, as in the "
        "cloud.google.com/gke-accelerator label.",
    )
    drivers: list[LearnedDriver] = Field(
        default_factory=empty_list, description="Drivers, with their devices."
    )

    @property
    def offered(self) -> dict[str, int]:
        """A node's resources for pods: CPU in thousandths, and other resources in their own units.

        Empty if unknown.
        """
        return {name: _amount(name, text) for name, text in self.allocatable.items()}

    def machine_type(self, cloud: str) -> Machine:
        """Return this machine type in the form of a cloud's machine type."""
        return Machine(
            cloud=cloud,
            name=self.machine,
            instance_type=self.machine,
            family=self.machine.rpartition(".")[0]
            or self.machine.rpartition("-")[0]
            or self.machine,
            arch=self.arch,
            vcpus=None if self.cpu is None else Quantity.parse(self.cpu).value,
            memory_mib=None if self.memory is None else Quantity.parse(self.memory).value // _MIB,
            accelerator=self._accelerator(),
            bare_metal=False,
            is_offered=True,
            regions=(),
            purchase=(),
            provenance=Provenance((), "observed"),
        )

    def _accelerator(self) -> Accelerator | None:
        found = (
            owner.accelerator(tuple(each.device for each in learned.devices))
            for learned in self.drivers
            if (owner := driver_of(learned.driver)) is not None
        )
        accelerator = next((each for each in found if each is not None), None)
        if accelerator is None or not self.accelerator_type:
            return accelerator
        return replace(accelerator, gke_type=self.accelerator_type)


class CatalogFile(StrictDocument):
    """Machine types that a team learned for several fleets, as printed by `pulumi-dra
    catalog add`.
    """

    catalog: list[LearnedMachine] = Field(description="Learned machine types.")


def _quantity(text: str | None) -> Quantity | None:
    return None if text is None else Quantity.parse(text)


def _amount(name: str, text: str) -> int:
    quantity = Quantity.parse(text)
    return quantity.milli_value if name == "cpu" else quantity.value
