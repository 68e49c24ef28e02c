"""ResourceSlices and their devices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from dra_planner.errors import NOWHERE, Place
from dra_planner.model.objects import NodeSelector
from dra_planner.quantity import Quantity


@dataclass(frozen=True, slots=True)
class Version:
    """A semantic version as an attribute value, compared as text like in the allocator."""

    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Unknown:
    """A value that exists but is only known at run time.

    Devices of one node with the same `group` have equal values, and different groups of one node
    differ (GPUs below one PCIe root). Without a group, nothing is known about the value. `like` is
    an example of the value's form or type if it's known, because four numbers are never a version,
    and a version is never a text.
    """

    group: str = ""
    like: str | Version = ""


Scalar = bool | int | str | Version
AttributeValue = Scalar | tuple[Scalar, ...] | Unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidRange:
    """Amounts that a consumer can request: from `minimum` in `step`s up to `maximum`."""

    minimum: Quantity
    maximum: Quantity | None = None
    step: Quantity | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestPolicy:
    """Defaults and rounding of a request for shared capacity."""

    default: Quantity | None = None
    valid_values: tuple[Quantity, ...] = ()
    valid_range: ValidRange | None = None


@dataclass(frozen=True, slots=True)
class DeviceCapacity:
    """An amount of a device, and the policy for sharing it.

    The value is `Unknown` for a predicted device whose amount isn't in the tables. `at_most` is the
    amount of the whole machine if it's known.
    """

    value: Quantity | Unknown
    request_policy: RequestPolicy | None = None
    at_most: Quantity | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CounterConsumption:
    """The amounts that a device consumes from one counter set of its pool."""

    counter_set: str
    counters: Mapping[str, Quantity] = field(hash=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class CounterSet:
    """Counters that the partitions of one piece of hardware share."""

    name: str
    counters: Mapping[str, Quantity] = field(hash=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceTaint:
    """A reason to keep claims off a device unless they tolerate it."""

    key: str
    value: str = ""
    effect: Literal["NoSchedule", "NoExecute", "None"] | str = "NoSchedule"
    rule: str = ""  # the DeviceTaintRule that adds it; "" for a taint that the driver publishes


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """One allocatable device. Names without a domain belong to the driver's own domain.

    A predicted device with `may_be_several` represents one or more devices, whose number is only
    known at run time.
    """

    name: str
    attributes: Mapping[str, AttributeValue] = field(default_factory=dict, hash=False)
    capacity: Mapping[str, DeviceCapacity] = field(default_factory=dict, hash=False)
    allow_multiple_allocations: bool = False
    taints: tuple[DeviceTaint, ...] = ()
    consumes_counters: tuple[CounterConsumption, ...] = ()
    node_name: str | None = None
    node_selector: NodeSelector | None = None
    all_nodes: bool = False
    binds_to_node: bool = False
    binding_conditions: tuple[str, ...] = ()
    binding_failure_conditions: tuple[str, ...] = ()
    may_be_several: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceSlice:
    """Part of a pool of devices that one driver publishes."""

    name: str
    driver: str
    pool: str
    generation: int = 1
    slice_count: int = 1
    node_name: str | None = None
    node_selector: NodeSelector | None = None
    all_nodes: bool = False
    per_device_node_selection: bool = False
    devices: tuple[Device, ...] = ()
    shared_counters: tuple[CounterSet, ...] = ()
    place: Place = field(default=NOWHERE, compare=False)
