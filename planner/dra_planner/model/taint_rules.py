"""DeviceTaintRules: taints that an administrator adds to devices of any driver."""

from __future__ import annotations

from msgspec import Struct

from dra_planner.model.objects import ObjectMeta
from dra_planner.model.slices import Device, DeviceTaint, ResourceSlice


class DeviceTaintRule(Struct, frozen=True, kw_only=True):
    """One taint for the devices that match driver, pool, and device. None matches any value."""

    meta: ObjectMeta
    taint: DeviceTaint
    driver: str | None = None
    pool: str | None = None
    device: str | None = None

    def selects(self, part: ResourceSlice, device: Device) -> bool:
        """Return whether the rule taints a device of a slice.

        Source: kubernetes/dynamic-resource-allocation:resourceslice/tracker/tracker.go@v0.37.0.
        """
        return (
            self.driver in (None, part.driver)
            and self.pool in (None, part.pool)
            and self.device in (None, device.name)
        )
