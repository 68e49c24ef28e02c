"""The DeviceClasses of a fleet: those that its drivers bring, and the platform's own."""

from __future__ import annotations

from collections.abc import Iterator

from dra_planner import catalog
from dra_planner.clouds import cloud
from dra_planner.fleet import Fleet
from dra_planner.model import CelSelector, DeviceClass, ObjectMeta
from dra_planner.releases import Features

GPU_DRIVER = "gpu.nvidia.com"
MIG_CLASS = "mig.nvidia.com"
_NAMES = {"gpu": "gpu.nvidia.com", "mig": MIG_CLASS, "vfio": "vfio.gpu.nvidia.com"}
_EXTENDED_RESOURCE = "nvidia.com/gpu"
_COMPUTE_DOMAIN = "compute-domain.nvidia.com"


def fleet_classes(fleet: Fleet, features: Features) -> dict[str, DeviceClass]:
    """Return the classes by name; one of the fleet's own wins over a driver's of that name."""
    classes = {each.name: each for each in (*_nvidia(fleet, features), *_dranet(fleet))}
    for own in fleet.device_classes:
        extended = own.extended_resource_name if features.extended_resource else None
        classes[own.name] = _class(own.name, *own.selectors, extended_resource=extended)
    return classes


def _nvidia(fleet: Fleet, features: Features) -> Iterator[DeviceClass]:
    """Yield the classes of the NVIDIA driver's chart.

    Source: NVIDIA/k8s-dra-driver-gpu:deployments/helm/nvidia-dra-driver-gpu/templates @v25.8.1 (deviceclass-*.yaml).
    An extended resource is dropped by control planes that do not know the field.
    """
    release = catalog.driver_release(fleet.drivers.nvidia.version)
    for kind in release.device_classes:
        named = kind == "gpu" and release.has_extended_resource and features.extended_resource
        selector = f"device.driver == '{GPU_DRIVER}' && device.attributes['{GPU_DRIVER}'].type == '{kind}'"
        yield _class(_NAMES[kind], selector, extended_resource=_EXTENDED_RESOURCE if named else None)
    if fleet.drivers.nvidia.compute_domains:
        of_driver = f"device.driver == '{_COMPUTE_DOMAIN}' && device.attributes['{_COMPUTE_DOMAIN}']"
        yield _class("compute-domain-daemon.nvidia.com", f"{of_driver}.type == 'daemon'")
        yield _class(
            "compute-domain-default-channel.nvidia.com",
            f"{of_driver}.type == 'channel' && device.attributes['{_COMPUTE_DOMAIN}'].id == 0",
        )


def _dranet(fleet: Fleet) -> Iterator[DeviceClass]:
    """Yield the classes that come with DRANET."""
    network_driver = cloud(fleet.cloud).network_driver
    if not fleet.drivers.dranet or network_driver is None:
        return
    yield from (_class(name, selector) for name, selector in network_driver.classes)


def _class(name: str, *selectors: str, extended_resource: str | None = None) -> DeviceClass:
    return DeviceClass(
        meta=ObjectMeta(name=name),
        selectors=tuple(CelSelector(text) for text in selectors),
        extended_resource_name=extended_resource,
    )
