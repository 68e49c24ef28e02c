"""Names of pools and devices, and a device as the search sees it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from msgspec import Struct

from dra_planner.model import AttributeValue, Device, DeviceCapacity, ResourceSlice


class PoolId(NamedTuple):
    """A pool is identified by its driver and its name. The name isn't unique."""

    driver: str
    pool: str

    def __str__(self) -> str:
        return f"{self.driver}/{self.pool}"


class DeviceId(NamedTuple):
    """A device is identified by driver, pool, and name."""

    driver: str
    pool: str
    device: str

    def __str__(self) -> str:
        return f"{self.driver}/{self.pool}/{self.device}"


class Candidate(Struct, frozen=True, eq=False):
    """A device with its position in search order. `bit` is `1 << index` in every set of devices of
    its node.
    """

    index: int
    bit: int
    id: DeviceId
    device: Device
    slice: ResourceSlice
    # the device's own node selection includes the node; other devices only consume counters
    reachable: bool
    shareable: bool  # can be allocated more than once

    # The values that selectors read.

    @property
    def driver(self) -> str:
        return self.id.driver

    @property
    def attributes(self) -> Mapping[str, AttributeValue]:
        return self.device.attributes

    @property
    def capacity(self) -> Mapping[str, DeviceCapacity]:
        return self.device.capacity

    @property
    def allow_multiple_allocations(self) -> bool:
        return self.device.allow_multiple_allocations


def indexes(bits: int) -> Iterator[int]:
    """Yield the positions of the devices of a set, in order."""
    while bits:
        low = bits & -bits
        yield low.bit_length() - 1
        bits ^= low
