"""The DeviceClasses of a fleet: those that the driver's chart brings, and the platform's own."""

from __future__ import annotations

from dra_planner import catalog
from dra_planner.fleet import Fleet
from dra_planner.model import CelSelector, DeviceClass, ObjectMeta
from dra_planner.releases import Features

GPU_DRIVER = "gpu.nvidia.com"
_NAMES = {"gpu": "gpu.nvidia.com", "mig": "mig.nvidia.com", "vfio": "vfio.gpu.nvidia.com"}
_EXTENDED_RESOURCE = "nvidia.com/gpu"


def fleet_classes(fleet: Fleet, features: Features) -> dict[str, DeviceClass]:
    """Return the classes by name; one of the fleet's own wins over the driver's of that name.

    Source of the driver's: NVIDIA/k8s-dra-driver-gpu:deployments/helm/nvidia-dra-driver-gpu/templates @v25.8.1
    (deviceclass-*.yaml). An extended resource is dropped by control planes that do not know the field.
    """
    release = catalog.driver_release(fleet.drivers.nvidia.version)
    classes: dict[str, DeviceClass] = {}
    for kind in release.device_classes:
        named = kind == "gpu" and release.has_extended_resource and features.extended_resource
        classes[_NAMES[kind]] = DeviceClass(
            meta=ObjectMeta(name=_NAMES[kind]),
            selectors=(
                CelSelector(
                    f"device.driver == '{GPU_DRIVER}' && device.attributes['{GPU_DRIVER}'].type == '{kind}'"
                ),
            ),
            extended_resource_name=_EXTENDED_RESOURCE if named else None,
        )
    for own in fleet.device_classes:
        classes[own.name] = DeviceClass(
            meta=ObjectMeta(name=own.name),
            selectors=tuple(CelSelector(text) for text in own.selectors),
            extended_resource_name=own.extended_resource_name if features.extended_resource else None,
        )
    return classes
