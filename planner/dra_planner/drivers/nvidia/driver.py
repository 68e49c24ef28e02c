"""The NVIDIA DRA driver as a member of the protocol: GPUs, their partitions, and ComputeDomains."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final

from msgspec.structs import replace

from dra_planner.catalog import Accelerator, Machine
from dra_planner.clouds import Cloud
from dra_planner.drivers.nvidia.assumptions import slice_assumptions
from dra_planner.drivers.nvidia.classes import (
    EXTENDED_RESOURCE,
    GPU_CLASS,
    MIG_CLASS,
    chart_classes,
)
from dra_planner.drivers.nvidia.cloud_support import gate_faults_on, mig_faults_on, no_partitions_on
from dra_planner.drivers.nvidia.compute_domains import COMPUTE_DOMAIN_DRIVER
from dra_planner.drivers.nvidia.device_plugin import NvidiaDevicePlugin
from dra_planner.drivers.nvidia.devices import GPU_DRIVER
from dra_planner.drivers.nvidia.gpus import gpus as every_gpu
from dra_planner.drivers.nvidia.mig import check_mig_layout
from dra_planner.drivers.nvidia.opaque_config import config_faults
from dra_planner.drivers.nvidia.options import NvidiaDriver
from dra_planner.drivers.nvidia.releases import DriverRelease, driver_release, require_installable
from dra_planner.drivers.nvidia.renamed_attributes import RENAMED
from dra_planner.drivers.nvidia.settings import driver_faults, machine_faults
from dra_planner.drivers.nvidia.slices import predict_slices
from dra_planner.drivers.protocol.device_plugin import ClaimSupport
from dra_planner.drivers.protocol.driver import ConfigFault, Driver, DriverNode, Fault
from dra_planner.errors import PlannerError
from dra_planner.model import AttributeValue, Device, DeviceClass, ResourceSlice
from dra_planner.releases import Features

GPU: Final = "GPU"
MIG_SLICE: Final = "MIG slice"
_KINDS: Final = {"gpu": GPU, "mig": MIG_SLICE, "vfio": "GPU for passthrough"}
_IN_PARTITION_NAMES: Final = "-mig-"  # gpu-0-mig-19-0-1 is a MIG device of gpu-0


class Nvidia(Driver[NvidiaDriver]):
    """The NVIDIA DRA driver: one chart with two kubelet plugins."""

    name = "nvidia"
    title = "NVIDIA DRA driver"
    domains = (GPU_DRIVER, COMPUTE_DOMAIN_DRIVER)
    options = NvidiaDriver
    meaning = "The NVIDIA DRA driver."
    device_plugin = NvidiaDevicePlugin()
    plugin_resources: ClassVar[Mapping[str, str]] = {EXTENDED_RESOURCE: GPU_CLASS}
    board_kind = GPU
    renamed: ClassVar[Mapping[tuple[str, str], str]] = RENAMED
    uncounted = frozenset({COMPUTE_DOMAIN_DRIVER})
    has_mig = True
    # kubernetes-sigs/dra-driver-nvidia-gpu:cmd/gpu-kubelet-plugin/device_state.go@v0.4.1
    # (prepareDevices)
    compares_whole_request_names = True
    proposals = (
        ("drivers.nvidia.featureGates.DynamicMIG=true",),
        (
            "drivers.nvidia.featureGates.ConsumableShares=true",
            "drivers.nvidia.consumableShares=memory",
        ),
        (
            "drivers.nvidia.featureGates.ConsumableShares=true",
            "drivers.nvidia.consumableShares=4",
        ),
        ("drivers.nvidia.featureGates.PassthroughSupport=true",),
        ("drivers.nvidia.computeDomains=true",),
    )

    def serves(self, machine: Machine) -> bool:
        return machine.accelerator is not None and machine.accelerator.gpu is not None

    def claim_support(self, options: NvidiaDriver, cloud: Cloud) -> ClaimSupport:
        release = _known_release(options.version)
        return ClaimSupport(
            shares=str(options.consumable_shares),
            unsupported_gates=cloud.unsupported_gates,
            no_partitions=no_partitions_on(cloud, release, options.settings),
        )

    def slices(self, options: NvidiaDriver, node: DriverNode) -> tuple[ResourceSlice, ...]:
        return predict_slices(
            node.machine,
            driver_release(options.version),
            node_name=node.name,
            features=node.features,
            mig=node.mig,
            settings=options.settings,
        )

    def assumptions(self, options: NvidiaDriver, node: DriverNode) -> tuple[str, ...]:
        release = driver_release(options.version)
        found = slice_assumptions(node.machine, release, mig=node.mig, settings=options.settings)
        if not options.is_installed_elsewhere:
            return found
        sentence = (
            f"{node.machine.name}: a GPUCluster managed by the GPU Operator runs driver "
            f"{release.version}"
        )
        return (*found, f"{sentence}, and the operator's DeviceClass doesn't serve nvidia.com/gpu")

    def classes(
        self, options: NvidiaDriver, cloud: Cloud, features: Features
    ) -> Iterator[DeviceClass]:
        release = driver_release(options.version)
        found = chart_classes(release, features, compute_domains=options.compute_domains)
        if not options.is_installed_elsewhere:
            yield from found
            return
        # NVIDIA/gpu-operator:manifests/state-dra-driver/0400_deviceclass-gpu.yaml@a22dbf6
        yield from (replace(each, extended_resource_name=None) for each in found)

    def divides_claim(self, parameters: Mapping[str, Any]) -> bool:
        return isinstance(parameters.get("sharing"), Mapping)

    def class_fault(self, name: str) -> str:
        return f"the driver's chart already creates the DeviceClass {name}; use another name"

    def faults(self, options: NvidiaDriver, cloud: Cloud, features: Features) -> Iterator[Fault]:
        try:
            release = driver_release(options.version)
        except PlannerError as error:
            yield "version", error
            return
        try:
            require_installable(release)
        except PlannerError as error:
            yield "version", error
        yield from driver_faults(release, options.settings, features)
        yield from (
            ("featureGates", error) for error in gate_faults_on(cloud, release, options.settings)
        )

    def pool_faults(
        self, options: NvidiaDriver, cloud: Cloud, machine: Machine, mig: str
    ) -> Iterator[Fault]:
        release = _known_release(options.version)
        errors: list[PlannerError] = []
        if release is not None:
            errors += machine_faults(machine, release, options.settings, mig)
            errors += mig_faults_on(cloud, release, options.settings, mig)
        yield from (("mig", error) for error in errors)
        if not errors:
            try:
                check_mig_layout(machine, mig)
            except PlannerError as error:
                yield "mig", error

    def config_faults(
        self, domain: str, parameters: Mapping[str, Any], options: NvidiaDriver | None
    ) -> Iterator[ConfigFault]:
        release = None if options is None else _known_release(options.version)
        settings = None if options is None else options.settings
        yield from config_faults(domain, parameters, release, settings)

    def has_racks(self, options: NvidiaDriver) -> bool:
        return options.compute_domains

    def accelerator(self, devices: Sequence[Device]) -> Accelerator | None:
        gpus = [each for each in devices if each.attributes.get("type") == "gpu"]
        if not gpus:
            return None
        product = str(gpus[0].attributes.get("productName", GPU))
        known = next((each.id for each in every_gpu() if each.product_name == product), product)
        return Accelerator(
            kind="gpu",
            vendor="nvidia",
            model=product,
            count=len(gpus),
            gpu=known,
            fraction=None,
            listed_memory_mib=None,
            nominal_memory_gb=None,
            gke_type=None,
        )

    def kind(self, domain: str, attributes: Mapping[str, AttributeValue]) -> str:
        kind = attributes.get("type", "") if domain == GPU_DRIVER else ""
        return _KINDS.get(str(kind), super().kind(domain, attributes))

    def board(self, device: Device) -> str:
        board, cut, _ = device.name.partition(_IN_PARTITION_NAMES)
        return board if cut else ""

    def no_machine(self, region: str, classes: Collection[str]) -> str:
        if not {GPU_CLASS, MIG_CLASS}.issuperset(classes):
            return ""
        return f"no machine type with NVIDIA GPUs in {region} fits the pod, with or without MIG"


def _known_release(version: str) -> DriverRelease | None:
    try:
        return driver_release(version)
    except PlannerError:
        return None


DRIVER = Nvidia()
