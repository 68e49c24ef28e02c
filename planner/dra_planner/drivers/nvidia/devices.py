"""The devices that the NVIDIA DRA driver publishes for a node's GPUs.

Source:
kubernetes-sigs/dra-driver-nvidia-gpu:cmd/gpu-kubelet-plugin/{deviceinfo,mig,partitions,driver,
consumable_shares}.go at v25.3.2, v25.8.1, v25.12.0, v0.4.1 and 95932046.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.catalog import GpuPlace, Machine, gpu_places
from dra_planner.drivers.nvidia.gpus import Gpu, MigProfile, gpu
from dra_planner.drivers.nvidia.mig import MigInstance, mig_layout
from dra_planner.drivers.nvidia.releases import DriverRelease
from dra_planner.drivers.nvidia.settings import PublishingSettings
from dra_planner.model import (
    AttributeValue,
    Device,
    DeviceCapacity,
    RequestPolicy,
    Unknown,
    ValidRange,
    Version,
)
from dra_planner.quantity import Quantity

GPU_DRIVER = "gpu.nvidia.com"
NUMA_NODE = "resource.kubernetes.io/numaNode"
ENGINES = {
    "multiprocessors": "multiprocessors",
    "copy_engines": "copyEngines",
    "decoders": "decoders",
    "encoders": "encoders",
    "jpeg_engines": "jpegEngines",
    "ofa_engines": "ofaEngines",
}
FABRIC = "FabricManagerPartitioning"
_ANY_VERSION = Version("0.0.0")


class Board(Struct, frozen=True):
    """One GPU of a node: its minor number, its model, and its location."""

    minor: int
    model: Gpu
    place: GpuPlace
    is_share: bool  # the node sees only a share of the GPU, whose name and memory are unknown

    @property
    def name(self) -> str:
        return f"gpu-{self.minor}"


def boards(machine: Machine) -> tuple[Board, ...]:
    """Return the NVIDIA GPUs of a machine type in device order.

    The result is empty if it doesn't have any.
    """
    if machine.accelerator is None or machine.accelerator.gpu is None:
        return ()
    model = gpu(machine.accelerator.gpu)
    is_share = machine.accelerator.fraction is not None and not model.is_virtual
    return tuple(
        Board(minor, model, place, is_share) for minor, place in enumerate(gpu_places(machine))
    )


def predict_devices(
    machine: Machine, driver: DriverRelease, mig: str, settings: PublishingSettings
) -> list[Device]:
    """Return the devices of a node whose MIG devices (if any) were created beforehand. Whole GPUs
    come first, sorted by minor number.
    """
    devices: list[Device] = []
    for board, geometry in zip(boards(machine), mig_layout(machine, mig), strict=True):
        if geometry is None:
            devices.append(whole_gpu(board, driver))
        else:
            devices.extend(_instances(board, driver, geometry))
    devices = as_set(devices, driver, settings)
    if settings.has("PassthroughSupport", driver) and driver.generation != "25.12":
        devices.extend(_passthrough(board, driver) for board in boards(machine))
    fabric = driver.behind_gate(FABRIC) if settings.has(FABRIC, driver) else ()
    return [_with_fabric(device, fabric) for device in devices] if fabric else devices


def as_set(
    devices: Sequence[Device], driver: DriverRelease, settings: PublishingSettings
) -> list[Device]:
    """Return GPUs and MIG devices after applying the settings that affect each device
    separately.
    """
    shares = settings.shares(driver)
    if settings.has("DRAListTypeAttributes", driver):
        devices = [_with_lists(device) for device in devices]
    return [_shared(device, shares) for device in devices] if shares else list(devices)


def whole_gpu(board: Board, driver: DriverRelease) -> Device:
    """Return a GPU as one device."""
    model = board.model
    known: dict[str, AttributeValue] = {
        "type": "gpu",
        "minor": board.minor,
        **_model_attributes(board),
    }
    memory = None if board.is_share else board.place.memory_mib or model.memory_mib
    return Device(
        name=board.name,
        attributes=attributes(board, driver, "gpu", board.name, known),
        capacity={"memory": mebibytes(memory)},
    )


def partition(board: Board, driver: DriverRelease, instance: MigInstance) -> Device:
    """Return a MIG instance as a device, without facts that only dynamic instances publish."""
    profile = instance.profile
    known: dict[str, AttributeValue] = {
        "type": "mig",
        "profile": profile.name,
        **_model_attributes(board),
    }
    name = _partition_name(board, driver, instance)
    return Device(
        name=name,
        attributes=attributes(board, driver, "mig", name, known),
        capacity=partition_capacity(profile),
    )


def partition_capacity(profile: MigProfile) -> dict[str, DeviceCapacity]:
    """Return the resources of a profile's instance: memory in bytes, and engines.

    Amounts without a source are Unknown.
    """
    capacity = {"memory": mebibytes(profile.memory_mib)}
    for column, name in ENGINES.items():
        capacity[name] = count(getattr(profile, column))
    return capacity


def attributes(
    board: Board, driver: DriverRelease, kind: str, name: str, known: Mapping[str, AttributeValue]
) -> dict[str, AttributeValue]:
    """Return the attributes that a release publishes on a device of this kind and name, in the
    driver's order.
    """
    values: dict[str, AttributeValue] = {}
    for attribute in driver.attributes_of(kind):
        match attribute.rule:
            case "fixed" | "model" | "minor":
                values[attribute.name] = known.get(attribute.name, Unknown("model"))
            case "node-wide":
                values[attribute.name] = Unknown("node")
            case "device":
                values[attribute.name] = Unknown(name)
            case "parent":
                values[attribute.name] = Unknown(board.name)
            case "topology":
                values[attribute.name] = _place(attribute.name, board.place)
            case "node":
                values[attribute.name] = Unknown()
        value = values[attribute.name]
        if attribute.type == "version" and isinstance(value, Unknown):
            values[attribute.name] = replace(value, like=_ANY_VERSION)
    return values


def _shared(device: Device, shares: str) -> Device:
    """Return the device in the form that several claims can share: by memory, without a limit, or
    in a fixed number of shares.
    """
    memory = device.capacity["memory"].value
    capacity = dict(device.capacity)
    step = Quantity.parse("1Mi")
    zero = Quantity.from_int(0)
    if isinstance(memory, Quantity):
        least, default = (step, memory) if shares == "memory" else (zero, zero)
        policy = RequestPolicy(
            default=default, valid_range=ValidRange(minimum=least, maximum=memory, step=step)
        )
        capacity["memory"] = DeviceCapacity(memory, policy)
    if shares not in ("memory", "unlimited"):
        one, all_of_them = Quantity.from_int(1), Quantity.parse(shares)
        policy = RequestPolicy(
            default=one, valid_range=ValidRange(minimum=one, maximum=all_of_them, step=one)
        )
        capacity["shares"] = DeviceCapacity(all_of_them, policy)
    return replace(device, capacity=capacity, allow_multiple_allocations=True)


def mebibytes(number: int | None) -> DeviceCapacity:
    """Return an amount in MiB as a capacity. None gives an unknown capacity."""
    return DeviceCapacity(Unknown() if number is None else Quantity.parse(canonical_memory(number)))


def count(number: int | None) -> DeviceCapacity:
    """Return a count as a capacity. None gives an unknown capacity."""
    return DeviceCapacity(Unknown() if number is None else Quantity.from_int(number))


def canonical_memory(mebi: int) -> str:
    """Return an amount in MiB as a Kubernetes quantity: 81920 is 80Gi."""
    suffixes = ("Mi", "Gi", "Ti", "Pi")
    power = 0
    while mebi and mebi % 1024 == 0 and power < len(suffixes) - 1:
        mebi, power = mebi // 1024, power + 1
    return f"{mebi}{suffixes[power]}"


def _instances(
    board: Board, driver: DriverRelease, geometry: Iterable[MigInstance]
) -> list[Device]:
    devices: list[Device] = []
    names: set[str] = set()
    for instance in geometry:
        device = partition(board, driver, instance)
        capacity = dict(device.capacity)
        if instance.start is not None:
            for index in range(instance.start, instance.start + (instance.profile.size or 0)):
                capacity[f"memorySlice{index}"] = count(1)
        name = device.name if device.name not in names else f"{device.name}-{len(names)}"
        names.add(name)
        devices.append(replace(device, name=name, capacity=capacity))
    return devices


def _with_fabric(device: Device, names: Iterable[str]) -> Device:
    """Return a whole GPU with the attributes from Fabric Manager, which are known only at run time.
    Other devices don't change.
    """
    unknown: dict[str, AttributeValue] = {name: Unknown() for name in names}
    is_part = device.attributes.get("type") == "mig"
    return device if is_part else replace(device, attributes={**device.attributes, **unknown})


def _with_lists(device: Device) -> Device:
    numa = device.attributes.get(NUMA_NODE)
    lists: dict[str, AttributeValue] = {NUMA_NODE: (numa,)} if isinstance(numa, int) else {}
    return replace(device, attributes={**device.attributes, **lists})


def _passthrough(board: Board, driver: DriverRelease) -> Device:
    known: dict[str, AttributeValue] = {"type": "vfio", "vendorID": "0x10de"}
    name = f"gpu-vfio-{board.minor}"
    return Device(
        name=name,
        attributes=attributes(board, driver, "vfio", name, known),
        capacity={"addressableMemory": mebibytes(None)},
    )


def _model_attributes(board: Board) -> dict[str, AttributeValue]:
    model = board.model
    known: dict[str, AttributeValue] = {}
    if model.architecture is not None:
        known["architecture"] = model.architecture
    if model.cuda_compute_capability is not None:
        known["cudaComputeCapability"] = Version(model.cuda_compute_capability)
    if model.product_name is not None and not board.is_share:
        known["productName"] = model.product_name
    if model.brand is not None and not board.is_share:
        known["brand"] = model.brand
    return known


def _place(name: str, place: GpuPlace) -> AttributeValue:
    if name.endswith("pcieRoot"):
        return Unknown(place.pcie_root or "")
    return Unknown() if place.numa_node is None else place.numa_node


def _partition_name(board: Board, driver: DriverRelease, instance: MigInstance) -> str:
    """Return the name of a MIG instance in this driver version. An unknown part of the name is
    written as x.
    """
    profile = instance.profile
    gi = "x" if profile.gi_profile_id is None else str(profile.gi_profile_id)
    start = "x" if instance.start is None else str(instance.start)
    if driver.mig_names == "id-start-size":
        return f"{board.name}-mig-{gi}-{start}-{profile.size or 'x'}"
    text = re.sub(r"[^a-z0-9]", "-", profile.name.replace(".", "").lower())
    return f"{board.name}-mig-{text}-{gi}-{start}"
