"""ResourceSlices and their devices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from dra_planner.errors import NOWHERE, Place
from dra_planner.model.objects import NodeSelector
from dra_planner.quantity import Quantity
from dra_planner.records import equality


class Version(Struct, frozen=True):
    """A semantic version as an attribute value, compared as text like in the allocator."""

    text: str

    def __str__(self) -> str:
        return self.text


class Unknown(Struct, frozen=True):
    """A value that exists, but is known only at run time.

    Devices of one node with the same `group` have equal values, and different groups of one node
    differ (GPUs below one PCIe root). Without a group, the value is completely unknown. `like` is
    an example of the value's form or type if it's known, because four numbers are never a version,
    and a version is never a text.
    """

    group: str = ""
    like: str | Version = ""


Scalar = bool | int | str | Version
AttributeValue = Scalar | tuple[Scalar, ...] | Unknown


class ValidRange(Struct, frozen=True, kw_only=True):
    """Amounts that a consumer can request, from `minimum` to `maximum` in steps of `step`."""

    minimum: Quantity
    maximum: Quantity | None = None
    step: Quantity | None = None


class RequestPolicy(Struct, frozen=True, kw_only=True):
    """Defaults and rounding of a request for shared capacity."""

    default: Quantity | None = None
    valid_values: tuple[Quantity, ...] = ()
    valid_range: ValidRange | None = None


class DeviceCapacity(Struct, frozen=True):
    """An amount of a device, and the policy for sharing it.

    The value is `Unknown` for a predicted device whose amount isn't in the tables. `at_most` is the
    amount of the whole machine, if known.
    """

    value: Quantity | Unknown
    request_policy: RequestPolicy | None = None
    at_most: Quantity | None = None


@equality(unhashed=("counters",))
class CounterConsumption(Struct, frozen=True, kw_only=True):
    """The amounts that a device consumes from one counter set of its pool."""

    counter_set: str
    counters: Mapping[str, Quantity]


@equality(unhashed=("counters",))
class CounterSet(Struct, frozen=True, kw_only=True):
    """Counters that the partitions of one piece of hardware share."""

    name: str
    counters: Mapping[str, Quantity]


class DeviceTaint(Struct, frozen=True, kw_only=True):
    """A reason to keep claims off a device unless they tolerate it."""

    key: str
    value: str = ""
    effect: Literal["NoSchedule", "NoExecute", "None"] | str = "NoSchedule"
    # name of the DeviceTaintRule that adds the taint, or "" for a taint that the driver publishes
    rule: str = ""


@equality(unhashed=("attributes", "capacity"))
class Device(Struct, frozen=True, kw_only=True):
    """One allocatable device. Names without a domain belong to the driver's own domain.

    A predicted device with `may_be_several` represents one or more devices, whose number is known
    only at run time.
    """

    name: str
    attributes: Mapping[str, AttributeValue] = {}
    capacity: Mapping[str, DeviceCapacity] = {}
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


@equality(ignored=("place",))
class ResourceSlice(Struct, frozen=True, kw_only=True):
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
    place: Place = NOWHERE
