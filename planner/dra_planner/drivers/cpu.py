"""The CPU driver of SIG Node, which publishes exclusive CPUs as capacity of a NUMA node or socket,
or individually.

Sources: kubernetes-sigs/dra-driver-cpu:pkg/device/attributes.go, pkg/driver/dra_hooks.go, and
deployment/helm@v0.2.0; for later versions pkg/device/builder.go, api/v1alpha1/types.go,
docs/user/*.md, and deployment/helm@de98098.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from dra_planner.catalog import Machine
from dra_planner.clouds import Cloud
from dra_planner.documents.models import StrictDocument, refused_by
from dra_planner.drivers.protocol.driver import (
    ConfigFault,
    Driver,
    DriverNode,
    Fault,
    PodUse,
    api_version_faults,
)
from dra_planner.drivers.protocol.node_slice import node_slice
from dra_planner.drivers.protocol.versions import chart_version_fault
from dra_planner.errors import CatalogError, UnsupportedFeature
from dra_planner.model import AttributeValue, Device, DeviceCapacity, ResourceSlice, Unknown
from dra_planner.quantity import Quantity
from dra_planner.releases import Features

CPU_DRIVER = "dra.cpu"
CPUS = "dra.cpu/cpu"
_NUMA = ("dra.net/numaNode", "dra.cpu/numaNodeID")
_STANDARD_NUMA = "resource.kubernetes.io/numaNode"
_LAST_WITHOUT_STANDARD = (0, 2, 0)
_API_VERSION = "v1alpha1"
_CPUS_OF_SLICE = 128
_RANGE = re.compile(r"[0-9]{1,9}(-[0-9]{1,9})?")


def reserved_fault(text: str) -> str:
    """Return why a text isn't a set of CPUs in Linux notation ("0-1,4"), or ""."""
    if not text:
        return ""
    if not all(map(_RANGE.fullmatch, text.split(","))):
        return f'"{text}" isn\'t a list of CPUs, such as 0-1,4'
    wrong = [
        part
        for part, (first, last) in zip(text.split(","), _ranges(text), strict=True)
        if first > last
    ]
    return f'the first CPU in the range "{wrong[0]}" is higher than the last' if wrong else ""


def _ranges(text: str) -> list[tuple[int, int]]:
    """Return the first and last CPU of each range in a set of CPUs."""
    ranges = [part.partition("-") for part in text.split(",") if part]
    return [(int(first), int(last or first)) for first, _, last in ranges]


class CpuOptions(StrictDocument):
    """Settings for the CPU driver."""

    version: Annotated[str, refused_by(chart_version_fault)] = Field(
        default="",
        description="Version of the Helm chart. Default: the version with which this package was "
        "tested.",
    )
    mode: Literal["grouped", "individual"] = Field(
        default="grouped",
        description=(
            "grouped: one device with capacity for each group of CPUs. individual: one device "
            "for each CPU."
        ),
    )
    group_by: Literal["numanode", "socket"] = Field(
        default="numanode", description="CPUs that form one device in grouped mode."
    )
    reserved: Annotated[str, refused_by(reserved_fault)] = Field(
        default="",
        alias="reservedCPUs",
        description="CPUs that the driver doesn't publish, for example 0-1.",
    )

    @property
    def is_after_0_2_0(self) -> bool:
        """Whether the release publishes the standard NUMA attribute, and its chart reads
        driverConfig. The default release, 0.2.0, doesn't.
        """
        parts = self.version.partition("-")[0].split(".")
        return bool(self.version) and tuple(map(int, parts)) > _LAST_WITHOUT_STANDARD

    @property
    def numa_attributes(self) -> tuple[str, ...]:
        """Names of the attributes that contain the NUMA node of a device."""
        return (_STANDARD_NUMA, *_NUMA) if self.is_after_0_2_0 else _NUMA

    def reserved_of(self, vcpus: int) -> frozenset[int]:
        """Return the CPUs of a node with this number of CPUs that the driver doesn't publish."""
        return frozenset(
            cpu
            for first, last in _ranges(self.reserved)
            for cpu in range(first, min(last + 1, vcpus))
        )


class CpuDriver(Driver[CpuOptions]):
    """Exclusive CPUs of any node."""

    name = "cpu"
    title = "CPU DRA driver"
    domains: ClassVar[tuple[str, ...]] = (CPU_DRIVER,)
    options = CpuOptions
    meaning = "SIG Node's DRA driver for CPUs. Set to true, or set its options."
    proposals = (("drivers.cpu=true",),)

    def serves(self, machine: Machine) -> bool:
        return machine.vcpus is not None

    def serves_accelerator(self, machine: Machine) -> bool:
        return False  # CPUs don't depend on the machine's accelerators

    def slices(self, options: CpuOptions, node: DriverNode) -> tuple[ResourceSlice, ...]:
        vcpus = node.machine.vcpus
        if vcpus is None:
            return ()
        individual = options.mode == "individual"
        devices = _individual(vcpus, options) if individual else [_group(vcpus, options)]
        return _slices_of(node.name, devices)

    def assumptions(self, options: CpuOptions, node: DriverNode) -> tuple[str, ...]:
        machine = node.machine
        return (
            (
                f"{machine.name}: the plan assumes that the kubelet's cpuManagerPolicy is "
                "none and that the container runtime supports NRI"
            ),
            f"{machine.name}: its NUMA nodes and sockets are known only at run time (`pulumi-dra "
            "catalog add` learns them from a running node)",
        )

    def faults(self, options: CpuOptions, cloud: Cloud, features: Features) -> Iterator[Fault]:
        yield from self.availability_faults(cloud)
        if options.mode == "grouped" and not features.consumable_capacity:
            yield (
                "mode",
                UnsupportedFeature(
                    "grouped mode needs the DRAConsumableCapacity feature gate, which is off in "
                    f"Kubernetes 1.{features.minor} on {cloud.title}",
                    fix="set drivers.cpu.mode to individual, or use Kubernetes 1.36 or later",
                ),
            )

    def pool_faults(
        self, options: CpuOptions, cloud: Cloud, machine: Machine, mig: str
    ) -> Iterator[Fault]:
        if machine.vcpus is not None and len(options.reserved_of(machine.vcpus)) == machine.vcpus:
            yield (
                "machine",
                CatalogError(
                    f"all {machine.vcpus} CPUs on {machine.name} are reserved",
                    fix="reserve fewer CPUs in drivers.cpu.reservedCPUs",
                ),
            )

    def chart_values(
        self, options: CpuOptions, cloud: Cloud, tolerations: Sequence[Mapping[str, str]]
    ) -> Mapping[str, Any]:
        config: dict[str, Any] = {"cpuDeviceMode": options.mode}
        if options.mode == "grouped":
            config["groupBy"] = options.group_by
        if options.reserved:
            config["reservedCPUs"] = options.reserved
        # The chart tolerates every NoSchedule taint by default.
        return {"driverConfig" if options.is_after_0_2_0 else "args": config}

    def config_faults(
        self, domain: str, parameters: Mapping[str, Any], options: CpuOptions | None
    ) -> Iterator[ConfigFault]:
        yield from api_version_faults(self.name_in_text, parameters, _API_VERSION)
        config = parameters.get("cpuConfig")
        cpus = config.get("cpuset") if isinstance(config, Mapping) else None
        if not isinstance(cpus, str) or not cpus or reserved_fault(cpus):
            yield ConfigFault(
                f"{self.name_in_text} needs a cpuset such as 2-5",
                'set cpuConfig to {cpuset: "2-5"}',
            )

    def pod_faults(self, use: PodUse, features: Features) -> Iterator[ConfigFault]:
        if len(use.containers) > 1:
            names = ", ".join(f'"{name}"' for name in use.containers)
            yield ConfigFault(
                f'containers {names} use claim "{use.claim}", but {self.name_in_text} supports only one '
                "container per claim, so the other containers fail with CreateContainerError",
                "use a separate claim for each container",
            )
        for amounts in use.capacities:
            amount = amounts.get(CPUS)
            if amount is not None and (amount.sign <= 0 or amount.milli_value % 1000):
                yield ConfigFault(
                    f'claim "{use.claim}" requests {amount} of {CPUS}, but {self.name_in_text} prepares '
                    "only whole CPUs",
                    f"request {max(1, amount.value)} of {CPUS}",
                )

    def kind(self, domain: str, attributes: Mapping[str, AttributeValue]) -> str:
        return "CPU" if "dra.cpu/cpuID" in attributes else "group of CPUs"


def _group(vcpus: int, options: CpuOptions) -> Device:
    """Return a single device for all groups, because the number of groups, and of CPUs in each
    group, is known only on the node.
    """
    by_socket = options.group_by == "socket"
    most = vcpus - len(options.reserved_of(vcpus))
    names = ("dra.cpu/socketID", "dra.cpu/numCPUs", *(() if by_socket else options.numa_attributes))
    return Device(
        name=f"cpudev{'socket' if by_socket else 'numa'}000",
        attributes={**dict.fromkeys(names, Unknown()), "dra.cpu/smtEnabled": Unknown("node")},
        capacity={CPUS: DeviceCapacity(Unknown(), at_most=Quantity.from_int(most))},
        allow_multiple_allocations=True,
        may_be_several=True,
    )


def _individual(vcpus: int, options: CpuOptions) -> list[Device]:
    shared: dict[str, AttributeValue] = {
        "dra.cpu/smtEnabled": Unknown("node"),
        "dra.cpu/coreType": "standard",
        **dict.fromkeys(("dra.cpu/socketID", *options.numa_attributes), Unknown()),
    }
    return [
        Device(
            name=f"cpudev{index:03}",
            attributes={
                **shared,
                "dra.cpu/cpuID": Unknown(f"cpu-{index}"),
                "dra.cpu/coreID": Unknown(),
                "dra.cpu/cacheL3ID": Unknown(),
            },
        )
        for index in range(vcpus - len(options.reserved_of(vcpus)))
    ]


def _slices_of(node_name: str, devices: Sequence[Device]) -> tuple[ResourceSlice, ...]:
    """Return the devices in slices of at most 128, the API's limit, in one pool."""
    parts = [
        devices[start : start + _CPUS_OF_SLICE] for start in range(0, len(devices), _CPUS_OF_SLICE)
    ]
    if len(parts) < 2:
        return node_slice(CPU_DRIVER, node_name, devices)
    return tuple(
        ResourceSlice(
            name=f"{number:05}-{CPU_DRIVER}-{node_name}",
            driver=CPU_DRIVER,
            pool=node_name,
            node_name=node_name,
            slice_count=len(parts),
            devices=tuple(part),
        )
        for number, part in enumerate(parts)
    )


DRIVER = CpuDriver()
