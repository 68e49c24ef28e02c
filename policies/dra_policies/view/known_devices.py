"""One device of every GPU model in the tables, in the form that a node publishes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace

from dra_planner import catalog, clouds
from dra_planner.drivers import nvidia
from dra_planner.drivers.nvidia import predict_slices
from dra_planner.errors import PlannerError
from dra_planner.model import AttributeValue, DeviceCapacity
from dra_planner.quantity import Quantity
from dra_planner.records import equality
from dra_planner.releases import Features

GPU_DRIVER = nvidia.GPU_DRIVER
MEMORY = "memory"


@equality(unhashed=("attributes", "capacity"))
class KnownDevice(Struct, frozen=True, kw_only=True):
    """A device with its driver, as a selector sees it. `product` is its common name."""

    product: str
    driver: str = GPU_DRIVER
    attributes: Mapping[str, AttributeValue]
    capacity: Mapping[str, DeviceCapacity]
    allow_multiple_allocations: bool = False

    @property
    def memory(self) -> Quantity | None:
        """The memory that the driver publishes, or None if it isn't known."""
        found = self.capacity.get(MEMORY)
        return found.value if found is not None and isinstance(found.value, Quantity) else None

    def with_memory(self, memory: Quantity) -> KnownDevice:
        """Return the same device with a different amount of memory."""
        return replace(self, capacity={**self.capacity, MEMORY: DeviceCapacity(memory)})


@lru_cache(maxsize=4)
def known_devices(features: Features) -> tuple[KnownDevice, ...]:
    """Return one full GPU of each model in a cloud's machine types, by product name."""
    driver = nvidia.newest_driver_release()
    found: dict[str, KnownDevice] = {}
    for cloud in clouds.names():
        for machine in catalog.machines(cloud):
            accelerator = machine.accelerator
            if (
                accelerator is None
                or accelerator.gpu is None
                or accelerator.fraction
                or accelerator.gpu in found
            ):
                continue
            try:
                slices = predict_slices(machine, driver, node_name="node", features=features)
            except PlannerError:
                continue
            product = nvidia.gpu(accelerator.gpu).product_name or accelerator.gpu
            for device in (
                device
                for part in slices
                if part.driver == GPU_DRIVER
                for device in part.devices[:1]
            ):
                found[accelerator.gpu] = KnownDevice(
                    product=product, attributes=device.attributes, capacity=device.capacity
                )
    return tuple(sorted(found.values(), key=lambda device: device.product))
